/** P1: durable queue entries per second, new consumers, 256 connections, closed loop. */
import { type Bench, describe, inTurns, type Measured, measureEntries, notRun, withProgram } from "../Bench.ts"
import type { Outcome } from "../load/Job.ts"
import type { Program } from "../programs/Program.ts"
import { atLeast, atMost, inverseRatios, ratios, type ScenarioResult, scenarioResult } from "../report/Figures.ts"
import { overConnections, overWaiting } from "../report/Growth.ts"

export const connections = 256
const manyConnections = 1_024

export async function durableEntries(bench: Bench): Promise<ScenarioResult> {
  const { programs, spans, pointSpans } = bench
  const figures = await inTurns(bench, "P1", programs, async (program) => {
    const atMany = await entriesPerSecondAtMany(bench, program)
    return withProgram(program, 0, async (running) => {
      const outcome = await measureEntries(bench, running, { connections, waiting: 0, spans })
      return { ...describe(outcome, running, "entry"), ...thread(outcome), ...atMany }
    })
  })
  const capacity = figures["usher"]?.["entriesPerSecond"]?.median
  if (capacity !== undefined) bench.known.set("P1", capacity)
  const against = ratios(figures, "usher", "entriesPerSecond")
  const processor = ratios(figures, "usher", "processorMicrosecondsPerEntry")
  const targets = [
    atLeast("entries a second ≥ 6 × fastify-postgres", against["fastify-postgres"], 6),
    atLeast("entries a second ≥ 1 × fastify-redis", against["fastify-redis"], 1),
    atMost("processor an entry ≤ 1.15 × fastify-redis", processor["fastify-redis"], 1.15),
    atMost("Usher's thread idle ≤ 0.1 of the time", figures["usher"]?.["idleShare"]?.median, 0.1)
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
      "idleShare: the share of the time in which the server's main thread runs on no processor. In waitingShare of the time it is ready to run, but others use the processors.",
      "After each run, a count of the program's store confirms that it contains every acknowledged entry."
    ]
  })
}

/** Measures a run on many connections. On these, a slow program takes seconds until its first answers. */
async function entriesPerSecondAtMany(bench: Bench, program: Program): Promise<Measured> {
  const options = { connections: manyConnections, waiting: 0, spans: { ...bench.pointSpans, measured: 6 } }
  const { perSecond } = await withProgram(program, 0, (running) => measureEntries(bench, running, options))
  return { entriesPerSecondAt1024Connections: perSecond }
}

/** Returns how the server's main thread spends its time. */
function thread({ mainThread, seconds }: Outcome): Measured {
  if (mainThread === undefined) return {}
  return { idleShare: 1 - mainThread.running / seconds, waitingShare: mainThread.waiting / seconds }
}
