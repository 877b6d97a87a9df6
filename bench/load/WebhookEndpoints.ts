/** An HTTP server that takes webhooks at once, and notes how late each event is. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"

/** An event that has arrived: when it happened, and how many milliseconds later it arrived for the first time. */
interface Arrival {
  readonly at: number
  readonly lagMillis: number
}

export class WebhookEndpoints {
  /** The first arrival of each event, by path. */
  readonly arrivals = new Map<string, Map<string, Arrival>>()
  private readonly server: Server

  static async listen(): Promise<WebhookEndpoints> {
    const endpoints = new WebhookEndpoints()
    await new Promise<void>((resolve) => endpoints.server.listen(0, "127.0.0.1", resolve))
    return endpoints
  }

  private constructor() {
    this.server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        response.writeHead(204).end()
        this.take(request.url!, JSON.parse(Buffer.concat(chunks).toString("utf8")))
      })
    })
  }

  /** The URL of an endpoint. */
  url(path: string): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${path}`
  }

  /** The number of events that have arrived at a path. */
  count(path: string): number {
    return this.arrivals.get(path)?.size ?? 0
  }

  close(): void {
    this.server.closeAllConnections()
    this.server.close()
  }

  private take(path: string, body: Notification | Batch): void {
    const known = this.arrivals.get(path) ?? new Map<string, Arrival>()
    this.arrivals.set(path, known)
    const now = Date.now()
    for (const { id, timestamp } of "events" in body.data ? body.data.events : [body as Notification]) {
      const at = Date.parse(timestamp)
      if (!known.has(id)) known.set(id, { at, lagMillis: now - at })
    }
  }
}

interface Notification {
  readonly id: string
  readonly timestamp: string
  readonly data: object
}

interface Batch {
  readonly data: { readonly events: ReadonlyArray<Notification> }
}
