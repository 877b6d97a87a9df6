/** The time that a page takes on a slow network, computed from what the browser sends: it is the same on every machine. */
import type { Page } from "playwright-core"

/**
 * The model of slow 3G: a round trip takes 400 ms, and each way carries 400 kbit/s. A new connection costs three round
 * trips (its name, TCP, TLS 1.3) and 5,000 bytes of certificates. A request costs one, and another one each time that
 * its answer exceeds what a server may send without an acknowledgement: 14,000 bytes at first, then always twice as
 * much. All requests count as if each waited for the one before. What the server and the script compute is not counted.
 */
const slow3g = {
  roundTripSeconds: 0.4,
  bytesPerSecond: 50_000,
  connectionRoundTrips: 3,
  connectionBytes: 5_000,
  firstWindowBytes: 14_000
}

/** A request and its answer, on the wire. */
interface Exchange {
  /** The method and the path. */
  readonly name: string
  sentBytes: number
  answeredBytes: number
  isConnectionNew: boolean
  isAnswered: boolean
}

export interface Recorded {
  /** What was asked for, in order, such as `GET /e/1`. A redirect counts as one more. */
  readonly asked: () => ReadonlyArray<string>
  /** The bytes of all answers so far. */
  readonly bytes: () => number
  /** Waits until this is asked for, such as `GET /e/1`. */
  readonly asks: (name: string) => Promise<void>
  /** Seconds on slow 3G for all requests so far but those that this leaves out. It waits for their answers. */
  readonly seconds: (isLeftOut?: (name: string) => boolean) => Promise<number>
}

/** Records what the page asks for from now on. A stream is answered with its first event. */
export const recorded = async (page: Page): Promise<Recorded> => {
  const session = await page.context().newCDPSession(page)
  const exchanges: Array<Exchange> = []
  const current = new Map<string, Exchange>()
  let waiting: Array<() => void> = []
  const change = () => new Promise<void>((resolve) => waiting.push(resolve))
  const changed = () => {
    const all = waiting
    waiting = []
    for (const look of all) look()
  }
  const answered = (exchange: Exchange | undefined, bytes: number) => {
    if (exchange === undefined) return
    exchange.answeredBytes = Math.max(exchange.answeredBytes, bytes)
    exchange.isAnswered = true
    changed()
  }
  session.on("Network.requestWillBeSent", ({ requestId, request, redirectResponse }) => {
    if (!request.url.startsWith("http")) return
    const before = current.get(requestId)
    if (before && redirectResponse) {
      before.isConnectionNew ||= !redirectResponse.connectionReused
      answered(before, redirectResponse.encodedDataLength)
    }
    const { pathname } = new URL(request.url)
    const sentBytes = request.url.length + (request.postData ?? "").length
    // The first one may find a connection that the browser has opened just before.
    const isConnectionNew = exchanges.length === 0
    const made = { sentBytes, answeredBytes: 0, isConnectionNew, isAnswered: false }
    const exchange = { name: `${request.method} ${pathname}`, ...made }
    exchanges.push(exchange)
    current.set(requestId, exchange)
    changed()
  })
  session.on("Network.requestWillBeSentExtraInfo", ({ requestId, headers }) => {
    const exchange = current.get(requestId)
    if (exchange) exchange.sentBytes += Object.entries(headers).flat().join("....").length
  })
  session.on("Network.responseReceived", ({ requestId, response }) => {
    const exchange = current.get(requestId)
    if (exchange) exchange.isConnectionNew ||= !response.connectionReused
  })
  session.on("Network.dataReceived", ({ requestId, dataLength }) => {
    const exchange = current.get(requestId)
    if (exchange?.name.endsWith("/live")) answered(exchange, dataLength)
  })
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) =>
    answered(current.get(requestId), encodedDataLength)
  )
  // Nobody waits for the answer to a request that was given up.
  session.on("Network.loadingFailed", ({ requestId }) => answered(current.get(requestId), 0))
  await session.send("Network.enable")
  return {
    asked: () => exchanges.map(({ name }) => name),
    bytes: () => exchanges.reduce((sum, { answeredBytes }) => sum + answeredBytes, 0),
    asks: async (name) => {
      while (!exchanges.some((exchange) => exchange.name === name)) await change()
    },
    seconds: async (isLeftOut = () => false) => {
      const counted = () => exchanges.filter(({ name }) => !isLeftOut(name))
      while (!counted().every(({ isAnswered }) => isAnswered)) await change()
      return counted().reduce((sum, exchange) => sum + secondsOf(exchange), 0)
    }
  }
}

const secondsOf = ({ sentBytes, answeredBytes, isConnectionNew }: Exchange): number => {
  const answerRoundTrips = 1 + Math.floor(Math.log2(1 + answeredBytes / slow3g.firstWindowBytes))
  const roundTrips = answerRoundTrips + (isConnectionNew ? slow3g.connectionRoundTrips : 0)
  const bytes = sentBytes + answeredBytes + (isConnectionNew ? slow3g.connectionBytes : 0)
  return roundTrips * slow3g.roundTripSeconds + bytes / slow3g.bytesPerSecond
}
