/**
 * What one process has changed and the others remember: they are told through the database, with the change itself, by
 * LISTEN/NOTIFY. A notification belongs to its transaction, and everybody gets notifications in the order of the commits.
 *
 * Listening has a connection of its own. After a gap, during which nobody knows what was missed, every subscriber reads
 * its truth again; until then `isCurrent` is false, and whoever answers from memory must ask the database instead. A
 * connection that is silently dead is found by the process's own heartbeat, which no longer comes back.
 *
 * Heartbeats also tell who listens. `settled` asks each of them and returns when all have handled what was published
 * before: a caller that is answered after it can rely on every process. A process believes its memory for no longer than a
 * lease, which begins when a heartbeat of its own is sent and counts once that has come back through the database, behind
 * all that was told before it. So whoever has waited for a lease, as `settledForCertain` does, needs no answer.
 */
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Clock, Context, Deferred, Effect, Exit, Fiber, Layer, Queue as Mailbox, Schedule, Scope } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { randomUUID } from "node:crypto"
import { Availability, rememberedMillis } from "./Availability.ts"
import { laterOf, millisAtLeast, millisAtMost, type ClockReading, readClocks } from "./LeaseClock.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"

/** What can be told; the payload is the subscriber's own affair. */
export type Topic =
  | "session"
  | "consumer"
  | "api_key"
  | "signing_key"
  | "settings"
  | "protection"
  | "catalogue"
  | "unpark"
  | "assigned"

export interface Subscriber {
  /** One notification. Handled before any that was committed later. */
  readonly handle: (payload: string) => Effect.Effect<void>
  /** Reads or forgets everything: at subscription, and after a gap. */
  readonly refresh: Effect.Effect<void, Unavailable>
}

const channel = "usher_invalidations"

const heartbeatSeconds = 2

/**
 * The lease: for so long after a heartbeat memory is believed. A connection on which this process has not heard itself for
 * so long is given up, and a process not heard is gone.
 */
const silenceSecondsMax = 6
const silenceMillisMax = silenceSecondsMax * 1000

/** How long `settled` waits at most; a process that is slower finds out by its heartbeat. */
const settleSeconds = 2

/** Answers to `settled` that may be awaited at once; beyond it nobody is asked. */
const barriersMax = 10_000

const reconnect = Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("1 second")])

export class Invalidations extends Context.Service<
  Invalidations,
  {
    /** Tells all processes, this one too, once the transaction around it has committed; at once outside of one. */
    publish(topic: Topic, payload: string): Effect.Effect<void, SqlError>
    /** Returns when every process known has handled what was committed before, or after two seconds. */
    readonly settled: Effect.Effect<void>
    /** The same, but after two seconds it goes on waiting until a process that has not answered believes itself no more: six in all. */
    readonly settledForCertain: Effect.Effect<void>
    /** Reads the subscriber's truth, and keeps it told. One subscriber a topic. */
    subscribe(topic: Topic, subscriber: Subscriber): Effect.Effect<void, Unavailable>
    /** True if nothing can have been missed; false while the connection is away, or silent for longer than a lease. */
    readonly isCurrent: () => boolean
    /** Answers `asked`; while the database is away `lastHeard` instead, if something was heard in the last minute. */
    orLastHeard<A>(asked: Effect.Effect<A, Unavailable>, lastHeard: A): Effect.Effect<A, Unavailable>
  }
>()("usher/store/coordination/Invalidations") {
  static readonly layer = Layer.effect(
    Invalidations,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const availability = yield* Availability
      const clock = yield* Clock.Clock
      const self = randomUUID()
      const subscribers = new Map<string, Subscriber>()
      const peers = new Map<string, ClockReading>()
      const barriers = new Map<string, Barrier>()
      const listening = yield* Deferred.make<void>()
      /** When the last heartbeat was sent that came back; undefined while nothing is heard. */
      let believedSince: ClockReading | undefined
      /** The same, or when listening began. Undefined while nobody listens. */
      let heardSince: ClockReading | undefined
      /** When the last heartbeat was sent that ever came back. */
      let lastHeardAt: ClockReading | undefined

      const tell = (topic: string, payload: string) =>
        Effect.asVoid(sql`select ${notification(sql, topic, sql`${payload}::text`)}`)
      const tellQuietly = (topic: string, payload: string) => Effect.ignore(tell(topic, payload))

      const acknowledged = (id: string, peer: string) => {
        const barrier = barriers.get(id)
        if (barrier?.awaited === undefined) return
        barrier.awaited.delete(peer)
        if (barrier.awaited.size === 0) Deferred.doneUnsafe(barrier.done, Exit.void)
      }

      /** Our own question has come back: whoever believes itself has been heard by now, or hears what came before it first. */
      const asked = (id: string) => {
        const barrier = barriers.get(id)
        if (barrier === undefined || barrier.awaited !== undefined) return
        barrier.awaited = new Set(peers.keys())
        if (barrier.awaited.size === 0) Deferred.doneUnsafe(barrier.done, Exit.void)
      }

      const alive = Effect.suspend(() => {
        const { wallMillis, monotonicMillis } = readClocks(clock)
        return tellQuietly("alive", `${wallMillis} ${monotonicMillis}:${self}`)
      })

      const handle = Effect.fnUntraced(function* ({ payload }: PgConnection.Notification) {
        const [topic, text] = parted(payload)
        switch (topic) {
          case "alive": {
            const [sentAt, peer] = parted(text)
            if (peer !== self) {
              const isNew = !peers.has(peer)
              peers.set(peer, readClocks(clock))
              // Who comes is told who is here, without waiting for their next heartbeat.
              return isNew ? yield* Effect.forkChild(alive) : undefined
            }
            if (heardSince === undefined) return
            const [wallMillis, monotonicMillis] = sentAt.split(" ").map(Number) as [number, number]
            lastHeardAt = heardSince = believedSince = laterOf(believedSince, { wallMillis, monotonicMillis })
            return yield* Deferred.succeed(listening, undefined)
          }
          case "gone":
            peers.delete(text)
            return barriers.forEach((_, id) => acknowledged(id, text))
          case "settle": {
            const [peer, id] = parted(text)
            return peer === self ? asked(id) : yield* Effect.forkChild(tellQuietly("settled", `${self}:${id}`))
          }
          case "settled": {
            const [peer, id] = parted(text)
            return acknowledged(id, peer)
          }
          default:
            return yield* subscribers.get(topic)?.handle(text) ?? Effect.void
        }
      })

      const heartbeat = Effect.gen(function* () {
        yield* alive.pipe(Effect.timeoutOption(heartbeatSeconds * 1000))
        yield* Effect.sleep(heartbeatSeconds * 1000)
        for (const [peer, heard] of peers) if (millisAtLeast(clock, heard) > silenceMillisMax) peers.delete(peer)
        if (heardSince !== undefined && millisAtLeast(clock, heardSince) > silenceMillisMax) {
          return yield* Effect.fail("no heartbeat comes back" as const)
        }
      }).pipe(Effect.forever)

      /** Listens until the connection fails. */
      const listen = Effect.gen(function* () {
        const connection = yield* PgConnection.make({ ...sql.config, multiplex: false })
        const notifications = yield* connection.listen(channel)
        // What is notified from here on waits in the mailbox: what is read now is older, and handling it twice does no harm.
        for (const subscriber of subscribers.values()) yield* subscriber.refresh
        heardSince = readClocks(clock)
        const receive = Effect.forever(
          Effect.flatMap(Mailbox.takeAll(notifications), (batch) => Effect.forEach(batch, handle, { discard: true }))
        )
        return yield* Effect.raceFirst(receive, heartbeat)
      })

      /** A scope that is closed behind its back: over a dead connection, saying goodbye may take minutes. */
      const attempt = Effect.acquireUseRelease(
        Scope.make(),
        (scope) => Scope.provide(listen, scope),
        (scope, exit) => {
          heardSince = believedSince = undefined
          return Effect.forkDetach(Scope.close(scope, exit))
        }
      )

      /** Returns when every process has answered, or after the given time. */
      const answered = (secondsMax: number) =>
        Effect.suspend(() => {
          const id = randomUUID()
          const done = Deferred.makeUnsafe<void>()
          barriers.set(id, { awaited: undefined, done })
          // More than once: whoever was just reconnecting has not heard it.
          const ask = Effect.repeat(tellQuietly("settle", `${self}:${id}`), Schedule.spaced("500 millis"))
          return Effect.raceFirst(Deferred.await(done), ask).pipe(
            Effect.timeoutOption(secondsMax * 1000),
            Effect.ignore,
            Effect.ensuring(Effect.sync(() => barriers.delete(id)))
          )
        })

      const listener = yield* attempt.pipe(
        Effect.tapCause((cause) =>
          Effect.logWarning("Invalidations are not heard; asking the database instead", cause)
        ),
        Effect.retry(reconnect),
        Effect.forkScoped
      )
      // After its last heartbeat, or the others would take it for alive again.
      yield* Effect.addFinalizer(() =>
        Effect.andThen(Fiber.interrupt(listener), tellQuietly("gone", self)).pipe(Effect.timeoutOption("1 second"))
      )
      yield* Deferred.await(listening)
      const started = readClocks(clock)

      return {
        publish: tell,
        isCurrent: () => believedSince !== undefined && millisAtMost(clock, believedSince) < silenceMillisMax,
        orLastHeard: (asked, lastHeard) =>
          Effect.suspend(() => {
            if (lastHeardAt === undefined || millisAtMost(clock, lastHeardAt) >= rememberedMillis) return asked
            return availability.isAway ? Effect.succeed(lastHeard) : Effect.orElseSucceed(asked, () => lastHeard)
          }),
        subscribe: (topic, subscriber) =>
          Effect.suspend(() => {
            subscribers.set(topic, subscriber)
            return subscriber.refresh
          }),
        settled: Effect.suspend(() =>
          peers.size === 0 || barriers.size >= barriersMax ? Effect.void : answered(settleSeconds)
        ),
        // Who has just come hears a heartbeat of everyone first, to know whom to wait for.
        settledForCertain: Effect.suspend(() =>
          Effect.sleep(Math.max(0, heartbeatSeconds * 1000 - millisAtLeast(clock, started)))
        ).pipe(Effect.andThen(answered(silenceSecondsMax)))
      }
    })
  )
}

interface Barrier {
  /** The processes that have not answered yet; known once the question itself has come back. */
  awaited: Set<string> | undefined
  readonly done: Deferred.Deferred<void>
}

/** The notification as an expression, for a statement that changes and tells at once. */
export const notification = (sql: SqlClient.SqlClient, topic: string, payload: Fragment): Fragment =>
  sql`pg_notify(${channel}, ${`${topic}:`}::text || ${payload})`

/** The text before the first colon, and what follows it. */
function parted(text: string): readonly [string, string] {
  const colon = text.indexOf(":")
  return [text.slice(0, colon), text.slice(colon + 1)]
}
