/** `npm run bench:lists`: the response times and query plans of every Admin API list with a million consumers. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { cpus, loadavg, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as Progress from "../report/Progress.ts"
import { openSqlTap } from "../setup/SqlTap.ts"
import { type Arguments, help, parseArguments } from "./Arguments.ts"
import { casesOf, type Description } from "./Cases.ts"
import { type Setup, makeSetup, newDatabase } from "./Setup.ts"
import { send, type ListRequest, measure, type Measured, pageOf } from "./Measure.ts"
import { plansOf } from "./Plans.ts"
import { serve, type Server } from "./Server.ts"

/** The targets. */
const p99MillisecondsMax = 50
const liveReadMillisecondsMax = 5

const cleanups: Array<() => unknown> = []

async function cleanUp(): Promise<void> {
  for (const undo of cleanups.splice(0).toReversed()) await Promise.resolve(undo()).catch(() => {})
}

interface Result extends Measured {
  readonly request: ListRequest
  readonly millisecondsMax: number | null
}

async function main(chosen: Arguments): Promise<void> {
  const url = chosen.database ?? (await freshDatabase())
  const setup = await makeSetup(url, chosen.consumers)
  const logs = mkdtempSync(join(tmpdir(), "usher-lists-"))
  cleanups.push(() => rmSync(logs, { recursive: true, force: true }))

  const results = await measured(chosen, setup, await started(url, logs))
  process.stdout.write(`  p50 ms   p99 ms   items      bytes\n${results.map(line).join("\n")}\n`)
  const slowest = results.slice(0, chosen.plans)
  conclude(chosen, results, slowest.length === 0 ? [] : await planned(slowest, setup, url, logs))
}

async function started(url: string, logs: string): Promise<Server> {
  Progress.show("starting the server")
  const server = await serve(url, logs)
  cleanups.push(() => server.stop())
  return server
}

/**
 * Measures all cases and returns them slowest first. The server connects to its database directly, without the SQL tap.
 */
async function measured(chosen: Arguments, setup: Setup, server: Server): Promise<ReadonlyArray<Result>> {
  const description = (await (await fetch(server.description)).json()) as Description
  const cases = casesOf(description, setup).filter(({ path }) => path.includes(chosen.only))
  const results: Array<Result> = []
  for (const [index, each] of cases.entries()) {
    Progress.show(`${index + 1} of ${cases.length}: ${each.name}`)
    const request = { path: await pageOf(server, setup, each) }
    const result = await measure(server, setup, each.name, request, chosen.requests)
    results.push({ ...result, request, millisecondsMax: p99MillisecondsMax })
    if (result.p99Milliseconds > p99MillisecondsMax) Progress.say(line(result))
  }
  for (const [name, request, millisecondsMax] of otherRequests(setup)) {
    if (!request.path.includes(chosen.only)) continue
    Progress.show(name)
    const requests = Math.min(chosen.requests, millisecondsMax === null ? 10 : chosen.requests)
    results.push({ ...(await measure(server, setup, name, request, requests)), request, millisecondsMax })
  }
  await server.stop()
  Progress.show("")
  return results.toSorted((a, b) => b.p99Milliseconds - a.p99Milliseconds)
}

/** Returns the plans of the slowest cases. A second server runs behind the SQL tap. */
async function planned(slowest: ReadonlyArray<Result>, setup: Setup, url: string, logs: string) {
  const tap = await openSqlTap(url)
  cleanups.push(() => tap.stop())
  const server = await started(tap.url(url), logs)
  Progress.show("")
  const plans: Array<object> = []
  for (const { name, request } of slowest) {
    const [longest] = await plansOf(url, tap, () => send(server, setup, request))
    if (longest === undefined) continue
    plans.push({ name, ...longest })
    process.stdout.write(`\n${name}\n  ${longest.lines.join("\n  ")}\n`)
  }
  return plans
}

async function freshDatabase(): Promise<string> {
  const { url, drop } = await newDatabase()
  cleanups.push(drop)
  return url
}

/** The requests besides lists: a live read of a queue with a million waiting, and analytics over its journal. */
function otherRequests({
  queueId
}: Setup): ReadonlyArray<readonly [name: string, request: ListRequest, millisecondsMax: number | null]> {
  const measures = [{ name: "entries", event: "queue_entered", op: "count", unit: "events" }]
  const query = (interval: string, timeRange: string, where?: object) =>
    [
      `analytics ${interval} over ${timeRange}${where === undefined ? "" : ", one queue"}`,
      { path: "/analytics/query", body: { interval, timeRange, measures, ...(where && { where }) } },
      null
    ] as const
  return [
    ["a live read, a million waiting", { path: `/distributions/${queueId}` }, liveReadMillisecondsMax],
    query("1m", "1h"),
    query("1h", "1d"),
    query("1h", "7d"),
    query("1d", "30d"),
    query("1d", "366d"),
    query("1d", "30d", { distributionId: queueId })
  ]
}

function line({ name, p50Milliseconds, p99Milliseconds, items, bytes }: Measured): string {
  const [p50, p99] = [p50Milliseconds, p99Milliseconds].map((millis) => millis.toFixed(1).padStart(8))
  return `${p50} ${p99} ${String(items).padStart(7)} ${String(bytes).padStart(10)}  ${name}`
}

function conclude(chosen: Arguments, results: ReadonlyArray<Result>, plans: ReadonlyArray<object>): void {
  const missed = results.filter((each) => each.millisecondsMax !== null && each.p99Milliseconds > each.millisecondsMax)
  const machine = { processors: cpus().length, model: cpus()[0]?.model, loadAverage: loadavg()[0] }
  mkdirSync(dirname(chosen.json), { recursive: true })
  writeFileSync(chosen.json, `${JSON.stringify({ machine, results, plans }, undefined, 2)}\n`)
  process.stdout.write(`\n${results.length} cases, ${missed.length} over their target. Figures: ${chosen.json}\n`)
}

let chosen: Arguments | undefined
try {
  chosen = parseArguments(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${(error as Error).message}; --help lists the options\n`)
  process.exitCode = 2
}
if (chosen?.help === true) process.stdout.write(`${help}\n`)
else if (chosen !== undefined) {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void cleanUp().then(() => process.exit(130)))
  }
  try {
    await main(chosen)
  } catch (error) {
    Progress.say(`The bench failed: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  } finally {
    await cleanUp()
  }
}
