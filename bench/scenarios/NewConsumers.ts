/** P10: the arrival of a new consumer: guest session, entry, status. */
import { type Bench, describe, inTurns, type Measured, notRun, withProgram } from "../Bench.ts"
import { type ScenarioResult, scenarioResult } from "../report/Figures.ts"
import { enterRequest, type Running, sessionRequest, statusRequest } from "../programs/Program.ts"
import { usher } from "../programs/Usher.ts"

const connections = 256
const steps = ["session", "entry", "status"] as const

export async function newConsumers(bench: Bench): Promise<ScenarioResult> {
  const program = usher(bench.setup)
  return scenarioResult({
    title: "P10  New consumers a second: guest session, entry, status; 256 connections, closed loop",
    figures: await inTurns(bench, "P10", [program], () =>
      withProgram(program, 0, (running) => measureArrivals(bench, running))
    ),
    targets: [],
    notRun: notRun([program]),
    notes: ["A step's share is its mean response time divided by the sum of the three."]
  })
}

async function measureArrivals(bench: Bench, running: Running): Promise<Measured> {
  const { fixture } = bench.setup
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
