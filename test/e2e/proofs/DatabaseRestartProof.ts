/**
 * Repeatedly shuts Postgres down in immediate mode and starts it again, under load of every kind. Nothing acknowledged
 * may be lost, no request may fail with a 500 or wait for long, and throughput must recover soon.
 */
import { Apis } from "../support/Apis.ts"
import { Dice } from "../support/Dice.ts"
import { type Findings, Setup, noFindings } from "../load/Setup.ts"
import type { Exchange } from "../support/HttpConnections.ts"
import { Ledger } from "../load/Ledger.ts"
import { Load } from "../load/Load.ts"
import { Nodes } from "../support/Nodes.ts"
import { OwnPostgres } from "../support/OwnPostgres.ts"
import { Pace } from "../support/Pace.ts"
import { PatientConnections } from "../support/PatientConnections.ts"
import { pause } from "../support/Processes.ts"
import { ServerUnderTest } from "../support/ServerUnderTest.ts"

export interface Options {
  readonly restarts: number
  /** The number of processes; several processes are nodes. */
  readonly nodes: number
  readonly seed: number
  /** Guests that visit at the same time. Default: 12. */
  readonly workers?: number
  /** Seconds from the beginning of one restart to the next. */
  readonly restartSeconds?: number
  readonly onRestart?: (figures: Figures) => void
}

/** Times are milliseconds. */
export interface Figures extends Findings {
  restarts: number
  /** The duration of each restart of the database. */
  readonly awayMillis: Array<number>
  /** Time from the beginning of a restart until a second reaches the earlier throughput, less a twentieth. */
  readonly backMillis: Array<number>
  /** Requests of paced consumers per second before each restart. Responses with 503 do not count. */
  readonly perSecond: Array<number>
  /** The slowest request and its duration. */
  slowest: string
  slowestMillis: number
  /** Requests that received a 503. */
  postponed: number
  requests: number
}

const restMillisMax = 60
const backShare = 0.95
/** The load's warm-up before each measurement. */
const warmUpMillis = 1_000

export async function databaseRestartProof(options: Options): Promise<Figures> {
  const { restarts, seed, workers = 12, restartSeconds = 10, onRestart } = options
  const dice = new Dice(seed)
  const figures: Figures = {
    ...noFindings(),
    restarts: 0,
    awayMillis: [],
    backMillis: [],
    perSecond: [],
    slowest: "",
    slowestMillis: 0,
    postponed: 0,
    requests: 0
  }
  await using database = await OwnPostgres.make()
  await using servers = await started(options.nodes, database)
  const keys = await servers.all[0]!.createOrganization()
  using apis = new Apis(servers.all, keys, workers, PatientConnections)
  const setup = await Setup.make(apis, dice)
  const ledger = new Ledger()
  using clients = new Apis(servers.all, keys, workers)
  clients.consumer.onEnd = (exchange) => note(exchange, figures)
  using paced = new Apis(servers.all, keys)
  paced.consumer.onEnd = (exchange) => note(exchange, figures)
  const pace = await Pace.begin(paced, await apis.createQueues(1))
  const load = new Load(clients, ledger, dice, workers, { restMillisMax })
  load.mechanisms = setup.mechanisms
  try {
    for (; figures.restarts < restarts; figures.restarts += 1) {
      await pause(warmUpMillis)
      const measuredFrom = performance.now()
      await pause((restartSeconds * 1_000) / 2 - warmUpMillis)
      const begun = performance.now()
      const before = pace.perWindow(measuredFrom, begun)
      figures.perSecond.push(before)
      await database.restart()
      figures.awayMillis.push(performance.now() - begun)
      await pause((restartSeconds * 1_000) / 2)
      figures.backMillis.push((pace.firstWindow(begun, before * backShare) ?? Infinity) - begun)
      await setup.addBrief(dice)
      load.mechanisms = setup.mechanisms
      onRestart?.(figures)
    }
  } finally {
    await Promise.all([load.stop(), pace.stop()])
  }
  for (const { isRunning, log, name } of servers.all) {
    if (!isRunning) figures.violations.push(`${name} has ended:\n${log}`)
  }
  await setup.check(ledger, figures)
  await setup.summarize(ledger, figures)
  return figures
}

/** Starts one process on the database, or several nodes. */
async function started(count: number, database: OwnPostgres) {
  if (count > 1) {
    const nodes = await Nodes.make({ count, database })
    await nodes.start()
    return nodes
  }
  const server = await ServerUnderTest.make({ database })
  await server.start()
  return { all: [server], [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

function note({ what, sentAt, endedAt, outcome }: Exchange, figures: Figures): void {
  figures.requests += 1
  const millis = endedAt - sentAt
  if (millis > figures.slowestMillis) Object.assign(figures, { slowestMillis: millis, slowest: `${what}: ${outcome}` })
  if (outcome === 503) figures.postponed += 1
  else if (typeof outcome === "string" || outcome >= 500) figures.violations.push(`${what}: ${outcome}`)
}
