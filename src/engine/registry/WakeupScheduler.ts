/**
 * Starts mechanisms without a caller: all unfinished ones, and those with places to be written, when the process starts
 * or owns more shards; later those that are due but do not run.
 */
import { Effect, Schedule } from "effect"
import type { Millis } from "../../domain/values/Time.ts"
import type { Head, Journal } from "../../store/journal/Journal.ts"
import { Installation } from "../../store/coordination/Installation.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import type { TestClocks } from "../../store/testClock/TestClocks.ts"
import type { ActorSlot } from "./ActorSlot.ts"
import type { ShardOwnership } from "./ShardOwnership.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Mechanisms that start concurrently: enough to keep the database's connections busy. */
const startConcurrency = 8

/**
 * The pause between two comparisons of stored wake-ups with the clock. Covers mechanisms that do not run or wake late.
 */
const pollIntervalMillis = 1_000

interface Options {
  readonly journal: Journal["Service"]
  readonly ownership: ShardOwnership
  readonly clocks: TestClocks
  readonly slots: ReadonlyMap<string, ActorSlot>
  /** True if this release can read the mechanism's journal. */
  readonly canRead: (head: Head) => boolean
  readonly start: (mechanismId: string, head?: Head) => Effect.Effect<unknown>
  readonly beforePoll: Effect.Effect<void>
}

/** Makes the scheduler. In a database on hold it only starts mechanisms to write their places; nothing is overdue. */
export const makeUnlessHeld = (options: Options) =>
  Effect.map(Installation, ({ heldAt }): ReturnType<typeof make> => {
    const scheduler = make(options)
    return heldAt === undefined
      ? scheduler
      : { ...scheduler, startUnfinished: scheduler.startBehind, polls: Effect.never, overdue: () => Effect.undefined }
  })

const make = (options: Options) => {
  const { journal, ownership, clocks, slots, canRead, start, beforePoll } = options

  /** Takes over and starts the mechanisms that should run here and do not. */
  const startAll = (heads: ReadonlyArray<Head>): Effect.Effect<void, Unavailable> => {
    const absent = heads.filter((head) => {
      const { id } = head.identity
      return (slots.get(id)?.canStart ?? true) && ownership.owns(id) && canRead(head)
    })
    return Effect.flatMap(ownership.takeOver(absent), (own) =>
      Effect.forEach(own, (head) => start(head.identity.id, head), { concurrency: startConcurrency, discard: true })
    )
  }

  /** Starts the mechanisms that an outage has stopped. */
  const resume = Effect.suspend(() => {
    const waiting = [...slots.values()].filter(({ stopped, canStart }) => stopped !== undefined && canStart)
    return Effect.forEach(waiting, ({ id }) => start(id), { concurrency: startConcurrency, discard: true })
  })

  const startBehind = Effect.flatMap(journal.behind, startAll)

  return {
    /** Starts all unfinished mechanisms, and those that a process left before it wrote all of their places. */
    startUnfinished: untilReachable(Effect.andThen(Effect.flatMap(journal.unfinished, startAll), startBehind)),

    /** Starts the latter alone. */
    startBehind: untilReachable(startBehind),

    /**
     * Wakes mechanisms that are due. Some do not run here yet, because another process created them or they are not
     * rebuilt. Others missed it, because the clock was put forward. Then resumes what an outage stopped: the database
     * answers again.
     */
    polls: Effect.andThen(beforePoll, Time.serverNow).pipe(
      Effect.flatMap(journal.due),
      Effect.tap((heads) => Effect.sync(() => heads.forEach(({ identity: { id } }) => slots.get(id)?.actor?.wake()))),
      Effect.flatMap(startAll),
      Effect.andThen(resume),
      Effect.ignore,
      Effect.repeat(Schedule.spaced(pollIntervalMillis))
    ),

    /**
     * Returns the earliest missed wake-up before an instant, among the mechanisms that should run here. Those with a test
     * clock are left out: their instants are of another time.
     */
    overdue: (before: Millis): Effect.Effect<Millis | undefined, Unavailable> =>
      Effect.map(journal.due(before), (heads) => {
        const due = heads.filter(
          ({ identity }) =>
            ownership.owns(identity.id) &&
            slots.get(identity.id)?.failures.parked !== true &&
            clocks.of(identity) === undefined
        )
        return due.length === 0 ? undefined : Math.min(...due.map(({ wakeAt }) => wakeAt ?? before))
      })
  }
}

/** Repeats the start until the database is reachable. */
const untilReachable = (start: Effect.Effect<void, Unavailable>): Effect.Effect<void> =>
  start.pipe(
    Effect.tapError((cause) => Effect.logWarning("cannot restore yet: the database is out of reach", cause)),
    Effect.retry(Schedule.spaced("1 second")),
    Effect.ignore
  )
