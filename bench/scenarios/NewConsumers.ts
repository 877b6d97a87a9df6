/** P10: the arrival of a new consumer: guest session, entry, status. */
import { type Bench, describe, type Measured, notRun, withProgram } from "../Bench.ts"
import { figures as summarize, type ScenarioResult } from "../report/Figures.ts"
import * as Progress from "../report/Progress.ts"
import { enterRequest, type Running, sessionRequest, statusRequest } from "../programs/Program.ts"
import { usher } from "../programs/Usher.ts"

const connections = 256
const steps = ["session", "entry", "status"] as const

export async function newConsumers(bench: Bench): Promise<ScenarioResult> {
  const program = usher(bench.ground)
  const runs: Array<Measured> = []
  for (let round = 0; round < bench.rounds; round++) {
    Progress.show(`P10: run ${round + 1} of ${bench.rounds}`)
    const measured = await withProgram(program, 0, (running) => measureArrivals(bench, running))
    runs.push(measured)
    Progress.say(
      `P10  usher  run ${round + 1} of ${bench.rounds}  arrivalsPerSecond ${measured["arrivalsPerSecond"]!.toFixed(1)}`
    )
  }
  return {
    title: "P10  New consumers a second: guest session, entry, status; 256 connections, closed loop",
    figures: { usher: summarize(runs) },
    ratios: {},
    processorRatios: {},
    targets: [],
    met: null,
    curves: [],
    notRun: notRun([program]),
    notes: ["A step's share is its mean response time divided by the sum of the three."]
  }
}

async function measureArrivals(bench: Bench, running: Running): Promise<Measured> {
  const { fixture } = bench.ground
  const outcome = await bench.generator.run(
    {
      mode: "arrivals",
      host: "127.0.0.1",
      port: running.port,
      connections,
      warmupSeconds: bench.spans.warmup,
      seconds: bench.spans.measured,
      watched: running.watched,
      session: sessionRequest(fixture),
      enter: enterRequest(fixture),
      status: statusRequest(fixture)
    },
    [200, 201]
  )
  const whole = outcome.steps.reduce((sum, step) => sum + step.mean, 0)
  const shares = steps.flatMap((step, index): Array<[string, number]> => [
    [`${step}SharePercent`, (outcome.steps[index]!.mean / whole) * 100],
    [`${step}P99Milliseconds`, outcome.steps[index]!.p99 / 1000]
  ])
  return { ...describe(outcome, running, "arrival"), ...Object.fromEntries(shares) }
}
