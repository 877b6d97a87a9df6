/** Pages that people have open: rooms of visitors who wait, and control rooms of staff, each with its stream. */
import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http"

export interface PagesOptions {
  readonly consumerPort: number
  readonly adminPort: number
  readonly experienceId: string
  readonly queueId: string
  readonly secretKey: string
  readonly rooms: number
  readonly controlRooms: number
}

export interface Pages {
  /** Streams that the server has ended. */
  lost(): number
  close(): void
}

interface Call {
  readonly port: number
  readonly method?: "GET" | "POST"
  readonly path: string
  readonly headers: OutgoingHttpHeaders
  readonly form?: { readonly [name: string]: string }
}

const openedAtOnce = 32
const ownOrigin = { "sec-fetch-site": "same-origin" }

/** Opens the pages. Each visitor has an address of its own: the server must trust the proxy at loopback. */
export async function openPages(options: PagesOptions): Promise<Pages> {
  const agent = new Agent({ keepAlive: true, maxSockets: openedAtOnce })
  const streams: Array<IncomingMessage> = []
  let lost = 0
  let isClosed = false
  const follow = async (call: Call) => {
    const stream = await send(call, false)
    stream.on("close", () => (isClosed ? undefined : lost++)).on("error", () => {})
    await new Promise<void>((told) => stream.once("data", () => told()))
    stream.resume()
    streams.push(stream)
  }
  const cookie = await signIn(options, agent)
  await inTurns(options.rooms, (number) => openRoom(options, number, agent, follow))
  await inTurns(options.controlRooms, () => openControlRoom(options, cookie, agent, follow))
  agent.destroy()
  return {
    lost: () => lost,
    close: () => {
      isClosed = true
      for (const stream of streams) stream.destroy()
    }
  }
}

/** Enters the queue as a new visitor, and follows its place. */
async function openRoom(
  { consumerPort: port, experienceId, queueId }: PagesOptions,
  number: number,
  agent: Agent,
  follow: (call: Call) => Promise<void>
): Promise<void> {
  const room = `/e/${experienceId}`
  const headers = {
    "x-forwarded-for": `10.0.${number >> 8}.${number & 255}`,
    "x-forwarded-proto": "https",
    ...ownOrigin
  }
  const part = { ...headers, accept: "text/html;part=room" }
  const cookie = cookiesOf(
    await read({ port, method: "POST", path: `${room}/enter`, headers: part, form: { at: queueId } }, agent)
  )
  await follow({ port, path: `${room}/live?of=queue.${queueId}`, headers: { ...headers, cookie } })
}

/** Reads the tab Now, and follows its events. */
async function openControlRoom(
  { adminPort: port, experienceId }: PagesOptions,
  cookie: string,
  agent: Agent,
  follow: (call: Call) => Promise<void>
): Promise<void> {
  const path = `/dashboard/experiences/${experienceId}`
  await read({ port, path, headers: { cookie } }, agent)
  await follow({ port, path: `${path}/events`, headers: { cookie } })
}

async function signIn({ adminPort: port, secretKey }: PagesOptions, agent: Agent): Promise<string> {
  const form = { key: secretKey }
  return cookiesOf(
    await read({ port, method: "POST", path: "/dashboard/sign-in", headers: ownOrigin, form }, agent, 303)
  )
}

const cookiesOf = ({ headers }: IncomingMessage): string =>
  (headers["set-cookie"] ?? []).map((line) => line.split(";")[0]!).join("; ")

/** Sends a request and skips the body of its answer. Fails if the status is another one. */
async function read(call: Call, agent: Agent, status = 200): Promise<IncomingMessage> {
  const answer = await send(call, agent, status)
  answer.resume()
  await new Promise((ended) => answer.once("close", ended))
  return answer
}

function send(call: Call, agent: Agent | false, status = 200): Promise<IncomingMessage> {
  const { port, method = "GET", path, headers, form } = call
  const body = form && new URLSearchParams(form).toString()
  const typed = body !== undefined && {
    "content-type": "application/x-www-form-urlencoded",
    "content-length": Buffer.byteLength(body)
  }
  return new Promise((answered, failed) => {
    const sent = request(
      { host: "127.0.0.1", port, agent, method, path, headers: { ...headers, ...typed } },
      (answer) => {
        if (answer.statusCode === status) answered(answer)
        else failed(new Error(`${method} ${path} answered ${answer.statusCode}`))
      }
    )
    sent.once("error", failed)
    sent.end(body)
  })
}

/** Does something for each number, several at a time. */
async function inTurns(count: number, act: (number: number) => Promise<void>): Promise<void> {
  let next = 0
  const work = async () => {
    while (next < count) await act(next++)
  }
  await Promise.all(Array.from({ length: openedAtOnce }, work))
}
