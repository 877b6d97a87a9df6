/**
 * P7: bids per second on one English auction, each higher than the previous one, in turns with entries into a queue.
 */
import { type Bench, closedLoop, describe, inTurns, type Measured, showTokens, withProgram } from "../Bench.ts"
import { atLeast, ratios, type ScenarioResult, scenarioResult } from "../report/Figures.ts"
import type { RequestTemplate } from "../load/Job.ts"
import { bidRequest, enterRequest } from "../programs/Program.ts"
import { type Inspectable, usher } from "../programs/Usher.ts"
import type { Fixture } from "../setup/Fixture.ts"
import { connections } from "./DurableEntries.ts"

/** Units for sale. There are more units than requests in flight, so that a bid which overtakes others still leads. */
export const quantity = 1_000

const bidding = "usher, bids"
const entering = "usher, entries"

export async function bids(bench: Bench): Promise<ScenarioResult> {
  const { fixture } = bench.setup
  const figures = await inTurns(bench, "P7", [{ name: entering }, { name: bidding }], ({ name }) =>
    withProgram(usher(bench.setup), 0, async (running) => {
      if (name === entering) return loadOf(bench, running, entriesInto(fixture))
      return loadOf(bench, running, bidsOn(fixture, await createAuction(bench, running)))
    })
  )
  const against = ratios(figures, bidding, "requestsPerSecond")
  const targets = [atLeast("bids a second ≥ 0.8 × entries", against[entering], 0.8)]
  return scenarioResult({
    title: "P7  Bids a second on one auction, 256 connections, closed loop",
    figures,
    ratios: { entries: against[entering]! },
    targets,
    notes: [
      `An English auction of ${quantity.toLocaleString("en")} units; each bid comes from a new bidder and outbids the previous one, so that it displaces a leading bid.`,
      "After each run, a count of the journal confirms that it contains every accepted bid."
    ]
  })
}

/** A request to a mechanism, and the event that it adds to the journal. */
export interface MechanismLoad {
  readonly request: RequestTemplate
  readonly mechanismId: string
  readonly type: string
}

export const entriesInto = (fixture: Fixture): MechanismLoad => ({
  request: enterRequest(fixture),
  mechanismId: fixture.queueId,
  type: "Entered"
})

export const bidsOn = (fixture: Fixture, auctionId: string): MechanismLoad => ({
  request: bidRequest(fixture, auctionId),
  mechanismId: auctionId,
  type: "BidPlaced"
})

/**
 * Runs a closed loop of consumers after the first `from`. Every acknowledged request must be in the journal afterwards, as
 * one more event.
 */
export async function loadOf(
  bench: Bench,
  running: Inspectable,
  { request, mechanismId, type }: MechanismLoad,
  { from = 0, spans = bench.spans }: { readonly from?: number; readonly spans?: Bench["spans"] } = {}
): Promise<Measured> {
  const before = await running.countEvents(mechanismId, type)
  const usable = await showTokens(bench, running, spans, from)
  const outcome = await bench.generator.run(
    closedLoop({
      port: running.port,
      connections,
      warmupSeconds: spans.warmup,
      seconds: spans.measured,
      watched: running.watched,
      request,
      tokens: bench.tokens.range(usable, from)
    })
  )
  const acknowledged = outcome.statuses["200"] ?? 0
  const kept = (await running.countEvents(mechanismId, type)) - before
  if (kept !== acknowledged) throw new Error(`${acknowledged} requests are acknowledged and ${kept} are in the journal`)
  return describe(outcome, running, "request")
}

/** Creates an English auction in the sequence of the fixture's queue. It may sell from a stock. */
export async function createAuction(
  bench: Bench,
  running: Inspectable,
  { stockId }: { readonly stockId?: string | undefined } = {}
): Promise<string> {
  const sequenceId = await sequenceOf(bench, running)
  const settleAt = new Date(Date.now() + 24 * 3_600_000).toISOString()
  const prices = { startPrice: "1", minBidIncrement: "1", maxBid: "999999999" }
  const body = { sequenceId, name: "Bench", quantity, ...prices, settleAt, stockId }
  return (await adminOf(bench, running)("POST", "/auctions", body))["id"] as string
}

/** Returns the sequence of the fixture's queue. */
export async function sequenceOf(bench: Bench, running: Inspectable): Promise<string> {
  const { queueId } = bench.setup.fixture
  return (await adminOf(bench, running)("GET", `/queues/${queueId}`))["sequenceId"] as string
}

/** Returns the function that sends requests to the Admin API. It fails unless they succeed. */
export const adminOf =
  ({ setup: { fixture } }: Bench, { adminUrl }: Inspectable) =>
  async (method: string, path: string, body?: object): Promise<{ readonly [field: string]: unknown }> => {
    const headers = { authorization: `Bearer ${fixture.secretKey}`, "content-type": "application/json" }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const answer = await fetch(`${adminUrl}/api${path}`, init)
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
    return JSON.parse(text) as { readonly [field: string]: unknown }
  }
