/** A browser at a room, without a window: its cookies, the forms that it sends, and the stream of its place. */
import { Agent, type ClientRequest, type OutgoingHttpHeaders, request } from "node:http"
import type { ServerUnderTest } from "../../support/ServerUnderTest.ts"

export interface Answer {
  readonly status: number
  readonly text: string
}

/** A visitor's place in a queue, as `state` and `live` tell it. */
export interface Told {
  readonly id?: string
  readonly status: string
  readonly position?: number
}

const timeoutMillis = 15_000

/** The settings of a server whose visitors have an address each: this process is its proxy. */
export const behindProxy = { TRUSTED_PROXIES: "127.0.0.0/8" }

/** The headers of a proxy for the visitor with this number. */
export const forwardedFor = (number: number): OutgoingHttpHeaders => ({
  "x-forwarded-for": `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`,
  "x-forwarded-proto": "https"
})

export class Browser {
  private readonly cookies = new Map<string, string>()
  private readonly server: ServerUnderTest
  private readonly room: string
  private readonly forwarded: OutgoingHttpHeaders
  private readonly agent: Agent

  constructor(server: ServerUnderTest, experienceId: string, number: number, agent: Agent) {
    this.server = server
    this.room = `/e/${experienceId}`
    this.forwarded = forwardedFor(number)
    this.agent = agent
  }

  /** The visitor, as the token of its cookie names it. */
  get consumerId(): string | undefined {
    const token = [...this.cookies.values()].find((value) => value.split(".").length === 3)
    if (token === undefined) return undefined
    return JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString()).consumerId as string
  }

  get(path: string): Promise<Answer> {
    return this.send(this.open("GET", path, {}))
  }

  /** Sends a form as the page's script does. */
  post(action: string, fields: { readonly [name: string]: string }): Promise<Answer> {
    const body = new URLSearchParams(fields).toString()
    const headers = {
      accept: "text/html;part=room",
      "content-type": "application/x-www-form-urlencoded",
      "content-length": Buffer.byteLength(body),
      "sec-fetch-site": "same-origin"
    }
    return this.send(this.open("POST", `/${action}`, headers), body)
  }

  /** Follows the place in a queue until `told` returns true or the stream ends. */
  follow(queueId: string, told: (state: Told) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const sent = this.open("GET", `/live?of=queue.${queueId}`, {}, false)
      sent.once("error", reject)
      sent.once("close", resolve)
      sent.once("response", (response) => {
        if (response.statusCode !== 200) return void sent.destroy()
        let text = ""
        response.on("error", () => sent.destroy())
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk
          const events = text.split("\n\n")
          text = events.pop()!
          for (const event of events) {
            const data = /^data: (.*)$/m.exec(event)?.[1]
            if (data !== undefined && !/^event: end$/m.test(event) && told(JSON.parse(data) as Told)) sent.destroy()
          }
        })
      })
      sent.end()
    })
  }

  private open(method: string, path: string, headers: OutgoingHttpHeaders, agent: Agent | false = this.agent) {
    const { hostname, port } = new URL(this.server.consumerUrl)
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ")
    const sent = request({
      host: hostname,
      port,
      agent,
      method,
      path: this.room + path,
      headers: {
        ...(cookie !== "" && { cookie }),
        ...this.forwarded,
        ...headers
      }
    })
    if (agent !== false) sent.setTimeout(timeoutMillis, () => sent.destroy(new Error("no response")))
    return sent
  }

  private send(sent: ClientRequest, body?: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      sent.once("error", reject)
      sent.once("response", (response) => {
        let text = ""
        response.setEncoding("utf8").on("data", (part: string) => (text += part))
        response.once("error", reject)
        response.once("close", () => {
          if (!response.complete) return reject(new Error("the connection broke before the response was complete"))
          for (const line of response.headers["set-cookie"] ?? []) {
            const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? []
            this.cookies.set(name, value)
          }
          resolve({ status: response.statusCode!, text })
        })
      })
      sent.end(body)
    })
  }
}
