/** C1: the cost of credentials and limits per entry: `noop` with and without them, 256 connections, closed loop. */
import { fileURLToPath } from "node:url"
import { type Bench, describe, inTurns, measureEntries, notRun, withProgram } from "../Bench.ts"
import {
  atMost,
  type Figures,
  figures as summarize,
  inverseRatios,
  ratios,
  type ScenarioResult,
  scenarioResult
} from "../report/Figures.ts"
import * as Processes from "../setup/Processes.ts"
import { noopOpen } from "../programs/Noop.ts"
import { number } from "../report/Report.ts"
import { connections } from "./DurableEntries.ts"

export async function callerChecks(bench: Bench): Promise<ScenarioResult> {
  const { spans, setup } = bench
  const programs = bench.programs.flatMap((program) => {
    if (program.name === "noop") return [program, noopOpen(setup)]
    return program.name === "usher" ? [program] : []
  })
  const figures = await inTurns(bench, "C1", programs, (program) =>
    withProgram(program, 0, async (running) =>
      describe(await measureEntries(bench, running, { connections, waiting: 0, spans }), running, "entry")
    )
  )
  const { noop, "noop-open": open } = figures
  const checks = noop && open && costOfChecks(noop, open)
  const counting = await costOfCounting()
  const targets = [
    atMost("counting a request takes ≤ 5 µs", counting.microsecondsPerCount, 5),
    atMost("counting with limits for addresses and consumers takes ≤ 5 µs", counting.microsecondsPerCountOfFive, 5)
  ]
  return scenarioResult({
    title: "C1  Cost of credentials and limits per entry, new consumers, 256 connections, closed loop",
    figures: {
      ...figures,
      ...(checks && { "noop, less noop-open": checks.figures }),
      "counting alone": summarize([{ ...counting }])
    },
    ratios: ratios(figures, "usher", "entriesPerSecond"),
    processorRatios: inverseRatios(figures, "usher", "processorMicrosecondsPerEntry"),
    targets,
    notRun: notRun(programs),
    notes: [
      checks?.note ?? "Credentials and limits were not measured: noop did not run.",
      bench.arguments.unseenTokens
        ? "Each entry is the first request with its token, so credentials cost a signature check."
        : "Each consumer reads its status once before it enters, so keys and tokens are cached."
    ]
  })
}

/** The output of `measure/limits.ts`: microseconds to count a request in the memory of the process. */
interface CostOfCounting {
  readonly microsecondsPerCount: number
  /** With limits for addresses and consumers set. */
  readonly microsecondsPerCountOfFive: number
}

async function costOfCounting(): Promise<CostOfCounting> {
  const script = fileURLToPath(new URL("../measure/limits.ts", import.meta.url))
  return JSON.parse(await Processes.run(process.execPath, [script])) as CostOfCounting
}

/**
 * Returns the processor time per entry of `noop` beyond `noop-open`, run by run, with a note. Returns no figures where
 * processor time is unknown.
 */
export function costOfChecks(noop: Figures, open: Figures): { readonly figures: Figures; readonly note: string } {
  const rate = number(noop["entriesPerSecond"]!.median / open["entriesPerSecond"]!.median)
  const rates = `noop reaches ${rate} × the entries a second of noop-open`
  const [spent, without] = [noop["serverMicrosecondsPerEntry"], open["serverMicrosecondsPerEntry"]]
  if (spent === undefined || without === undefined) return { figures: {}, note: `Credentials and limits: ${rates}.` }
  const figures = summarize(
    spent.runs.map((micros, run) => ({ serverMicrosecondsPerEntry: micros - without.runs[run]! }))
  )
  const cost = figures["serverMicrosecondsPerEntry"]!.median
  const share = Math.round((cost / spent.median) * 100)
  const costs = `Credentials and limits cost ${number(cost)} µs of the ${number(spent.median)} µs (${share} %)`
  return { figures, note: `${costs} of server processor time per entry; ${rates}.` }
}
