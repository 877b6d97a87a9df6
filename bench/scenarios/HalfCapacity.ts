/** P2: latency of entries at half of Usher's capacity, open loop. */
import { type Bench, describe, inTurns, measureEntries, notRun, withProgram } from "../Bench.ts"
import {
  atMost,
  inverseRatios,
  median,
  ratios,
  type ScenarioResult,
  scenarioResult,
  type Target
} from "../report/Figures.ts"
import * as Progress from "../report/Progress.ts"
import { connections } from "./DurableEntries.ts"

export async function halfCapacity(bench: Bench): Promise<ScenarioResult> {
  const perSecond = Math.round((bench.known.get("P1") ?? (await findCapacity(bench))) / 2)
  const { programs, spans } = bench
  const figures = await inTurns(bench, `P2 at ${perSecond}/s`, programs, (program) =>
    withProgram(program, 0, async (running) => {
      const outcome = await measureEntries(bench, running, { connections, waiting: 0, spans, perSecond })
      const { latencyP99Milliseconds = Number.NaN, ...rest } = describe(outcome, running, "entry")
      return {
        latencyP99Milliseconds,
        ...rest,
        unsentRequests: outcome.unsent,
        unansweredRequests: outcome.unanswered,
        generatorTimerLagMaxMilliseconds: outcome.timerLagMax / 1000
      }
    })
  )
  const p99 = (program: string) => figures[program]?.["latencyP99Milliseconds"]?.median
  const below = (peer: string): Target => {
    const [own, theirs] = [p99("usher"), p99(peer)]
    const isKnown = own !== undefined && theirs !== undefined
    return { text: `p99 below ${peer}'s`, measured: isKnown ? own / theirs : null, met: isKnown ? own < theirs : null }
  }
  const targets = [atMost("p99 ≤ 25 ms", p99("usher"), 25), below("fastify-postgres"), below("fastify-redis")]
  return scenarioResult({
    title: `P2  Entries at ${perSecond} a second (half of Usher's capacity), open loop`,
    figures,
    ratios: ratios(figures, "usher", "latencyP99Milliseconds"),
    processorRatios: inverseRatios(figures, "usher", "processorMicrosecondsPerEntry"),
    targets,
    notRun: notRun(programs),
    notes: [
      "Open loop: arrivals at a fixed rate (Poisson, from a seed); latency counts from the due time of an arrival. An unanswered request counts with the time until the end.",
      "The generator's timer ticks every millisecond and adds up to one millisecond to each latency.",
      "Ratios are of p99, so smaller is better. A program with less capacity than this rate falls further and further behind; its latency then shows only that."
    ]
  })
}

async function findCapacity(bench: Bench): Promise<number> {
  const usher = bench.programs.find((program) => program.name === "usher")
  if (usher === undefined) throw new Error("P2 needs the capacity of usher; include usher in --programs")
  const rates: Array<number> = []
  for (let run = 0; run < Math.min(3, bench.rounds); run++) {
    Progress.show("P2: finding the capacity")
    const outcome = await withProgram(usher, 0, (running) =>
      measureEntries(bench, running, { connections, waiting: 0, spans: bench.spans })
    )
    rates.push(outcome.perSecond)
  }
  return median(rates)
}
