/**
 * Two servers share an organization's limits through one Redis while consumers press to get in, and Redis is flushed,
 * paused and killed under them. No answer and no record may be wrong for it; each server holds to the limits by itself
 * while Redis is away, and both together once it is back.
 *
 * Each server serves a queue of its own, as a mechanism belongs to one process; unless they are nodes.
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
  /** Times that Redis was flushed, paused or killed. */
  losses: number
  /** Entries that were let in. */
  entries: number
  /** Entries that were refused for the limit. */
  refused: number
  /** Whole seconds in which both servers reached Redis, and how many entries they let in together: least and most. */
  readonly shared: Span
  /** Whole seconds in which Redis was away for both, and how many entries they let in together. */
  readonly alone: Span
  /** The most that one server let in within a second, whatever Redis did. */
  mostOfOne: number
  /** Acknowledged writes, and those of them that are not on record. */
  acknowledged: number
  lost: number
  readonly violations: Array<string>
}

interface Span {
  seconds: number
  least: number
  most: number
}

/** What each server may let in a second, and both together. */
export const entriesPerSecond = 30

/** The second limit is never reached, but counted. */
const rateLimits = { queueEntriesPerSecond: entriesPerSecond, consumerApiPerMinute: 600_000 }

const workersPerServer = 20
const spellMillis = 2_800

/** In which a server that waits for an answer of Redis finds out that there is none. */
const findingOutMillis = 800

/** One server with its queue and its part of the load. */
interface Side {
  readonly server: ServerUnderTest
  readonly apis: Apis
  readonly queueId: string
  readonly ledger: Ledger
  /** Entries let in, by the second that they were counted in, which is told by its end. */
  readonly passed: Map<number, number>
}

/** A stretch of time in which Redis was there for both servers, or away for both, in milliseconds. */
interface Spell {
  readonly kind: "shared" | "alone"
  readonly from: number
  readonly until: number
}

/** What is done to Redis for a while. */
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
  /** The servers are nodes, and serve both queues together. */
  readonly areNodes?: boolean
}

/** Each round flushes, pauses and kills Redis once, in an order of chance. */
export async function redisLossProof(options: Options): Promise<Figures> {
  const dice = new Dice(options.seed)
  const scope = Effect.runSync(Scope.make())
  try {
    const redis = await Effect.runPromise(Scope.provide(ownServer, scope))
    const settings = async () => ({ REDIS_URL: redis.url, ...(options.areNodes === true && (await nodeSettings())) })
    await using one = await ServerUnderTest.make({ settings: await settings() })
    await using other = await ServerUnderTest.make({ settings: await settings(), beside: one })
    await one.start()
    const [keys] = await Promise.all([limitedOrganization(one), other.start()])
    using apisOfOne = new Apis(one, keys, workersPerServer)
    using apisOfOther = new Apis(other, keys, workersPerServer)
    const sides = [await sideOf(one, apisOfOne), await sideOf(other, apisOfOther)]

    const load = new Load(sides, dice)
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

/** An organization with the limits; made before any server has heard of it. */
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
  const sequenceId = await apis.createSequence()
  const queueId = await apis.create("/queues", { sequenceId, name: "redis loss", admitRate: 0 })
  return { server, apis, queueId, ledger: new Ledger(), passed: new Map() }
}

/** Waits until both servers reach Redis, and lets them share their counts for a while. */
async function sharedSpell(sides: ReadonlyArray<Side>): Promise<Spell> {
  for (const { apis } of sides) {
    for (const begun = performance.now(); !(await reachesRedis(apis)); await pause(50)) {
      if (performance.now() - begun > 15_000) throw new Error("a server does not find Redis again")
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

/** Consumers who press to get in, are served and come again. */
class Load {
  refused = 0
  readonly violations: Array<string> = []
  private isStopped = false
  private readonly dice: Dice
  private readonly workers: ReadonlyArray<Promise<void>>

  constructor(sides: ReadonlyArray<Side>, dice: Dice) {
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

  /** One guest, who comes up to three times. */
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

  /** Tries until it is let in; false if the load ends before. */
  private async enter(side: Side, guest: Guest): Promise<boolean> {
    while (!this.isStopped) {
      const answer = await side.apis.enter(side.queueId, guest)
      const told = (figure: string) => Number(answer.headers[`x-ratelimit-${figure}`])
      if (told("limit") !== entriesPerSecond) this.violations.push(`a limit of ${told("limit")} was told`)
      if (answer.status !== 429) {
        const second = told("reset")
        side.passed.set(second, (side.passed.get(second) ?? 0) + 1)
        this.note("write", side, guest, answer)
        return true
      }
      this.refused += 1
      await pause(this.dice.between(20, 40))
    }
    return false
  }

  /** Nobody here asks for what cannot be. */
  private note(kind: "read" | "write", { ledger, queueId }: Side, guest: Guest, answer: HttpAnswer): void {
    if (answer.status === 409) this.violations.push(`${kind} answered 409: ${JSON.stringify(answer.body)}`)
    ledger.note(kind, queueId, guest.consumerId, answer)
  }
}

/** Compares what was told with what is on record, and counts what was let in. */
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
    if (ledger.overtaken > 0) figures.violations.push(`${ledger.overtaken} were overtaken`)
    if (!server.isRunning) figures.violations.push(`a server has ended:\n${server.log}`)
  }
  return figures
}

/** How much was let in together in each whole second of the spells of a kind. */
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
