/** `npm run bench`: runs the scenarios, prints tables, and writes the figures and a picture. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { type Arguments, help, parseArguments, type ScenarioId } from "./Arguments.ts"
import type { Bench } from "./Bench.ts"
import { openDatabaseServer } from "./setup/Database.ts"
import type { ScenarioResult } from "./report/Figures.ts"
import { browserHeaders } from "./load/Requests.ts"
import { LoadGenerator } from "./load/LoadGenerator.ts"
import { describeMachine, type Machine } from "./report/Machine.ts"
import { toSvg } from "./report/Picture.ts"
import { fastifyRedis } from "./programs/FastifyRedis.ts"
import { noop } from "./programs/Noop.ts"
import { dbos, fastifyPostgres, fastifyPostgresTuned, pgBoss } from "./programs/PostgresPeers.ts"
import type { Setup } from "./programs/Program.ts"
import { usher } from "./programs/Usher.ts"
import * as Progress from "./report/Progress.ts"
import { openRedisServer } from "./setup/Redis.ts"
import { machineLines, type Report, toJson, toTable } from "./report/Report.ts"
import { bids } from "./scenarios/Bids.ts"
import { callerChecks } from "./scenarios/CallerChecks.ts"
import { durableEntries } from "./scenarios/DurableEntries.ts"
import { halfCapacity } from "./scenarios/HalfCapacity.ts"
import { hotQueue } from "./scenarios/HotQueue.ts"
import { journalAlone } from "./scenarios/JournalAlone.ts"
import { liveStreams } from "./scenarios/LiveStreams.ts"
import { manyMechanisms } from "./scenarios/ManyMechanisms.ts"
import { millionDrawn } from "./scenarios/MillionDrawn.ts"
import { millionWaiting } from "./scenarios/MillionWaiting.ts"
import { pagesOpen } from "./scenarios/OpenPages.ts"
import { newConsumers } from "./scenarios/NewConsumers.ts"
import { severalNodes } from "./scenarios/SeveralNodes.ts"
import { severalProcesses } from "./scenarios/SeveralProcesses.ts"
import { lapsedUnits } from "./scenarios/LapsedUnits.ts"
import { testClock } from "./scenarios/TestClock.ts"
import { stockSales } from "./scenarios/StockSales.ts"
import { statusReads } from "./scenarios/StatusReads.ts"
import { webhooks } from "./scenarios/Webhooks.ts"
import { makeCertificate } from "./setup/Certificate.ts"
import { inventFixture, makeFixture } from "./setup/Setup.ts"
import { Tokens } from "./setup/Tokens.ts"

const scenarios: { readonly [id in ScenarioId]: (bench: Bench) => Promise<ScenarioResult> } = {
  P1: durableEntries,
  P2: halfCapacity,
  P3: statusReads,
  P4: millionWaiting,
  P5: liveStreams,
  P6: millionDrawn,
  P7: bids,
  P8: manyMechanisms,
  P9: severalNodes,
  P10: newConsumers,
  P15: hotQueue,
  P16: severalProcesses,
  P17: journalAlone,
  P18: pagesOpen,
  P19: stockSales,
  P20: lapsedUnits,
  P21: testClock,
  W1: webhooks,
  C1: callerChecks
}
const programs = {
  usher,
  "fastify-postgres": fastifyPostgres,
  "fastify-postgres-tuned": fastifyPostgresTuned,
  "fastify-redis": fastifyRedis,
  dbos,
  "pg-boss": pgBoss,
  noop
}
const cleanups: Array<() => unknown> = []

/** Runs the cleanups, the last first, and continues after a failure. */
async function cleanUp(): Promise<void> {
  for (const undo of cleanups.splice(0).toReversed()) {
    try {
      await undo()
    } catch (error) {
      Progress.say(`Cleanup failed: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}

async function measure(chosen: Arguments): Promise<void> {
  const workDirectory = mkdtempSync(join(tmpdir(), "usher-bench-"))
  cleanups.push(() => rmSync(workDirectory, { recursive: true, force: true }))
  Progress.show("starting Postgres and Redis")
  const database = await openDatabaseServer(workDirectory)
  cleanups.push(() => database.stop())
  const redis = await openRedisServer(workDirectory)
  if (!("missing" in redis)) cleanups.push(() => redis.stop())
  const machine = describeMachine(workDirectory, database, redis)
  process.stdout.write(`${machineLines(machine)}\n`)
  Progress.show("setting up")
  const needsUsher = chosen.programs.includes("usher") || chosen.programs.includes("noop")
  const fixture = {
    ...(needsUsher ? await makeFixture(workDirectory, database) : inventFixture()),
    ...(chosen.browser && { headers: browserHeaders }),
    ...(chosen.tls && { certificate: await makeCertificate(workDirectory) })
  }
  const generator = new LoadGenerator(chosen)
  cleanups.push(() => generator.stop())
  await runScenarios(chosen, machine, benchOf(chosen, { workDirectory, database, redis, fixture }, generator))
}

function benchOf(chosen: Arguments, setup: Setup, generator: LoadGenerator): Bench {
  const { quick } = chosen
  return {
    arguments: chosen,
    setup,
    generator,
    programs: chosen.programs.map((name) => programs[name](setup)),
    tokens: new Tokens(setup.fixture.issuer, join(setup.workDirectory, "tokens")),
    rounds: chosen.rounds ?? (quick ? 1 : 5),
    spans: spansOf(
      chosen,
      quick ? { warmup: 2, measured: 3, tokens: 80_000 } : { warmup: 4, measured: 8, tokens: 250_000 }
    ),
    pointSpans: spansOf(
      chosen,
      quick ? { warmup: 1, measured: 1, tokens: 30_000 } : { warmup: 3, measured: 3, tokens: 120_000 }
    ),
    known: new Map()
  }
}

/** Status reads warm a program up too. The tokens stay below the 125,000 that every program caches. */
function spansOf(chosen: Arguments, spans: Bench["spans"]): Bench["spans"] {
  return chosen.unseenTokens ? spans : { ...spans, warmup: 1, tokens: Math.min(spans.tokens, 120_000) }
}

/** Writes the report after each scenario, so that a late failure keeps the earlier figures. */
async function runScenarios(chosen: Arguments, machine: Machine, bench: Bench): Promise<void> {
  const results: { [id: string]: ScenarioResult } = {}
  for (const file of [chosen.json, chosen.svg]) mkdirSync(dirname(file), { recursive: true })
  for (const id of chosen.scenarios) {
    results[id] = await scenarios[id](bench)
    Progress.show("")
    process.stdout.write(`\n${toTable(results[id])}\n`)
    const report: Report = { machine, quick: chosen.quick, scenarios: results }
    writeFileSync(chosen.json, toJson(report))
    writeFileSync(chosen.svg, await toSvg(report))
  }
  process.stdout.write(`Figures: ${chosen.json}\nPicture: ${chosen.svg}\n`)
}

async function main(): Promise<void> {
  let chosen: Arguments
  try {
    chosen = parseArguments(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exitCode = 2
    return
  }
  if (chosen.help) {
    process.stdout.write(`${help}\n`)
    return
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void cleanUp().then(() => process.exit(130)))
  }
  try {
    await measure(chosen)
  } catch (error) {
    Progress.say(`The bench failed: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  } finally {
    await cleanUp()
  }
}

await main()
