/** P19: P1 and P7 of mechanisms that sell from a stock, on one server in turns with mechanisms that do not. */
import { type Bench, onOneProgram, withProgram } from "../Bench.ts"
import { type Inspectable, usher } from "../programs/Usher.ts"
import { atLeast, ratioInRounds, type ScenarioResult, scenarioResult } from "../report/Figures.ts"
import { adminOf, bidsOn, createAuction, entriesInto, loadOf, quantity, sequenceOf } from "./Bids.ts"

/** More units than entries, so that the stock sends some to the queue all the time. */
const queueUnits = 10_000_000

const names = {
  entries: { of: "usher, entries, stock", to: "usher, entries" },
  bids: { of: "usher, bids, stock", to: "usher, bids" }
} as const

export async function stockSales(bench: Bench): Promise<ScenarioResult> {
  const spans = bench.pointSpans
  const figures = await withProgram(usher(bench.setup), 0, async (running) => {
    const tokensUsed: { [name: string]: number } = {}
    return onOneProgram(bench, "P19", await variantsOn(bench, running), ({ name, load }) => {
      const from = tokensUsed[name] ?? 0
      tokensUsed[name] = from + spans.tokens
      return loadOf(bench, running, load, { from, spans })
    })
  })
  const ratio = (pair: { readonly of: string; readonly to: string }) =>
    ratioInRounds(figures, pair, "requestsPerSecond")
  return scenarioResult({
    title: "P19  Entries and bids of mechanisms that sell from a stock, 256 connections, closed loop",
    figures,
    targets: [
      atLeast("entries a second ≥ 0.97 × without a stock", ratio(names.entries), 0.97),
      atLeast("bids a second ≥ 0.97 × without a stock", ratio(names.bids), 0.97)
    ],
    notes: [
      `The queue admits by hand, and the stock sends it a unit for each entry, of ${queueUnits.toLocaleString("en")}. The auction has a fixed share of ${quantity.toLocaleString("en")} units before the first bid. All runs are on one server.`,
      "After each run, a count of the journal confirms that it contains every accepted request."
    ]
  })
}

/** Makes the mechanisms, and returns the load of each. */
async function variantsOn(bench: Bench, running: Inspectable) {
  const { fixture } = bench.setup
  const queue = async (stockId?: string) =>
    entriesInto({ ...fixture, queueId: await createQueue(bench, running, stockId) })
  const stockId = await createStock(bench, running, quantity)
  const auctionId = await createAuction(bench, running, { stockId })
  await reserve(bench, running, { stockId, auctionId })
  return [
    { name: names.entries.to, load: await queue() },
    { name: names.entries.of, load: await queue(await createStock(bench, running, queueUnits)) },
    { name: names.bids.to, load: bidsOn(fixture, await createAuction(bench, running)) },
    { name: names.bids.of, load: bidsOn(fixture, auctionId) }
  ]
}

async function createQueue(bench: Bench, running: Inspectable, stockId: string | undefined): Promise<string> {
  const sequenceId = await sequenceOf(bench, running)
  const { id } = await adminOf(bench, running)("POST", "/queues", { sequenceId, name: "Bench", admitRate: 0, stockId })
  return id as string
}

/** Creates a stock of so many units of a new variant. */
export async function createStock(bench: Bench, running: Inspectable, units: number): Promise<string> {
  const admin = adminOf(bench, running)
  const { id: productId } = await admin("POST", "/products", { name: "Bench" })
  const { id } = await admin("POST", "/variants", { productId, inventoryPolicy: "deny", inventoryQuantity: 0 })
  const { id: stockId } = await admin("POST", "/stocks", { name: "Bench", variantIds: [id] })
  await admin("POST", `/stocks/${stockId as string}/adjust`, { by: units, reason: "DELIVERED" })
  return stockId as string
}

/** Gives the auction all units, and waits until it has them: as many bids lead as it has units. */
async function reserve(
  bench: Bench,
  running: Inspectable,
  { stockId, auctionId }: { readonly stockId: string; readonly auctionId: string }
): Promise<void> {
  const admin = adminOf(bench, running)
  await admin("PUT", `/stocks/${stockId}`, { takers: [{ distributionId: auctionId, units: quantity }] })
  for (;;) {
    const { allocation } = (await admin("GET", `/distributions/${auctionId}`)) as { allocation?: { units: number } }
    if (allocation?.units === quantity) return
    await new Promise((resume) => setTimeout(resume, 100))
  }
}
