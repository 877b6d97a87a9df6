/** Measures the response time of a list over HTTP, one request at a time. */
import { Agent, request } from "node:http"
import type { Case } from "./Cases.ts"
import type { Setup } from "./Setup.ts"
import type { Server } from "./Server.ts"

export interface Measured {
  readonly name: string
  readonly requests: number
  readonly p50Milliseconds: number
  readonly p99Milliseconds: number
  /** Of the last response. */
  readonly items: number
  readonly bytes: number
}

/** Unmeasured requests before each measurement, so that plans and pages are cached. */
const warmups = 6

/** Pages walked before a deep page; fewer for a searched list. */
const deepPages = 50
const deepPagesSearched = 10

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

interface Page {
  readonly data?: ReadonlyArray<unknown>
  readonly pageInfo: { readonly startCursor: string | null; readonly endCursor: string | null }
}

export interface ListRequest {
  readonly path: string
  readonly body?: object
}

/** Sends one request to the Admin API and returns the body. */
export function send({ api }: Server, { secretKey }: Setup, { path, body }: ListRequest): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${secretKey}`, ...(body && { "content-type": "application/json" }) }
    const outgoing = request(`${api}${path}`, { agent, headers, method: body ? "POST" : "GET" }, (answer) => {
      const parts: Array<Buffer> = []
      answer.on("data", (part: Buffer) => parts.push(part))
      answer.on("end", () => {
        const text = Buffer.concat(parts).toString("utf8")
        if (answer.statusCode === 200) resolve(text)
        else reject(new Error(`${path} answered ${answer.statusCode}: ${text}`))
      })
    })
    outgoing.on("error", reject)
    outgoing.end(body && JSON.stringify(body))
  })
}

/** Returns the path of the page that a case measures. Walks the pages before it. */
export async function pageOf(server: Server, setup: Setup, { path, walk }: Case): Promise<string> {
  const page = async (path: string) => JSON.parse(await send(server, setup, { path })) as Page
  if (walk === "none") return path
  if (walk === "end") {
    const last = await page(`${path.replace(/&first=\d+/, "")}&last=20`)
    return `${path}&last=20${cursor("before", last.pageInfo.startCursor)}`
  }
  const most = path.includes("&search=") ? deepPagesSearched : deepPages
  let at = path
  for (let pages = 0; pages < most; pages++) {
    const { endCursor } = (await page(at)).pageInfo
    if (endCursor === null) break
    at = path + cursor("after", endCursor)
  }
  return at
}

/** Repeats a request and returns its response times. */
export async function measure(
  server: Server,
  setup: Setup,
  name: string,
  listRequest: ListRequest,
  requests: number
): Promise<Measured> {
  const millis: Array<number> = []
  let text = ""
  for (let sent = -warmups; sent < requests; sent++) {
    const from = performance.now()
    text = await send(server, setup, listRequest)
    if (sent >= 0) millis.push(performance.now() - from)
  }
  const sorted = millis.toSorted((a, b) => a - b)
  // The nearest-rank percentile.
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1]!
  const { data = [] } = JSON.parse(text) as Page
  return {
    name,
    requests,
    p50Milliseconds: at(0.5),
    p99Milliseconds: at(0.99),
    items: data.length,
    bytes: Buffer.byteLength(text)
  }
}

const cursor = (parameter: string, value: string | null): string =>
  value === null ? "" : `&${parameter}=${encodeURIComponent(value)}`
