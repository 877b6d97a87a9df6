/** P21: P1 and P3 of live mode on one server, in turns without and with a test clock in the organization's test mode. */
import { type Bench, type Measured, onOneProgram, withProgram } from "../Bench.ts"
import { type Inspectable, usher } from "../programs/Usher.ts"
import { atLeast, ratioInRounds, type ScenarioResult, scenarioResult } from "../report/Figures.ts"
import { entriesInto, loadOf } from "./Bids.ts"
import { connections } from "./DurableEntries.ts"
import { measureReads } from "./StatusReads.ts"

const names = {
  entries: { of: "usher, entries, test clock", to: "usher, entries" },
  reads: { of: "usher, reads, test clock", to: "usher, reads" }
} as const

const variants = [names.entries, names.reads].flatMap(({ of, to }) => [
  { name: to, hasClock: false },
  { name: of, hasClock: true }
])

export async function testClock(bench: Bench): Promise<ScenarioResult> {
  const spans = bench.pointSpans
  const figures = await withProgram(usher(bench.setup), 0, async (running) => {
    let from = 0
    let isSet = false
    return onOneProgram(bench, "P21", variants, async ({ name, hasClock }): Promise<Measured> => {
      if (hasClock !== isSet) await changeClock(bench, running, hasClock ? "PUT" : "DELETE")
      isSet = hasClock
      if (Object.values(names.reads).some((one) => one === name)) {
        return measureReads(bench, running, connections, spans)
      }
      const measured = await loadOf(bench, running, entriesInto(bench.setup.fixture), { from, spans })
      from += spans.tokens
      return measured
    })
  })
  return scenarioResult({
    title: "P21  Entries and status reads of live mode while test mode has a test clock, 256 connections, closed loop",
    figures,
    targets: [
      atLeast(
        "entries a second ≥ 0.97 × without a clock",
        ratioInRounds(figures, names.entries, "requestsPerSecond"),
        0.97
      ),
      atLeast("reads a second ≥ 0.97 × without a clock", ratioInRounds(figures, names.reads, "readsPerSecond"), 0.97)
    ],
    notes: ["The clock is set, and stands still. All runs are on one server."]
  })
}

/** Sets a test clock, or ends it. */
async function changeClock(
  { setup: { fixture } }: Bench,
  { adminUrl }: Inspectable,
  method: "PUT" | "DELETE"
): Promise<void> {
  const answer = await fetch(`${adminUrl}/api/test-clock`, {
    method,
    headers: { authorization: `Bearer ${fixture.testSecretKey}`, "content-type": "application/json" },
    ...(method === "PUT" && { body: JSON.stringify({ frozenAt: "2033-06-01T16:00:00Z" }) })
  })
  if (!answer.ok) throw new Error(`${method} /test-clock answered ${answer.status}: ${await answer.text()}`)
}
