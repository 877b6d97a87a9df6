/**
 * Which mechanisms a process has to start by itself: all that are unfinished, when it begins or comes to hold more, and
 * those whose time has come, whatever the reason that they do not run.
 */
import { Clock, Effect, Schedule } from "effect"
import type { Millis } from "../../domain/values/Time.ts"
import type { Head, Journal } from "../../store/journal/Journal.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import type { ActorSlot } from "./ActorSlot.ts"
import type { ShardOwnership } from "./ShardOwnership.ts"

/** Mechanisms that start at the same time: enough to keep the database's connections busy. */
const startConcurrency = 8

/** How often stored wake-ups are compared with the clock, for mechanisms that do not run here, or do not know the time. */
const pollIntervalMillis = 1_000

export const make = (options: {
  readonly journal: Journal["Service"]
  readonly ownership: ShardOwnership
  readonly slots: ReadonlyMap<string, ActorSlot>
  readonly start: (mechanismId: string, head?: Head) => Effect.Effect<unknown>
  readonly beforePoll: Effect.Effect<void>
}) => {
  const { journal, ownership, slots, start, beforePoll } = options

  /** Takes over and starts those of them that should run here, and do not. */
  const startAll = (heads: ReadonlyArray<Head>): Effect.Effect<void, Unavailable> => {
    const absent = heads.filter(({ identity: { id } }) => (slots.get(id)?.canStart ?? true) && ownership.owns(id))
    return Effect.flatMap(ownership.takeOver(absent), (own) =>
      Effect.forEach(own, (head) => start(head.identity.id, head), { concurrency: startConcurrency, discard: true })
    )
  }

  /** Starts what an outage has stopped. */
  const resume = Effect.suspend(() => {
    const waiting = [...slots.values()].filter(({ stopped, canStart }) => stopped !== undefined && canStart)
    return Effect.forEach(waiting, ({ id }) => start(id), { concurrency: startConcurrency, discard: true })
  })

  return {
    /** Starts whatever is unfinished; waits for the database if need be. */
    startUnfinished: journal.unfinished.pipe(
      Effect.flatMap(startAll),
      Effect.tapError((cause) => Effect.logWarning("cannot restore yet: the database is out of reach", cause)),
      Effect.retry(Schedule.spaced("1 second")),
      Effect.ignore
    ),

    /**
     * Wakes mechanisms that are due: those that do not run here, made by another process or not yet rebuilt, and those
     * whose timers do not know, because the clock was put forward. The database answers: so what it stopped goes on as well.
     */
    polls: Effect.andThen(beforePoll, Clock.currentTimeMillis).pipe(
      Effect.flatMap(journal.due),
      Effect.tap((heads) => Effect.sync(() => heads.forEach(({ identity: { id } }) => slots.get(id)?.actor?.wake()))),
      Effect.flatMap(startAll),
      Effect.andThen(resume),
      Effect.ignore,
      Effect.repeat(Schedule.spaced(pollIntervalMillis))
    ),

    /** The earliest wake-up before an instant that has led to nothing, of mechanisms that should run here. */
    overdue: (before: Millis): Effect.Effect<Millis | undefined, Unavailable> =>
      Effect.map(journal.due(before), (heads) => {
        const due = heads.filter(
          ({ identity: { id } }) => ownership.owns(id) && slots.get(id)?.failures.parked !== true
        )
        return due.length === 0 ? undefined : Math.min(...due.map(({ wakeAt }) => wakeAt ?? before))
      })
  }
}
