/** Clients at different addresses of loopback. */
import { Agent, request } from "node:http"
import { connect, type Socket } from "node:net"

/** A response: its status, or 0 if the connection was cut. */
export interface Response {
  readonly status: number
  readonly text: string
  readonly millis: number
}

export interface Sent {
  readonly method?: string
  readonly path: string
  readonly headers?: { readonly [name: string]: string }
  readonly body?: string
}

const timeoutMillis = 10_000

/** A client with one address and connections that stay open. */
export class Client {
  private readonly agent: Agent
  private readonly url: string
  private readonly localAddress: string

  constructor(url: string, localAddress: string, connectionsMax = 8) {
    this.url = url
    this.localAddress = localAddress
    this.agent = new Agent({ keepAlive: true, maxSockets: connectionsMax })
  }

  /**
   * Sends a request. As browsers do, it repeats a read once if a connection that it used before was closed: the server
   * may close an idle connection in the moment of sending.
   */
  send(sent: Sent, isRepeated = false): Promise<Response> {
    const { method = "GET", path, headers = {}, body } = sent
    const from = performance.now()
    return new Promise((resolve) => {
      const done = (status: number, text = "") => resolve({ status, text, millis: performance.now() - from })
      const outgoing = request(
        new URL(path, this.url),
        {
          method,
          agent: this.agent,
          localAddress: this.localAddress,
          timeout: timeoutMillis,
          headers: {
            ...(body !== undefined && {
              "content-type": "application/json",
              "content-length": Buffer.byteLength(body)
            }),
            ...headers
          }
        },
        (response) => {
          let text = ""
          response.setEncoding("utf8")
          response.on("data", (chunk: string) => (text += chunk))
          response.on("end", () => done(response.statusCode!, text))
          response.on("error", () => done(0))
        }
      )
      outgoing.on("timeout", () => outgoing.destroy())
      outgoing.on("error", () => {
        if (method === "GET" && outgoing.reusedSocket && !isRepeated) resolve(this.send(sent, true))
        else done(0)
      })
      outgoing.end(body)
    })
  }

  close(): void {
    this.agent.destroy()
  }
}

/** Opens connections from an address, and sends at most `text` on each. Returns them. */
export function openSockets(url: string, localAddress: string, count: number, text = ""): ReadonlyArray<Socket> {
  const { hostname, port } = new URL(url)
  return Array.from({ length: count }, () => {
    const socket = connect({ host: hostname, port: Number(port), localAddress })
    socket.on("error", () => undefined)
    socket.on("data", () => undefined)
    if (text !== "") socket.write(text)
    return socket
  })
}

/** Calls `send` at a steady pace until the span ends. Returns when all calls have ended. */
export async function paced<A>(
  perSecond: number,
  millis: number,
  send: (index: number) => Promise<A>
): Promise<Array<A>> {
  const calls: Array<Promise<A>> = []
  const from = performance.now()
  const total = Math.floor((perSecond * millis) / 1_000)
  while (calls.length < total) {
    const due = Math.min(total, Math.floor(((performance.now() - from) / 1_000) * perSecond) + 1)
    while (calls.length < due) calls.push(send(calls.length))
    await new Promise((resume) => setTimeout(resume, 2))
  }
  return Promise.all(calls)
}
