/** P19: P1 and P7 of mechanisms that sell from a stock, in turns with mechanisms that do not. */
import { type Bench, inTurns, type Measured, withProgram } from "../Bench.ts"
import { bidRequest, enterRequest } from "../programs/Program.ts"
import { type Inspectable, usher } from "../programs/Usher.ts"
import { atLeast, type ScenarioResult, scenarioResult } from "../report/Figures.ts"
import { adminOf, createAuction, loadOf, quantity, sequenceOf } from "./Bids.ts"

/** More units than entries, so that the stock sends some to the queue all the time. */
const queueUnits = 10_000_000

const names = {
  entries: { without: "usher, entries", with: "usher, entries, stock" },
  bids: { without: "usher, bids", with: "usher, bids, stock" }
} as const

const variants = [names.entries, names.bids].flatMap((pair) => [{ name: pair.without }, { name: pair.with }])

export async function stockSales(bench: Bench): Promise<ScenarioResult> {
  const { fixture } = bench.setup
  const figures = await inTurns(bench, "P19", variants, ({ name }) =>
    withProgram(usher(bench.setup), 0, async (running): Promise<Measured> => {
      const hasStock = name === names.entries.with || name === names.bids.with
      if (name === names.bids.without || name === names.bids.with) {
        const stockId = hasStock ? await createStock(bench, running, quantity) : undefined
        const auctionId = await createAuction(bench, running, { stockId })
        if (stockId !== undefined) await reserve(bench, running, { stockId, auctionId })
        return loadOf(bench, running, bidRequest(fixture, auctionId), auctionId, "BidPlaced")
      }
      const stockId = hasStock ? await createStock(bench, running, queueUnits) : undefined
      const queueId = await createQueue(bench, running, stockId)
      return loadOf(bench, running, enterRequest({ ...fixture, queueId }), queueId, "Entered")
    })
  )
  const rate = (name: string) => figures[name]?.["requestsPerSecond"]?.median ?? Number.NaN
  const ratio = (pair: { readonly without: string; readonly with: string }) => rate(pair.with) / rate(pair.without)
  return scenarioResult({
    title: "P19  Entries and bids of mechanisms that sell from a stock, 256 connections, closed loop",
    figures,
    targets: [
      atLeast("entries a second ≥ 0.97 × without a stock", ratio(names.entries), 0.97),
      atLeast("bids a second ≥ 0.97 × without a stock", ratio(names.bids), 0.97)
    ],
    notes: [
      `The queue admits by hand, and the stock sends it a unit for each entry, of ${queueUnits.toLocaleString("en")}. The auction has a fixed share of ${quantity.toLocaleString("en")} units before the first bid.`,
      "After each run, a count of the journal confirms that it contains every accepted request."
    ]
  })
}

async function createQueue(bench: Bench, running: Inspectable, stockId: string | undefined): Promise<string> {
  const sequenceId = await sequenceOf(bench, running)
  const { id } = await adminOf(bench, running)("POST", "/queues", { sequenceId, name: "Bench", admitRate: 0, stockId })
  return id as string
}

/** Creates a stock of so many units of a new variant. */
async function createStock(bench: Bench, running: Inspectable, units: number): Promise<string> {
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
