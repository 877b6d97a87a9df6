/**
 * Notifies all processes of changes to data that they cache, by LISTEN/NOTIFY. A notification carries the change
 * itself and belongs to its transaction. All processes receive notifications in the order of the commits.
 *
 * After a gap, during which notifications may be lost, every subscriber reads its data again. Until then `isCurrent`
 * is false, and callers must read the database instead of caches. Listening has its own connection. If it is silently
 * dead, the process's own heartbeat no longer comes back.
 *
 * Heartbeats show which processes listen. `settled` asks each of them, and returns when all have handled what was
 * published before. Caches are valid only during a lease, which begins when a process sends a heartbeat. The lease
 * counts once that heartbeat has come back, behind all earlier notifications. So a caller that waits for a whole
 * lease (`settledForCertain`) needs no answer.
 */
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Context, Deferred, Effect, Fiber, Layer, Queue as Mailbox, Schedule, Scope, Exit } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { randomUUID } from "node:crypto"
import { Availability, rememberedMillis } from "./Availability.ts"
import { laterOf, millisAtLeast, millisAtMost, type ClockReading, readClocks } from "./LeaseClock.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { annotated } from "../../measures/StateChange.ts"
import * as Time from "./Time.ts"

/** The topics of notifications. The subscriber defines the payload. */
export type Topic =
  | "session"
  | "consumer"
  | "api_key"
  | "gate"
  | "gate_report"
  | "signing_key"
  | "settings"
  | "protection"
  | "catalogue"
  | "unpark"
  | "assigned"
  | "challenge"
  | "places"
  | "test_clock"
  | "rehearsal"

export interface Subscriber {
  /** Handles one notification, before any that was committed later. */
  readonly handle: (payload: string) => Effect.Effect<void>
  /** Reads or forgets all data: at subscription, and after a gap. */
  readonly refresh: Effect.Effect<void, Unavailable>
}

const channel = "usher_invalidations"

const heartbeatSeconds = 2

/**
 * The lease in seconds. Caches are valid for this long after a heartbeat. After this time without a heartbeat, a
 * process closes its own connection, and other processes count as gone.
 */
const silenceSecondsMax = 6
const silenceMillisMax = silenceSecondsMax * 1000

/** How long `settled` waits at most. A slower process notices by its heartbeat. */
const settleSeconds = 2

const reconnect = Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("1 second")])

export class Invalidations extends Context.Service<
  Invalidations,
  {
    /** Notifies all processes, including this one, once the surrounding transaction, if any, has committed. */
    publish(topic: Topic, payload: string): Effect.Effect<void, SqlError>
    /**
     * Returns when every known process, this one included, has handled what was committed before, or after two seconds.
     */
    readonly settled: Effect.Effect<void>
    /**
     * Like `settled`, but waits up to six seconds. By then the lease of a process that has not answered has expired.
     */
    readonly settledForCertain: Effect.Effect<void>
    /** Reads the subscriber's data and keeps it up to date, until the scope closes. */
    subscribe(topic: Topic, subscriber: Subscriber): Effect.Effect<void, Unavailable, Scope.Scope>
    /**
     * True if no notification can have been missed. False while the connection is away, or silent for longer than a
     * lease.
     */
    readonly isCurrent: () => boolean
    /**
     * Returns the result of `query`; while the database is away `lastHeard`, if a heartbeat came back in the last
     * minute.
     */
    orLastHeard<A>(query: Effect.Effect<A, Unavailable>, lastHeard: A): Effect.Effect<A, Unavailable>
  }
>()("usher/store/coordination/Invalidations") {
  static readonly layer = Layer.effect(Invalidations)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const availability = yield* Availability
      const clock = yield* Time.serverClock
      const self = randomUUID()
      const subscribers = new Subscribers()
      const peers = new Map<string, ClockReading>()
      const barriers = new Barriers()
      const listening = yield* Deferred.make<void>()
      /** When the last returned heartbeat was sent; undefined while none comes back. */
      let validSince: ClockReading | undefined
      /** The same, or when listening began; undefined while this process does not listen. */
      let heardSince: ClockReading | undefined
      /** When the last heartbeat that ever came back was sent. */
      let lastHeardAt: ClockReading | undefined

      const notify = (topic: string, payload: string) =>
        Effect.asVoid(sql`select ${notification(sql, topic, sql`${payload}::text`)}`)
      const notifyQuietly = (topic: string, payload: string) => Effect.ignore(notify(topic, payload))

      const alive = Effect.suspend(() => {
        const { wallMillis, monotonicMillis } = readClocks(clock)
        return notifyQuietly("alive", `${wallMillis} ${monotonicMillis}:${self}`)
      })

      const handle = Effect.fnUntraced(function* ({ payload }: PgConnection.Notification) {
        const [topic, text] = splitAtColon(payload)
        switch (topic) {
          case "alive": {
            const [sentAt, peer] = splitAtColon(text)
            if (peer !== self) {
              const isNew = !peers.has(peer)
              peers.set(peer, readClocks(clock))
              // A new process learns which processes are alive without waiting for their next heartbeats.
              return isNew ? yield* Effect.forkChild(alive) : undefined
            }
            if (heardSince === undefined) return
            const [wallMillis, monotonicMillis] = sentAt.split(" ").map(Number) as [number, number]
            lastHeardAt = heardSince = validSince = laterOf(validSince, { wallMillis, monotonicMillis })
            return yield* Deferred.succeed(listening, undefined)
          }
          case "gone":
            peers.delete(text)
            return barriers.remove(text)
          case "settle": {
            const [peer, id] = splitAtColon(text)
            // Every process with a valid lease has been heard by now, or receives earlier notifications first.
            if (peer === self) return barriers.begin(id, peers.keys())
            return yield* Effect.forkChild(notifyQuietly("settled", `${self}:${id}`))
          }
          case "settled": {
            const [peer, id] = splitAtColon(text)
            return barriers.answer(id, peer)
          }
          default:
            return yield* subscribers.handle(topic, text)
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
        // Later notifications wait in the mailbox. Handling one that the refresh has already seen does no harm.
        yield* subscribers.refresh
        heardSince = readClocks(clock)
        const receive = Effect.forever(
          Effect.flatMap(Mailbox.takeAll(notifications), (batch) => Effect.forEach(batch, handle, { discard: true }))
        )
        return yield* Effect.raceFirst(receive, heartbeat)
      })

      /** The scope is closed in the background, because closing a dead connection may take minutes. */
      const attempt = Effect.acquireUseRelease(
        Scope.make(),
        (scope) => Scope.provide(listen, scope),
        (scope, exit) => {
          heardSince = validSince = undefined
          return Effect.forkDetach(Scope.close(scope, exit))
        }
      )

      const answered = (secondsMax: number) =>
        barriers.wait(secondsMax, (id) => notifyQuietly("settle", `${self}:${id}`))

      const listener = yield* attempt.pipe(Effect.tapCause(logLost), Effect.retry(reconnect), Effect.forkScoped)
      // After the last heartbeat, or the others would count this process as alive again.
      yield* Effect.addFinalizer(() =>
        Effect.andThen(Fiber.interrupt(listener), notifyQuietly("gone", self)).pipe(Effect.timeoutOption("1 second"))
      )
      yield* Deferred.await(listening)
      const started = readClocks(clock)

      return {
        publish: notify,
        isCurrent: () => validSince !== undefined && millisAtMost(clock, validSince) < silenceMillisMax,
        orLastHeard: (query, lastHeard) =>
          Effect.suspend(() => {
            if (lastHeardAt === undefined || millisAtMost(clock, lastHeardAt) >= rememberedMillis) return query
            return availability.isAway ? Effect.succeed(lastHeard) : Effect.orElseSucceed(query, () => lastHeard)
          }),
        subscribe: (topic, subscriber) => subscribers.add(topic, subscriber),
        settled: Effect.suspend(() =>
          (peers.size === 0 && heardSince === undefined) || barriers.isFull ? Effect.void : answered(settleSeconds)
        ),
        // A new process first receives a heartbeat of every other process, to know which to wait for.
        settledForCertain: Effect.suspend(() =>
          Effect.sleep(Math.max(0, heartbeatSeconds * 1000 - millisAtLeast(clock, started)))
        ).pipe(Effect.andThen(answered(silenceSecondsMax)))
      }
    })
  )
}

/** The subscribers whose scopes are open, in the order of their subscriptions. */
class Subscribers {
  private readonly added = new Set<{ readonly topic: string; readonly subscriber: Subscriber }>()

  readonly refresh = Effect.suspend(() =>
    Effect.forEach(this.added, ({ subscriber }) => subscriber.refresh, { discard: true })
  )

  add(topic: Topic, subscriber: Subscriber): Effect.Effect<void, Unavailable, Scope.Scope> {
    const entry = { topic, subscriber }
    return Effect.acquireRelease(
      Effect.sync(() => this.added.add(entry)),
      () => Effect.sync(() => this.added.delete(entry))
    ).pipe(Effect.andThen(subscriber.refresh))
  }

  handle(topic: string, payload: string): Effect.Effect<void> {
    const addressed = [...this.added].filter((entry) => entry.topic === topic)
    return Effect.forEach(addressed, ({ subscriber }) => subscriber.handle(payload), { discard: true })
  }
}

/** The notification as an SQL expression, for a statement that changes data and notifies at once. */
export const notification = (sql: SqlClient.SqlClient, topic: string, payload: Fragment): Fragment =>
  sql`pg_notify(${channel}, ${`${topic}:`}::text || ${payload})`

/** Returns the text before the first colon, and the text after it. */
function splitAtColon(text: string): readonly [string, string] {
  const colon = text.indexOf(":")
  return [text.slice(0, colon), text.slice(colon + 1)]
}

const logLost = (cause: unknown) =>
  annotated("invalidations.lost")(
    Effect.logWarning("No invalidations are received; reading the database instead", cause)
  )

/** Calls of `settled` that may wait at once. Beyond this number a call returns immediately. */
const barriersMax = 10_000

interface Barrier {
  /** The processes that have not answered yet; undefined until the question itself has come back. */
  awaited: Set<string> | undefined
  readonly done: Deferred.Deferred<void>
}

/** The questions with which this process waits until other processes have handled all earlier notifications. */
export class Barriers {
  private readonly barriers = new Map<string, Barrier>()

  get isFull(): boolean {
    return this.barriers.size >= barriersMax
  }

  /** Sends a question through `ask`. Returns when every process has answered, or after the given time. */
  wait(secondsMax: number, ask: (id: string) => Effect.Effect<void>): Effect.Effect<void> {
    return Effect.suspend(() => {
      const id = randomUUID()
      const done = Deferred.makeUnsafe<void>()
      this.barriers.set(id, { awaited: undefined, done })
      // The question is repeated, because a process that was reconnecting has missed it.
      return Effect.raceFirst(Deferred.await(done), Effect.repeat(ask(id), Schedule.spaced("500 millis"))).pipe(
        Effect.timeoutOption(secondsMax * 1000),
        Effect.ignore,
        Effect.ensuring(Effect.sync(() => this.barriers.delete(id)))
      )
    })
  }

  /** Handles the return of a question to this process: from now on it awaits the answers of `peers`. */
  begin(id: string, peers: Iterable<string>): void {
    const barrier = this.barriers.get(id)
    if (barrier === undefined || barrier.awaited !== undefined) return
    barrier.awaited = new Set(peers)
    endIfAnswered(barrier)
  }

  /** Handles a process's answer. */
  answer(id: string, peer: string): void {
    const barrier = this.barriers.get(id)
    if (barrier?.awaited === undefined) return
    barrier.awaited.delete(peer)
    endIfAnswered(barrier)
  }

  /** Handles the end of a process: its questions no longer await an answer. */
  remove(peer: string): void {
    for (const id of this.barriers.keys()) this.answer(id, peer)
  }
}

const endIfAnswered = ({ awaited, done }: Barrier): void => {
  if (awaited?.size === 0) Deferred.doneUnsafe(done, Exit.void)
}
