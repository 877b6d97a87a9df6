/** P3: status reads per second, polled by waiting consumers, and the SQL statements they cost. */
import { type Bench, closedLoop, describe, inTurns, type Measured, notRun, withProgram } from "../Bench.ts"
import { atLeast, atMost, inverseRatios, ratios, type ScenarioResult, scenarioResult } from "../report/Figures.ts"
import { overConnections, overWaiting } from "../report/Growth.ts"
import * as Progress from "../report/Progress.ts"
import { enterRequest, type Running, statusRequest } from "../programs/Program.ts"
import { usher } from "../programs/Usher.ts"
import { beyondIdle, openSqlTap, since, total } from "../setup/SqlTap.ts"

const connections = 256
/** The number of consumers that poll, in turns. */
const polling = 5_000

export async function statusReads(bench: Bench): Promise<ScenarioResult> {
  const { programs, spans, pointSpans } = bench
  const figures = await inTurns(bench, "P3", programs, (program) =>
    withProgram(program, 0, (running) => measureReads(bench, running, connections, spans))
  )
  const statements = await countSqlStatements(bench)
  const against = ratios(figures, "usher", "readsPerSecond")
  const processor = ratios(figures, "usher", "processorMicrosecondsPerRead")
  const latency = ratios(figures, "usher", "latencyP999Milliseconds")
  const targets = [
    atLeast("reads a second ≥ 0.9 × noop", against["noop"], 0.9),
    atLeast("reads a second ≥ 1.2 × fastify-redis", against["fastify-redis"], 1.2),
    atMost("processor a read ≤ 1.1 × fastify-redis", processor["fastify-redis"], 1.1),
    atMost("p99.9 ≤ 2 × fastify-redis", latency["fastify-redis"], 2),
    atMost("0 SQL statements", statements?.ofReads, 0)
  ]
  const curves = [
    await overConnections(bench, "P3 status reads", (running, at) => measureReads(bench, running, at, pointSpans)),
    await overWaiting(bench, "P3 status reads", (running) => measureReads(bench, running, connections, pointSpans))
  ]
  return scenarioResult({
    title: "P3  Status reads a second, 5,000 waiting consumers, 256 connections, closed loop",
    figures,
    ratios: against,
    processorRatios: inverseRatios(figures, "usher", "processorMicrosecondsPerRead"),
    targets,
    curves: curves.filter((curve) => curve.points.length > 0),
    notRun: notRun(programs),
    notes: [
      statements === undefined
        ? "SQL statements were not counted: usher did not run."
        : `SQL statements on the wire during ${statements.reads} reads: ${statements.during}; in a span of the same length without reads: ${statements.idle}.`
    ]
  })
}

/** Lets the consumers enter, then poll. */
export async function measureReads(
  bench: Bench,
  running: Running,
  atConnections: number,
  spans: Bench["spans"]
): Promise<Measured> {
  return describe(await pollStatus(bench, running, atConnections, spans), running, "read")
}

async function pollStatus(bench: Bench, running: Running, atConnections: number, spans: Bench["spans"]) {
  const tokens = bench.tokens.range(polling)
  const request = enterRequest(bench.setup.fixture)
  await bench.generator.run(closedLoop({ port: running.port, connections: 64, seconds: 120, request, tokens }))
  return poll(bench, running, atConnections, spans)
}

async function poll(bench: Bench, running: Running, atConnections: number, spans: Bench["spans"]) {
  const outcome = await bench.generator.run(
    closedLoop({
      port: running.port,
      connections: atConnections,
      warmupSeconds: spans.warmup,
      seconds: spans.measured,
      watched: running.watched,
      request: statusRequest(bench.setup.fixture),
      tokens: bench.tokens.range(polling),
      repeatTokens: true
    })
  )
  for (const sample of outcome.samples) {
    if (!sample.includes('"status":"QUEUED"')) throw new Error(`Not the status of a waiting consumer: ${sample}`)
  }
  return outcome
}

/**
 * Counts Usher's statements while consumers poll, and in an idle span of the same length, to subtract background work.
 */
async function countSqlStatements(bench: Bench) {
  if (!bench.arguments.programs.includes("usher")) return undefined
  Progress.show("P3: counting SQL statements")
  const { setup } = bench
  const tap = await openSqlTap(setup.database.url("postgres"))
  const database = { ...setup.database, url: (name: string) => tap.url(setup.database.url(name)) }
  try {
    return await withProgram(usher({ ...setup, database }), 0, async (running) => {
      await pollStatus(bench, running, connections, { warmup: 0, measured: 1, tokens: 0 })
      const before = tap.statements()
      const from = performance.now()
      const { requests } = await poll(bench, running, connections, {
        warmup: 0,
        measured: bench.spans.measured,
        tokens: 0
      })
      const spanMilliseconds = performance.now() - from
      const between = tap.statements()
      await new Promise((resolve) => setTimeout(resolve, spanMilliseconds))
      const during = since(before, between)
      const idle = since(between, tap.statements())
      return { reads: requests, during: total(during), idle: total(idle), ofReads: beyondIdle(during, idle) }
    })
  } finally {
    tap.stop()
  }
}
