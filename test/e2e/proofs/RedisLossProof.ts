/**
 * Two servers share an organization's limits through one Redis under heavy load, while Redis is flushed, suspended and
 * killed. No response and no record may be wrong. Each server applies the limits alone while Redis is away, and both
 * together once it is back.
 *
 * Each server has its own queue, because a mechanism belongs to one process, unless the servers are nodes.
 */
import { Effect, Exit, Scope } from "effect"
import { type OwnServer, ownServer } from "../../http/limits/redisFixture.ts"
import { Apis, type Guest } from "../support/Apis.ts"
import { Dice } from "../support/Dice.ts"
import * as FreshDatabase from "../support/FreshDatabase.ts"
import type { HttpAnswer } from "../support/HttpConnections.ts"
import { projectionErrors, read } from "../invariants/Invariants.ts"
import { Ledger } from "../load/Ledger.ts"
import { nodeSettings } from "../support/Nodes.ts"
import { pause } from "../support/Processes.ts"
import { type Keys, ServerUnderTest } from "../support/ServerUnderTest.ts"

export interface Figures {
  /** The number of times that Redis was flushed, suspended or killed. */
  losses: number
  /** Accepted entries. */
  entries: number
  /** Entries refused by the limit. */
  refused: number
  /** Whole seconds in which both servers reached Redis, with the least and most entries that both accepted together. */
  readonly shared: Span
  /** Whole seconds in which Redis was away for both, with the least and most entries that both accepted together. */
  readonly alone: Span
  /** The most entries that one server accepted within a second, in any state of Redis. */
  mostOfOne: number
  /** Acknowledged writes, and those missing from the journal. */
  acknowledged: number
  lost: number
  readonly violations: Array<string>
}

interface Span {
  seconds: number
  least: number
  most: number
}

/** The limit of each server per second, and of both together. */
export const entriesPerSecond = 30

/** The second limit is counted but never reached. */
const rateLimits = { queueEntriesPerSecond: entriesPerSecond, consumerApiPerMinute: 600_000 }

const spellMillis = 2_800

/** Time in which a server that waits for Redis notices its absence. */
const findingOutMillis = 800

/** One server with its queue and its part of the load. */
interface Side {
  readonly server: ServerUnderTest
  readonly apis: Apis
  readonly queueId: string
  readonly ledger: Ledger
  /** Accepted entries by the end of the second in which they were counted. */
  readonly passed: Map<number, number>
}

/** A span of time in which Redis was available to both servers, or to neither, in milliseconds. */
interface Spell {
  readonly kind: "shared" | "alone"
  readonly from: number
  readonly until: number
}

/** The faults of Redis. */
const losses = {
  flush: async (redis: OwnServer) => {
    for (let flushes = 0; flushes < 5; flushes++) {
      await Effect.runPromise(redis.flush)
      await pause(150)
    }
  },
  pause: async (redis: OwnServer) => {
    await Effect.runPromise(redis.signal("SIGSTOP"))
    await pause(spellMillis)
    await Effect.runPromise(redis.signal("SIGCONT"))
  },
  kill: async (redis: OwnServer) => {
    await Effect.runPromise(redis.kill)
    await pause(spellMillis)
    await Effect.runPromise(redis.start)
  }
}

export interface Options {
  readonly rounds: number
  readonly seed: number
  /** Whether the servers are nodes and serve both queues together. */
  readonly areNodes?: boolean
  /** Default: 20. */
  readonly workersPerServer?: number
}

/** Each round flushes, suspends and kills Redis once, in random sequence. */
export async function redisLossProof(options: Options): Promise<Figures> {
  const { workersPerServer = 20 } = options
  const dice = new Dice(options.seed)
  const scope = Effect.runSync(Scope.make())
  try {
    const redis = await Effect.runPromise(Scope.provide(ownServer, scope))
    const settings = async () => ({ REDIS_URL: redis.url, ...(options.areNodes === true && (await nodeSettings())) })
    await using one = await ServerUnderTest.make({ settings: await settings() })
    await using other = await ServerUnderTest.make({ settings: await settings(), sharing: one })
    await one.start()
    const [keys] = await Promise.all([limitedOrganization(one), other.start()])
    using apisOfOne = new Apis(one, keys, workersPerServer)
    using apisOfOther = new Apis(other, keys, workersPerServer)
    const sides = [await sideOf(one, apisOfOne), await sideOf(other, apisOfOther)]

    const load = new Load(sides, dice, workersPerServer)
    const spells: Array<Spell> = []
    for (let round = 0; round < options.rounds; round++) {
      for (const loss of shuffled(Object.keys(losses) as Array<keyof typeof losses>, dice)) {
        spells.push(await sharedSpell(sides))
        const from = Date.now()
        await losses[loss](redis)
        if (loss !== "flush") spells.push({ kind: "alone", from: from + findingOutMillis, until: from + spellMillis })
      }
    }
    spells.push(await sharedSpell(sides))
    await load.stop()
    return await judged(sides, spells, load, options.rounds * Object.keys(losses).length)
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

/** Creates an organization with the limits, before any server has cached it. */
async function limitedOrganization(server: ServerUnderTest): Promise<Keys> {
  const { url } = server.database
  if (url === undefined) throw new Error("this needs a Postgres server; set DATABASE_URL")
  const keys = await server.createOrganization()
  const settings = JSON.stringify({ rateLimits })
  await FreshDatabase.query(
    url,
    (sql) => sql`update organizations set settings = ${settings}::text::jsonb where id = ${keys.organizationId}`
  )
  return keys
}

async function sideOf(server: ServerUnderTest, apis: Apis): Promise<Side> {
  const [queueId] = (await apis.createQueues(1)) as [string]
  return { server, apis, queueId, ledger: new Ledger(), passed: new Map() }
}

/** Waits until both servers reach Redis, then lets them share their counts for a while. */
async function sharedSpell(sides: ReadonlyArray<Side>): Promise<Spell> {
  for (const { apis } of sides) {
    for (const begun = performance.now(); !(await reachesRedis(apis)); await pause(50)) {
      if (performance.now() - begun > 15_000) throw new Error("a server does not reconnect to Redis")
    }
  }
  const from = Date.now()
  await pause(spellMillis)
  return { kind: "shared", from, until: Date.now() }
}

async function reachesRedis({ admin }: Apis): Promise<boolean> {
  const { status, body } = await admin.send({ method: "GET", path: "/ready" })
  return status === 200 && body.remarks?.["redis"] === undefined
}

/** Consumers that enter under the limit, are served and return. */
class Load {
  refused = 0
  readonly violations: Array<string> = []
  private isStopped = false
  private readonly dice: Dice
  private readonly workers: ReadonlyArray<Promise<void>>

  constructor(sides: ReadonlyArray<Side>, dice: Dice, workersPerServer: number) {
    this.dice = dice
    this.workers = sides.flatMap((side) => Array.from({ length: workersPerServer }, () => this.work(side)))
  }

  async stop(): Promise<void> {
    this.isStopped = true
    await Promise.all(this.workers)
  }

  private async work(side: Side): Promise<void> {
    while (!this.isStopped) {
      await this.visit(side).catch((error: unknown) => this.violations.push(String(error)))
    }
  }

  /** Runs up to three visits of one guest. */
  private async visit(side: Side): Promise<void> {
    const { apis, queueId } = side
    const guest = await apis.guest()
    for (let visits = this.dice.between(1, 3); visits > 0; visits--) {
      if (!(await this.enter(side, guest))) return
      for (let looks = this.dice.between(1, 2); looks > 0; looks--) {
        const answer = await apis.status(queueId, guest)
        this.note("read", side, guest, answer)
        side.ledger.notePosition(queueId, guest.consumerId, answer)
      }
      if (this.dice.chance(0.4)) {
        this.note("write", side, guest, await apis.act(queueId, "admit", guest.consumerId))
        if (this.dice.chance(0.5)) {
          this.note("write", side, guest, await apis.act(queueId, "complete", guest.consumerId))
          return
        }
      }
      this.note("write", side, guest, await apis.leave(queueId, guest))
    }
  }

  /** Retries until the entry is accepted. Returns false if the load ends before. */
  private async enter(side: Side, guest: Guest): Promise<boolean> {
    while (!this.isStopped) {
      const answer = await side.apis.enter(side.queueId, guest)
      const header = (figure: string) => Number(answer.headers[`x-ratelimit-${figure}`])
      if (header("limit") !== entriesPerSecond) this.violations.push(`the limit header is ${header("limit")}`)
      if (answer.status !== 429) {
        const second = header("reset")
        side.passed.set(second, (side.passed.get(second) ?? 0) + 1)
        this.note("write", side, guest, answer)
        return true
      }
      this.refused += 1
      await pause(this.dice.between(20, 40))
    }
    return false
  }

  /** Records a response. No request here may conflict with the state of its place. */
  private note(kind: "read" | "write", { ledger, queueId }: Side, guest: Guest, answer: HttpAnswer): void {
    if (answer.status === 409) this.violations.push(`${kind} returned 409: ${JSON.stringify(answer.body)}`)
    ledger.note(kind, queueId, guest.consumerId, answer)
  }
}

/** Compares the responses with the journal, and counts the accepted entries. */
async function judged(
  sides: ReadonlyArray<Side>,
  spells: ReadonlyArray<Spell>,
  load: Load,
  losses: number
): Promise<Figures> {
  const counts = sides.flatMap(({ passed }) => [...passed.values()])
  const figures: Figures = {
    losses,
    entries: counts.reduce((sum, count) => sum + count, 0),
    refused: load.refused,
    shared: together(sides, spells, "shared"),
    alone: together(sides, spells, "alone"),
    mostOfOne: Math.max(...counts),
    acknowledged: 0,
    lost: 0,
    violations: [...load.violations]
  }
  for (const { apis, queueId, ledger, server } of sides) {
    const history = await apis.history(queueId)
    figures.acknowledged += ledger.writes
    figures.lost += ledger.missing(queueId, history).length
    figures.violations.push(...ledger.unexpected, ...read(history).violations)
    figures.violations.push(...projectionErrors(history, history.length, await apis.places(queueId)))
    if (ledger.overtaken > 0) figures.violations.push(`${ledger.overtaken} positions increased`)
    if (!server.isRunning) figures.violations.push(`a server has ended:\n${server.log}`)
  }
  return figures
}

/** Returns the entries that both servers accepted in each whole second of the spells of a kind. */
function together(sides: ReadonlyArray<Side>, spells: ReadonlyArray<Spell>, kind: Spell["kind"]): Span {
  const sums: Array<number> = []
  for (const { from, until } of spells.filter((spell) => spell.kind === kind)) {
    for (let end = Math.ceil(from / 1_000) + 1; end * 1_000 <= until; end++) {
      sums.push(sides.reduce((sum, { passed }) => sum + (passed.get(end) ?? 0), 0))
    }
  }
  return { seconds: sums.length, least: Math.min(...sums), most: Math.max(...sums) }
}

function shuffled<A>(items: ReadonlyArray<A>, dice: Dice): ReadonlyArray<A> {
  return items
    .map((item) => ({ item, order: dice.next() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ item }) => item)
}
