/** Requests on the wire: the path and the body's bytes unchanged, valid or not. */
import { Effect } from "effect"
import { Agent, type IncomingMessage, request } from "node:http"
import type { Answer } from "../support/usherFixture.ts"

export interface Wire {
  readonly method: string
  readonly path: string
  readonly headers: { readonly [name: string]: string }
  readonly body?: string | Buffer
}

/** The longest wait for the first event of a stream, which may have none. */
const silenceMillisMax = 300
const answerMillisMax = 10_000

/** Sends the request. A response with status 0 contains the reason that none came. */
export const send = (agent: Agent, url: string, { method, path, headers, body }: Wire): Effect.Effect<Answer> =>
  Effect.callback((resume) => {
    const { hostname, port } = new URL(url)
    const none = (reason: string) => resume(Effect.succeed({ status: 0, headers: {}, text: reason, body: undefined }))
    const outgoing = request({
      hostname,
      port,
      method,
      path,
      agent,
      headers: { ...headers, ...(body !== undefined && { "content-length": `${Buffer.byteLength(body)}` }) }
    })
    outgoing.setTimeout(answerMillisMax, () => outgoing.destroy(new Error("no answer in time")))
    outgoing.on("error", (error) => none(error.message))
    outgoing.on("response", (response) =>
      read(response, (text) => resume(Effect.succeed({ ...headOf(response), text, body: jsonOf(response, text) })))
    )
    outgoing.end(body)
  })

/** Reads the complete text, or a stream up to its first event. */
function read(response: IncomingMessage, done: (text: string) => void): void {
  let text = ""
  const isStream = response.headers["content-type"] === "text/event-stream"
  const finish = () => {
    clearTimeout(silence)
    done(text)
  }
  const cut = () => {
    finish()
    response.destroy()
  }
  const silence = isStream ? setTimeout(cut, silenceMillisMax) : undefined
  response.setEncoding("utf8")
  response.on("error", () => {})
  response.on("end", finish)
  response.on("data", (chunk) => {
    text += chunk
    if (isStream && text.includes("\ndata: ")) cut()
  })
}

const headOf = ({ statusCode, headers }: IncomingMessage) => ({
  status: statusCode!,
  headers: headers as Answer["headers"]
})

function jsonOf({ headers }: IncomingMessage, text: string): unknown {
  if (headers["content-type"]?.includes("json") !== true) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
