/**
 * Kills the server again and again under load and holds what clients were told against what is on record afterwards:
 * nothing acknowledged is lost, nothing unrecorded was ever seen, and the invariants of every queue hold.
 */
import { Apis } from "./Apis.ts"
import { Dice } from "./Dice.ts"
import { projectionErrors, read, type Recorded } from "./Invariants.ts"
import { Ledger } from "./Ledger.ts"
import { Load, type LoadedQueue } from "./Load.ts"
import { ServerUnderTest } from "./ServerUnderTest.ts"

export interface Options {
  readonly kills: number
  readonly seed: number
  /** The proof is broken off, and has failed, if it takes longer. */
  readonly secondsMax?: number
  /** How the server is started for the next round. */
  readonly start: (server: ServerUnderTest, dice: Dice, round: number) => Promise<number>
  /** Returns when the server is dead. */
  readonly crash: (server: ServerUnderTest, dice: Dice) => Promise<void>
  /** Told after each round. */
  readonly onRound?: (round: number, figures: Figures) => void
}

export interface Figures {
  kills: number
  /** Writes that were answered. */
  acknowledged: number
  /** Answered writes and seen states that are not on record. */
  lost: number
  reads: number
  events: number
  grants: number
  /** Attempts of clients that had to be repeated. */
  retries: number
  inversions: number
  /** Every broken invariant and every unexpected answer, in words. */
  readonly violations: Array<string>
  /** From process start to ready, in milliseconds. */
  readonly restartMillis: Array<number>
}

const workers = 32
/** New queues after so many kills, so that what is read back stays small. */
const killsPerDrop = 10

interface Drop {
  readonly queues: ReadonlyArray<LoadedQueue>
  readonly histories: Map<string, ReadonlyArray<Recorded>>
}

/** Runs the proof; fails only if the server cannot be started again. */
export async function crashProof(options: Options): Promise<Figures> {
  const dice = new Dice(options.seed)
  const figures: Figures = {
    kills: 0,
    acknowledged: 0,
    lost: 0,
    reads: 0,
    events: 0,
    grants: 0,
    retries: 0,
    inversions: 0,
    violations: [],
    restartMillis: []
  }
  await using server = await ServerUnderTest.make()
  await server.start()
  const keys = await server.createOrganization()
  using apis = new Apis(server, keys, workers)
  const sequenceId = await apis.createSequence()
  const drops = [await createDrop(apis, sequenceId)]
  await server.terminate()
  await options.start(server, dice, 0)

  const begun = performance.now()
  const ledger = new Ledger()
  const load = new Load(apis, ledger, dice, workers)
  load.queues = drops[0]!.queues
  try {
    while (figures.kills < options.kills) {
      if (performance.now() - begun > (options.secondsMax ?? Infinity) * 1000) {
        figures.violations.push(`only ${figures.kills} kills within ${options.secondsMax} s`)
        break
      }
      await options.crash(server, dice)
      figures.kills += 1
      figures.restartMillis.push(await options.start(server, dice, figures.kills))
      const goOn = await load.paused()
      await check(apis, drops.at(-1)!, ledger, figures)
      if (figures.kills % killsPerDrop === 0 && figures.kills < options.kills) {
        drops.push(await createDrop(apis, sequenceId))
        load.queues = drops.at(-1)!.queues
      }
      figures.acknowledged = ledger.writes
      figures.reads = ledger.reads
      figures.retries = load.retries
      options.onRound?.(figures.kills, figures)
      goOn()
    }
  } finally {
    await load.stop()
  }
  await summarize(apis, drops, ledger, figures)
  return figures
}

/** What was told against what is on record now, for the queues in use. */
async function check(apis: Apis, drop: Drop, ledger: Ledger, figures: Figures): Promise<void> {
  for (const { id } of drop.queues) {
    const before = await apis.history(id, drop.histories.get(id))
    const places = await apis.places(id)
    const history = await apis.history(id, before)
    drop.histories.set(id, history)
    const missing = ledger.missing(id, history)
    figures.lost += missing.length
    for (const event of missing) figures.violations.push(`queue ${id}: told but not on record: ${event}`)
    for (const error of projectionErrors(history, before.length, places)) {
      figures.violations.push(`queue ${id}: ${error}`)
    }
    for (const violation of read(history).violations) figures.violations.push(`queue ${id}: ${violation}`)
  }
}

/** The same once more for all queues, read afresh: what was once on record is still there, unchanged. */
async function summarize(apis: Apis, drops: ReadonlyArray<Drop>, ledger: Ledger, figures: Figures): Promise<void> {
  figures.lost = 0
  for (const { queues, histories } of drops) {
    for (const { id } of queues) {
      const history = await apis.history(id)
      const reading = read(history)
      figures.events += history.length
      figures.grants += reading.grants
      figures.inversions += reading.inversions
      figures.lost += ledger.missing(id, history).length
      const changed = histories.get(id)?.findIndex((event, index) => !isSame(event, history[index])) ?? -1
      if (changed >= 0) figures.violations.push(`queue ${id}: event ${changed + 1} is not what it was`)
    }
  }
  figures.acknowledged = ledger.writes
  figures.reads = ledger.reads
  figures.violations.push(...ledger.unexpected)
  if (ledger.overtaken > 0) figures.violations.push(`${ledger.overtaken} positions grew`)
}

const isSame = (a: Recorded, b: Recorded | undefined): boolean => JSON.stringify(a) === JSON.stringify(b)

/** A fast queue, a tight one and one by hand. */
async function createDrop(apis: Apis, sequenceId: string): Promise<Drop> {
  const queue = (name: string, configuration: object) => apis.create("/queues", { sequenceId, name, ...configuration })
  const fast = await queue("fast", {
    admitRate: 60_000,
    admissionExpirationSeconds: 1,
    maxAdmissions: 5_000,
    recycleExpiredAdmissions: true
  })
  const tight = await queue("tight", {
    admitRate: 3_000,
    admissionExpirationSeconds: 1,
    maxAdmissions: 200,
    recycleExpiredAdmissions: true,
    capacity: 12
  })
  const hand = await queue("by hand", { admitRate: 0, capacity: 100 })
  return {
    queues: [
      { id: fast, byHand: false },
      { id: tight, byHand: false },
      { id: hand, byHand: true }
    ],
    histories: new Map()
  }
}
