/**
 * Keep-alive connections to a listener, without retries and redirects, cheap enough for a load. With several nodes,
 * requests go to them in turns.
 */
import { Agent, type OutgoingHttpHeaders, request } from "node:http"

export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  readonly path: string
  readonly headers?: OutgoingHttpHeaders
  /** Sent as JSON. */
  readonly body?: unknown
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: NodeJS.Dict<string | Array<string>>
  readonly body: Body
}

/** The fields of JSON bodies that tests read. */
export interface Body {
  readonly id?: string
  readonly accessToken?: string
  readonly consumerId?: string
  readonly session?: { readonly consumerId: string }
  readonly status?: string
  readonly code?: string
  readonly error?: string
  readonly admissionGrant?: string
  readonly position?: number
  readonly enteredAt?: string
  readonly asOf?: string
  readonly grantedAt?: string
  readonly completedAt?: string
  readonly leftAt?: string
  readonly wonAt?: string
  readonly lostAt?: string
  readonly expiresAt?: string
  readonly createdAt?: string
  readonly startTime?: string
  readonly bookingId?: string
  readonly isEntered?: boolean
  readonly lastBidAmount?: string
  readonly currentPrice?: string
  readonly closeAt?: string
  readonly exchangeCode?: string
  readonly opensAt?: string
  readonly admitted?: number
  readonly sequences?: ReadonlyArray<{ readonly [group: string]: ReadonlyArray<{ readonly id: string }> }>
  readonly live?: {
    readonly counts: { readonly [status: string]: number }
    readonly lastSequence: number
    readonly node: string
    readonly parked: boolean
  }
  readonly data?: ReadonlyArray<{ readonly [field: string]: unknown }>
  readonly remarks?: { readonly [subject: string]: string }
  readonly pageInfo?: { readonly endCursor: string | null }
}

const timeoutMillis = 120_000

/** A completed request; times are of `performance.now()`. */
export interface Exchange {
  readonly to: string
  readonly what: string
  readonly sentAt: number
  readonly endedAt: number
  /** The status of the response, or the reason that there is none. */
  readonly outcome: number | string
}

export class HttpConnections {
  /** Called after each request. */
  onEnd: ((exchange: Exchange) => void) | undefined
  private onSend: (() => void) | undefined
  private readonly bases: ReadonlyArray<URL>
  private readonly agent: Agent
  private turn = 0

  /** `connectionsMax` applies to each listener. */
  constructor(baseUrls: string | ReadonlyArray<string>, connectionsMax: number) {
    this.bases = [baseUrls].flat().map((url) => new URL(url))
    this.agent = new Agent({ keepAlive: true, maxSockets: connectionsMax })
  }

  /** Sends a request and returns the response. Fails if the connection breaks before the response is complete. */
  send(message: HttpRequest): Promise<HttpAnswer> {
    const base = this.next()
    const sentAt = performance.now()
    const note = (outcome: number | string) => {
      const what = `${message.method} ${message.path}`
      this.onEnd?.({ to: base.origin, what, sentAt, endedAt: performance.now(), outcome })
    }
    const answered = this.exchange(base, message)
    this.onSend?.()
    return answered.then(
      (answer) => {
        note(answer.status)
        return answer
      },
      (error: unknown) => {
        note(String(error))
        throw error
      }
    )
  }

  /** Returns when the next request has just been sent, so that it is in flight. */
  async nextRequest(): Promise<void> {
    await new Promise<void>((resolve) => (this.onSend = resolve))
    this.onSend = undefined
  }

  private exchange(base: URL, message: HttpRequest): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const sent = this.open(base, message)
      sent.once("error", reject)
      sent.once("response", (response) => {
        let text = ""
        response.setEncoding("utf8").on("data", (part: string) => (text += part))
        response.once("error", reject)
        response.once("close", () => {
          if (!response.complete) return reject(new Error("the connection broke before the response was complete"))
          resolve({ status: response.statusCode!, headers: response.headers, body: parsed(text) })
        })
      })
    })
  }

  /** Sends the request, and cuts the connection `cut` milliseconds later or when its response begins to arrive. */
  sendAndCut(message: HttpRequest, cut: number | "answered"): Promise<void> {
    return new Promise((resolve) => {
      const sent = this.open(this.next(), message)
      sent.once("error", () => {})
      sent.once("close", resolve)
      sent.once("response", (response) => {
        response.on("error", () => {}).resume()
        if (cut === "answered") sent.destroy()
      })
      if (cut !== "answered") sent.once("finish", () => setTimeout(() => sent.destroy(), cut))
    })
  }

  close(): void {
    this.agent.destroy()
  }

  private next(): URL {
    this.turn = (this.turn + 1) % this.bases.length
    return this.bases[this.turn]!
  }

  private open(base: URL, { method, path, headers, body }: HttpRequest) {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const sent = request({
      host: base.hostname,
      port: base.port,
      agent: this.agent,
      method,
      path,
      timeout: timeoutMillis,
      headers:
        text === undefined
          ? headers
          : { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(text) }
    })
    sent.once("timeout", () => sent.destroy(new Error(`no response to ${method} ${path} within ${timeoutMillis} ms`)))
    sent.end(text)
    return sent
  }
}

/** Returns the JSON object, or an empty one if the text is not JSON. */
function parsed(text: string): Body {
  try {
    return JSON.parse(text) as Body
  } catch {
    return {}
  }
}
