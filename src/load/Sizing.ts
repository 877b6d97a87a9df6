/**
 * How large an installation a drop needs. One queue has one owner, which uses one core. Fronts and the database use as
 * many as there are. The processor time of each request decides which of the three is full first.
 */

import type { Report } from "./Report.ts"

/** Processor time of one request, in microseconds. */
export interface Costs {
  /** At a front: a new consumer's session, its entry into a queue of another process, and a look at its place there. */
  readonly sessionMicros: number
  readonly entryMicros: number
  readonly statusMicros: number
  /** At the queue's owner: an entry and a look that a front asks for. */
  readonly ownerEntryMicros: number
  readonly ownerStatusMicros: number
  /** In the database: a new consumer's session, and its entry. A look costs nothing there. */
  readonly databaseSessionMicros: number
  readonly databaseEntryMicros: number
}

/**
 * Fronts and an owner on the machine of bench/README.md. src/cli/OPERATIONS.md has tables that follow from these
 * figures; test/load/Sizing.test.ts prints them when they change.
 */
export const benchCosts: Costs = {
  sessionMicros: 90,
  entryMicros: 50,
  statusMicros: 38,
  ownerEntryMicros: 18,
  ownerStatusMicros: 5,
  databaseSessionMicros: 30,
  databaseEntryMicros: 14
}

/** One process on that machine. It owns the queue itself, and has one core. */
export const processCosts: Costs = {
  ...benchCosts,
  entryMicros: 46,
  statusMicros: 32,
  ownerEntryMicros: 0,
  ownerStatusMicros: 0
}

/** Returns the cores that one process needs for so many requests of a second. */
export const coresOf = (second: {
  readonly sessions: number
  readonly entries: number
  readonly reads: number
}): number => {
  const { sessionMicros, entryMicros, statusMicros } = processCosts
  return (second.sessions * sessionMicros + second.entries * entryMicros + second.reads * statusMicros) / 1_000_000
}

/** A completion there: in one process, and with an owner elsewhere. The admission rate bounds it, so it sizes nothing. */
const completionMicros = { process: 230, fronts: 300 }

/** How the shoppers of a drop behave, and how busy its servers may be. */
export const assumptions = {
  /** All shoppers come within this time. */
  rushSeconds: 60,
  /** A waiting consumer looks at its place once in this time. */
  pollSeconds: 20,
  /** One Postgres commits about as many entries a second, however many cores it has. */
  databaseEntriesPerSecondMax: 40_000,
  /** The share of its cores that a part uses at most, so that waves do not queue. */
  utilization: 0.7
}

export type Part = "fronts" | "owner" | "database"

/** The cores of an installation. Fronts and owners share `cores`, and also the database unless it has its own. */
export interface Machines {
  readonly cores: number
  /** Processes that own the drop's queues, each as many of them. Default: one, as for a single queue. */
  readonly owners?: number
  readonly databaseCores?: number
}

/** What a number of shoppers within the first minute needs. */
export interface Size {
  /** Fronts, of a core each. */
  readonly fronts: number
  /** The busy cores of the owner. One owner has one: above the utilization several queues need several owners. */
  readonly ownerCores: number
  /** Cores of the database, as a fraction. */
  readonly databaseCores: number
}

export interface Capacity {
  /** The most shoppers within the first minute. */
  readonly shoppers: number
  /** What is full first. */
  readonly limit: Part
}

const microsPerSecond = 1_000_000

/**
 * Returns the busy cores that one shopper causes at the end of the rush, when others still come and everyone looks.
 */
function busyCores(costs: Costs): Readonly<Record<Part, number>> {
  const { rushSeconds, pollSeconds } = assumptions
  const cores = (arrivalMicros: number, statusMicros: number) =>
    (arrivalMicros / rushSeconds + statusMicros / pollSeconds) / microsPerSecond
  return {
    fronts: cores(costs.sessionMicros + costs.entryMicros, costs.statusMicros),
    owner: cores(costs.ownerEntryMicros, costs.ownerStatusMicros),
    database: cores(costs.databaseSessionMicros + costs.databaseEntryMicros, 0)
  }
}

/** Returns what this many shoppers need. */
export function sizeFor(shoppers: number, costs: Costs): Size {
  const { fronts, owner, database } = busyCores(costs)
  const { utilization } = assumptions
  return {
    fronts: Math.max(1, Math.ceil((shoppers * fronts) / utilization)),
    ownerCores: shoppers * owner,
    databaseCores: (shoppers * database) / utilization
  }
}

/** Returns how many shoppers one process takes. */
export const capacityOfProcess = (costs: Costs): number => Math.round(assumptions.utilization / busyCores(costs).fronts)

/** Returns how many shoppers these machines take, and what is full first. */
export function capacityOf({ cores, owners = 1, databaseCores }: Machines, costs: Costs): Capacity {
  const { fronts, owner, database } = busyCores(costs)
  const { rushSeconds, utilization, databaseEntriesPerSecondMax } = assumptions
  const limits: ReadonlyArray<readonly [Part, number]> = [
    ["owner", (owners * utilization) / owner],
    ["database", databaseEntriesPerSecondMax * rushSeconds],
    ...(databaseCores === undefined
      ? // What owner and database leave is the fronts', which need most.
        [["fronts", (cores * utilization) / (fronts + owner + database)] as const]
      : [
          ["fronts", ((cores - owners) * utilization) / fronts] as const,
          ["database", (databaseCores * utilization) / database] as const
        ])
  ]
  const [limit, shoppers] = limits.reduce((least, one) => (one[1] < least[1] ? one : least))
  return { shoppers: Math.round(shoppers), limit }
}

/** Returns the costs on a machine that takes so many times longer. */
const scaled = (costs: Costs, factor: number): Costs => {
  const times = Object.entries(costs).map(([name, micros]) => [name, micros * factor])
  return Object.fromEntries(times)
}

/** What a run shows about its servers. */
interface Measured {
  /** Processor milliseconds for each consumer that came. */
  readonly millisPerConsumer: number
  /** How many times longer than the bench's machine the servers take. */
  readonly factor: number
}

/**
 * Compares the servers' processor time with what the run would have cost on the bench's machine. Undefined if the servers
 * were not read, or if the run had other requests than those of queues that consumers ask for their place.
 */
function measuredIn({ servers = [], seconds, totals, kinds = [], watch, serverCount }: Report): Measured | undefined {
  const [first, ...others] = servers.filter(({ second }) => second <= seconds.length + 1)
  const isOfQueue = kinds.length === 1 && kinds[0]!.kind === "queue"
  if (first === undefined || watch !== "poll" || !isOfQueue || totals.due === 0) return undefined
  let before = 0
  let busySeconds = 0
  for (const { second, cores } of [first, ...others]) {
    busySeconds += cores * (second - before)
    before = second
  }
  const costs = serverCount === 1 ? processCosts : benchCosts
  const looks = Math.max(0, totals.requests - totals.due - totals.entered - totals.completed)
  const benchMicros =
    totals.due * costs.sessionMicros +
    totals.entered * (costs.entryMicros + costs.ownerEntryMicros) +
    looks * (costs.statusMicros + costs.ownerStatusMicros) +
    totals.completed * (serverCount === 1 ? completionMicros.process : completionMicros.fronts)
  return {
    millisPerConsumer: (busySeconds * 1_000) / totals.due,
    factor: (busySeconds * microsPerSecond) / benchMicros
  }
}

/** Numbers of cores of one machine for which a report says what they take. */
const machines = [4, 16, 64]

/** Returns what a run says about the size of a drop, in words. It names what is measured and what is assumed. */
export function sizingOf(report: Report): ReadonlyArray<string> {
  const { totals, seconds, latency } = report
  const measured = measuredIn(report)
  const factor = measured?.factor ?? 1
  const costs = scaled(benchCosts, factor)
  const { rushSeconds, pollSeconds, utilization } = assumptions
  const peak = Math.max(0, ...seconds.map(({ entered }) => entered))
  const { fronts, ownerCores, databaseCores } = sizeFor(totals.due, costs)
  const most = machines.map((cores) => {
    const { shoppers, limit } = capacityOf({ cores }, costs)
    return `${cores} cores ${inWords(shoppers)} (${limit} first)`
  })
  return [
    `Measured: at most ${peak} entries in a second, p99 ${latency.p99?.toFixed(0) ?? "–"} ms. ` +
      (measured === undefined
        ? "Not the servers' processor time: that needs --metrics-url for each server, --watch poll and a queue alone."
        : `The servers took ${measured.millisPerConsumer.toFixed(2)} ms of processor for each consumer, ${factor.toFixed(1)} times the bench's machine.`),
    `Assumed: all come within ${rushSeconds} s to one queue, each looks at its place every ${pollSeconds} s, nothing is busier than ` +
      `${100 * utilization} %, ${measured === undefined ? "the bench's machine" : "the shares of requests, and the database's time, are as on the bench's machine"}.`,
    `${inWords(totals.due)} consumers need ${fronts} front${fronts === 1 ? "" : "s"}, ${percent(ownerCores)} of the owner's core, and ` +
      `${databaseCores.toFixed(2)} cores of the database.`,
    `At most, Postgres included: one process ${inWords(capacityOfProcess(scaled(processCosts, factor)))}, ${most.join(", ")}.`
  ]
}

/** Two digits of a number, because the figures are not more exact. */
const inWords = (count: number): string => Number(count.toPrecision(2)).toLocaleString("en")

const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`
