/** P1: durable queue entries per second, new consumers, 256 connections, closed loop. */
import { type Bench, describe, inTurns, measureEntries, notRun, withProgram } from "../Bench.ts"
import { atLeast, atMost, inverseRatios, ratios, type ScenarioResult, scenarioResult } from "../report/Figures.ts"
import { overConnections, overWaiting } from "../report/Growth.ts"

export const connections = 256

export async function durableEntries(bench: Bench): Promise<ScenarioResult> {
  const { programs, spans, pointSpans } = bench
  const figures = await inTurns(bench, "P1", programs, (program) =>
    withProgram(program, 0, async (running) =>
      describe(await measureEntries(bench, running, { connections, waiting: 0, spans }), running, "entry")
    )
  )
  const capacity = figures["usher"]?.["entriesPerSecond"]?.median
  if (capacity !== undefined) bench.known.set("P1", capacity)
  const against = ratios(figures, "usher", "entriesPerSecond")
  const processor = ratios(figures, "usher", "processorMicrosecondsPerEntry")
  const targets = [
    atLeast("entries a second ≥ 6 × fastify-postgres", against["fastify-postgres"], 6),
    atLeast("entries a second ≥ 0.85 × fastify-redis", against["fastify-redis"], 0.85),
    atMost("processor an entry ≤ 1.1 × fastify-redis", processor["fastify-redis"], 1.1)
  ]
  const curves = [
    await overConnections(bench, "P1 entries", (running, atConnections) =>
      measureEntries(bench, running, { connections: atConnections, waiting: 0, spans: pointSpans }).then((outcome) =>
        describe(outcome, running, "entry")
      )
    ),
    await overWaiting(bench, "P1 entries", (running, waiting) =>
      measureEntries(bench, running, { connections, waiting, spans: pointSpans }).then((outcome) =>
        describe(outcome, running, "entry")
      )
    )
  ]
  return scenarioResult({
    title: "P1  Durable queue entries a second, new consumers, 256 connections, closed loop",
    figures,
    ratios: against,
    processorRatios: inverseRatios(figures, "usher", "processorMicrosecondsPerEntry"),
    targets,
    curves: curves.filter((curve) => curve.points.length > 0),
    notRun: notRun(programs),
    notes: [
      "Closed loop: each connection sends the next entry when the previous response is complete. This finds the capacity; its latencies hide queueing.",
      bench.arguments.unseenTokens
        ? "Each entry is the first request with its token, so it costs a signature check."
        : "Each consumer reads its status once before it enters; every program caches the tokens it has checked.",
      "After each run, a count of the program's store confirms that it contains every acknowledged entry."
    ]
  })
}
