/**
 * The heartbeat of a serving process. Every two seconds it updates the process's row in `nodes`, on its own
 * connection, so that no load can delay it. Other programs see that the process is alive, and do not change the
 * schema under it. A load balancer learns whether the database takes writes, and the process itself learns that the
 * database is away, and what time it is there.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Deferred, Effect, Layer } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient, type SqlError } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { DatabaseMeasures } from "../../measures/DatabaseMeasures.ts"
import { Measures } from "../../measures/Measures.ts"
import type { StartRefused } from "../../settings/Settings.ts"
import { Availability } from "./Availability.ts"
import { CurrentRelease } from "./CurrentRelease.ts"
import { DatabaseClock, type DatabaseTime, machineOf } from "./DatabaseClock.ts"
import { Installation } from "./Installation.ts"
import { monotonicMillisOf } from "./LeaseClock.ts"
import { FormatVersion } from "./FormatVersion.ts"
import * as BoundedClient from "../postgres/BoundedClient.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import * as Migrations from "../postgres/Migrations.ts"
import { problemOf } from "../postgres/SchemaState.ts"
import * as Nodes from "./Nodes.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { annotated } from "../../measures/StateChange.ts"
import * as Time from "./Time.ts"

/** Time between two updates. */
const beatSeconds = 2

/** How long one update may take. */
const bounds = { connectionMillis: 2_000, statementMillis: 3_000 }

/** How long a stopping process waits until its row is removed. */
const leaveSeconds = 1

export class Heartbeat extends Context.Service<
  Heartbeat,
  {
    /** The id of this process's row. */
    readonly id: string
    /**
     * Returns why the last update failed, or why the last writes of callers did; undefined while the database takes
     * writes. Reads memory only.
     */
    readonly problem: () => string | undefined
    /** Returns why this process must not work with the database, even if it takes writes. Reads memory only. */
    readonly conflict: () => string | undefined
    /**
     * Returns when the installation has changed under this process: a restore has replaced the database, or an operator has
     * ended the hold. The process must begin again.
     */
    readonly changed: Effect.Effect<"restored" | "resumed">
    /** Records that this process is a node of a cluster. */
    join(membership: Nodes.Membership): Effect.Effect<void, Unavailable>
  }
>()("usher/store/coordination/Heartbeat") {
  /** Inserts a row for the process called `name`, and keeps it up to date while the scope lives. */
  static readonly layer = ({ name }: { readonly name: string }) =>
    Layer.effect(
      Heartbeat,
      Effect.gen(function* () {
        const sql = yield* ownClient
        const availability = yield* Availability
        const clock = yield* Time.serverClock
        const { database: measures } = yield* Measures
        const onOwnConnection = runningOn(sql)
        const installation = yield* watchInstallation
        const id = randomUUID()
        let membership: Nodes.Membership | undefined
        let problem: string | undefined
        let conflict: string | undefined
        const currentProblem = () => problem ?? measures.statements.problem(monotonicMillisOf(clock))
        measures.isWritable = () => currentProblem() === undefined

        const enter = Migrations.whileCurrent(
          Effect.gen(function* () {
            yield* Nodes.enter({ id, name, release: yield* CurrentRelease })
            if (membership !== undefined) yield* Nodes.join(id, membership)
          })
        )

        /** After a long silence the row may have been removed, and an upgrade may have been finished. */
        const beat = Effect.gen(function* () {
          const { isThere, time, ...found } = yield* Nodes.beat(id)
          noteTime(clock, measures, time)
          conflict = yield* installation.compare(found)
          if (!isThere && conflict === undefined) yield* enter
          return conflict
        })

        const note = (found: string | undefined, isAway: boolean) => {
          const log = logChange(problem, found)
          problem = found
          availability.isAway = isAway
          return log
        }
        const noted = Effect.matchEffect(beat, {
          onSuccess: (found) => note(found, false),
          onFailure: (error) => note(refusalOf(error) ?? "out of reach", refusalOf(error) === undefined)
        })

        yield* onOwnConnection(enter)
        yield* Effect.addFinalizer(() =>
          onOwnConnection(Nodes.leave(id)).pipe(Effect.timeoutOption(`${leaveSeconds} seconds`), Effect.ignore)
        )
        // The first one comes before anything that needs the time.
        yield* onOwnConnection(noted)
        yield* Effect.forkScoped(Effect.forever(Effect.delay(onOwnConnection(noted), `${beatSeconds} seconds`)))
        return {
          id,
          problem: currentProblem,
          conflict: () => conflict,
          changed: installation.changed,
          join: (joined) =>
            onOwnConnection(sql.withTransaction(Nodes.join(id, joined))).pipe(
              Effect.tap(() => Effect.sync(() => void (membership = joined))),
              orUnavailable
            )
        }
      })
    )
}

/** The installation, as a heartbeat finds it. */
interface Found {
  readonly timeline: string
  readonly isHeld: boolean
  readonly base: number
  readonly formatVersion: number
}

/** Compares the installation with the one that this process works for. */
const watchInstallation = Effect.gen(function* () {
  const { timeline, heldAt } = yield* Installation
  const release = yield* CurrentRelease
  const writtenVersion = yield* FormatVersion
  const changed = yield* Deferred.make<"restored" | "resumed">()
  return {
    changed: Deferred.await(changed),
    /** Returns why this process must not write to the database; undefined if it may. */
    compare: (found: Found) => {
      const isOther = timeline !== "" && found.timeline !== timeline
      const isResumed = heldAt !== undefined && !found.isHeld
      const signal = isOther || isResumed ? Deferred.succeed(changed, isOther ? "restored" : "resumed") : Effect.void
      const problem = isOther ? "restored from a backup" : problemOf(found, release)
      if (problem === undefined) writtenVersion.current = found.formatVersion
      return Effect.as(signal, problem)
    }
  }
})

/** Notes how far the database's clock is ahead, with an error of half the time of the question, and corrects the time. */
const noteTime = (clock: Clock.Clock, measures: DatabaseMeasures, time: DatabaseTime): void => {
  const { databaseMillis, sentNanos, receivedNanos } = time
  const middleMillis = machineOf(clock).currentTimeMillisUnsafe() - Number(receivedNanos - sentNanos) / 2e6
  measures.clockOffsetSeconds = (databaseMillis - middleMillis) / 1_000
  if (clock instanceof DatabaseClock) clock.observe(time)
}

/** Makes the function that runs statements on a connection, within the bounds of a heartbeat. */
const runningOn =
  (sql: SqlClient.SqlClient) =>
  <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
    effect.pipe(
      Effect.provideService(SqlClient.SqlClient, sql),
      Effect.provideService(BoundedClient.CurrentBounds, bounds)
    )

/** A client with one connection of its own. */
const ownClient = Effect.flatMap(PgClient.PgClient, ({ config }) =>
  BoundedClient.make({ ...config, connectTimeout: bounds.connectionMillis, minConnections: 0, maxConnections: 1 })
).pipe(Effect.provide(Reactivity.layer))

/** Logs the beginning and the end of an outage. */
const logChange = (before: string | undefined, now: string | undefined): Effect.Effect<void> => {
  if ((before === undefined) === (now === undefined)) return Effect.void
  return now === undefined
    ? annotated("database.back")(Effect.logInfo("The database takes writes again"))
    : annotated("database.lost")(Effect.logError(`The heartbeat could not be written: ${now}`))
}

/** Returns why the server refused the update; undefined if the server did not answer. */
const refusalOf = (error: SqlError.SqlError | StartRefused): string | undefined => {
  if (error._tag === "StartRefused") return error.message
  if (BoundedClient.isConnectionLost(error)) return undefined
  const { cause } = error.reason
  return `takes no writes: ${cause instanceof Error ? cause.message : error.message}`
}
