/**
 * A shop behind a proxy, which knows nothing of Usher. It resolves paths as thoroughly as an origin can, notes what it
 * was asked, and counts by itself.
 */
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"

/** A request as the shop has got it. */
export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
  /** Whether the shop takes it for one of its checkout. */
  readonly isProtected: boolean
}

/** The path as a thorough origin resolves it. */
const resolved = (target: string): string => {
  let path = target.replace(/^[a-z]+:\/\/[^/?#]*/i, "").split(/[?#]/, 1)[0]!
  for (let times = 0; times < 3; times++) {
    path = path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  }
  const segments: Array<string> = []
  for (const part of path.replaceAll("\\", "/").toLowerCase().split("/")) {
    const segment = part.split(";")[0]!
    if (segment === "..") segments.pop()
    else if (segment !== "" && segment !== ".") segments.push(segment)
  }
  return `/${segments.join("/")}`
}

/** What the rules of the proofs protect. */
const isProtected = (method: string, target: string): boolean => {
  const path = resolved(target)
  if (path === "/checkout/health") return false
  return path.startsWith("/checkout") || (path === "/order" && method.toUpperCase() === "POST")
}

export class SampleShop {
  readonly url: string
  readonly seen: Array<Seen> = []
  /** Called with each request, before its answer. */
  onRequest: ((seen: Seen) => void) | undefined
  /** How many requests `seen` keeps. */
  seenMax = 100_000
  private readonly server: ReturnType<typeof createServer>

  static async make(): Promise<SampleShop> {
    const server = createServer()
    await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening))
    return new SampleShop(server)
  }

  private constructor(server: ReturnType<typeof createServer>) {
    this.server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on("request", (incoming: IncomingMessage, outgoing) => {
      let body = ""
      incoming.setEncoding("utf8").on("data", (part: string) => (body += part))
      incoming.on("end", () => {
        const { method = "", url = "", headers } = incoming
        const seen = { method, url, headers, body, isProtected: isProtected(method, url) }
        if (this.seen.length < this.seenMax) this.seen.push(seen)
        this.onRequest?.(seen)
        outgoing.setHeader("set-cookie", ["own=1; Path=/", "second=2; Path=/"])
        outgoing.setHeader("content-type", "text/html")
        outgoing.end(`the shop: ${method} ${resolved(url)}`)
      })
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections()
    await new Promise<void>((closed) => void this.server.close(() => closed()))
  }
}
