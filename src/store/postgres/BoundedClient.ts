/**
 * A connection pool on which every wait has a bound, even while the server is stopped and its sockets stay open. A
 * caller gets a connection within one bound. Its statement is given up after another.
 *
 * The server itself cancels a slow statement (`statement_timeout`, see `Database.ts`). The bound here is a little
 * longer, so it expires only where the server does not answer. The connection is then closed and replaced. While the
 * database is known to be away the bound is short, so that a request with several statements is answered soon.
 */
import { PgClient } from "@effect/sql-pg"
import { Cause, Context, Effect, Exit, Latch, Option, type Scope } from "effect"
import type { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection } from "effect/sql"
import { ConnectionError, SqlError, UnknownError } from "effect/sql/SqlError"
import type { DatabaseMeasures, ConnectionMeasures } from "../../measures/DatabaseMeasures.ts"
import type { Availability } from "../coordination/Availability.ts"
import type { StatementOutcomes } from "../../measures/StatementOutcomes.ts"
import { monotonicMillisOf } from "../coordination/LeaseClock.ts"
import { failureCause } from "./SqlFailure.ts"
import * as Time from "../coordination/Time.ts"

/** How long a caller waits, in milliseconds. */
export interface Bounds {
  /** For a connection: until one is free, or the server has accepted another. */
  readonly connectionMillis: number
  /** For the answer to one statement. */
  readonly statementMillis: number
}

/** The time after which the server cancels a statement. */
export const statementTimeoutMillis = 10_000

/** How long a caller waits for a connection. */
const connectionWaitMillis = 5_000

/** How long a caller waits for a connection or an answer while the database is away. */
const awayMillis = 2_000

/** Time between two checks for waits that have expired. */
const checkMillis = 250

/** How long an interrupted caller waits for the server to cancel its statement, before its connection is closed. */
const cancelMillis = 1_000

/** The bounds of the statements in an effect. The default is for requests. */
export const CurrentBounds = Context.Reference<Bounds>("usher/store/postgres/BoundedClient/CurrentBounds", {
  defaultValue: () => ({
    connectionMillis: connectionWaitMillis,
    statementMillis: statementTimeoutMillis + 2 * checkMillis
  })
})

/** Runs the effect in a transaction whose statements have no time limit. For migrations and other bulk work. */
export const withoutBounds = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(Effect.andThen(sql`set local statement_timeout = 0`, effect))
  ).pipe(
    Effect.provideService(CurrentBounds, {
      connectionMillis: connectionWaitMillis,
      statementMillis: Infinity
    })
  )

/**
 * Makes a client over its own pool; both end with the scope. `availability` says when the database is away. `measures`
 * counts the leases and the failures of statements.
 */
export const make = Effect.fnUntraced(function* (
  config: PgClient.PgPoolConfig,
  availability?: Availability["Service"],
  measures?: DatabaseMeasures
): Effect.fn.Return<PgClient.PgClient, SqlError, Scope.Scope | Reactivity.Reactivity> {
  const pool = yield* PgClient.make(config)
  const { within, noteAnswer } = yield* makeWaits(() => availability?.isAway === true)

  const lease = Effect.contextWith((context: Context.Context<Scope.Scope>) => {
    const { connectionMillis } = Context.get(context, CurrentBounds)
    const reserved = within(pool.reserve, connectionMillis, noConnection)
    if (measures === undefined) {
      return Effect.map(reserved, (connection) => boundedConnection(connection, within, noteAnswer))
    }
    const noteFailure = noting(measures.statements)
    return Effect.map(noteFailure(counted(reserved, measures.connections)), (connection) =>
      boundedConnection(connection, within, noteAnswer, noteFailure)
    )
  })

  return Object.assign(
    yield* SqlClient.make({
      driver: "postgresql",
      acquirer: lease,
      borrower: (use) => Effect.scoped(Effect.flatMap(lease, use)),
      transactionAcquirer: lease,
      prepareTransactionControls: true,
      commit,
      releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
      compiler: PgClient.makeCompiler(),
      spanAttributes: [["db.system.name", "postgresql"]]
    }),
    {
      [PgClient.TypeId]: PgClient.TypeId,
      config,
      json: pool.json,
      listen: pool.listen,
      notify: pool.notify
    }
  )
})

/**
 * Runs an effect in its own fiber. After the given time it fails with the error of `late`, and the effect continues on
 * its own.
 */
type Within = <A, R>(
  effect: Effect.Effect<A, SqlError, R>,
  millis: number,
  late: () => SqlError
) => Effect.Effect<A, SqlError, R>

/** A wait, with its start and its end in milliseconds of the monotonic clock. */
interface Wait {
  readonly since: number
  readonly until: number
  readonly giveUp: () => void
}

/**
 * Makes one fiber that watches all waits, so a statement costs no timer. A wait also expires inside an
 * uninterruptible region, where `BEGIN` and `COMMIT` run.
 */
const makeWaits = Effect.fnUntraced(function* (isAway: () => boolean) {
  const clock = yield* Time.serverClock
  const waits = new Set<Wait>()
  const occupied = Latch.makeUnsafe()
  /** When a statement was last answered. */
  let answeredAt = -Infinity

  const waitFor = (millis: number, giveUp: () => void): Wait => {
    const since = monotonicMillisOf(clock)
    const wait = { since, until: since + millis, giveUp }
    waits.add(wait)
    occupied.openUnsafe()
    return wait
  }

  const watchdog = Effect.gen(function* () {
    yield* occupied.await
    yield* Effect.sleep(checkMillis)
    const now = monotonicMillisOf(clock)
    const givenUpSince = isAway() && now - answeredAt > awayMillis ? now - awayMillis : -Infinity
    for (const wait of waits) {
      if (wait.until > now && (wait.since > givenUpSince || wait.until === Infinity)) continue
      waits.delete(wait)
      wait.giveUp()
    }
    if (waits.size === 0) occupied.closeUnsafe()
  })
  yield* Effect.forkScoped(Effect.forever(watchdog))

  const within: Within = <A, R>(effect: Effect.Effect<A, SqlError, R>, millis: number, late: () => SqlError) =>
    Effect.contextWith((context: Context.Context<R>) =>
      Effect.callback<A, SqlError>((resume) => {
        const fiber = Effect.runForkWith(context)(effect)
        const wait = waitFor(millis, () => {
          fiber.interruptUnsafe()
          resume(Effect.fail(late()))
        })
        fiber.addObserver((exit) => {
          if (waits.delete(wait)) resume(exit)
        })
        return Effect.callback<void>((done) => {
          waits.delete(wait)
          const cancellation = waitFor(cancelMillis, () => done(Effect.void))
          fiber.addObserver(() => {
            if (waits.delete(cancellation)) done(Effect.void)
          })
          fiber.interruptUnsafe()
        })
      })
    )

  return { within, noteAnswer: () => void (answeredAt = monotonicMillisOf(clock)) }
})

/**
 * Wraps a leased connection so that its statements have a bound. After one was given up, the connection fails every
 * statement, and its lease closes it.
 */
const boundedConnection = (
  connection: SqlConnection.Connection,
  within: Within,
  noteAnswer: () => void,
  noteFailure: ReturnType<typeof noting> = (statement) => statement
): SqlConnection.Connection => {
  let lost: SqlError | undefined

  const bounded = <A>(statement: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
    Effect.contextWith((context: Context.Context<never>) => {
      if (lost !== undefined) return Effect.fail(lost)
      const { statementMillis } = Context.get(context, CurrentBounds)
      return noteFailure(
        within(
          Effect.onExit(statement, (exit) => Effect.sync(() => isAnswer(exit) && noteAnswer())),
          statementMillis,
          () => (lost = late("The database did not answer in time"))
        )
      )
    })

  return {
    execute: (sql, ...rest) => {
      const executed = bounded(connection.execute(sql, ...rest))
      return undoing.test(sql) ? Effect.catchIf(executed, isConnectionLost, () => Effect.succeed([])) : executed
    },
    executeRaw: (...statement) => bounded(connection.executeRaw(...statement)),
    executeStream: (...statement) => connection.executeStream(...statement),
    executeValues: (...statement) => bounded(connection.executeValues(...statement)),
    executeValuesUnprepared: (...statement) => bounded(connection.executeValuesUnprepared(...statement)),
    executeUnprepared: (...statement) => bounded(connection.executeUnprepared(...statement))
  }
}

/** Makes the function that counts the failure of a statement, or of the wait for a connection. */
export const noting =
  (statements: StatementOutcomes) =>
  <A, R>(statement: Effect.Effect<A, SqlError, R>): Effect.Effect<A, SqlError, R> =>
    Effect.tapError(statement, (error) =>
      Effect.flatMap(Time.serverClock, (clock) => {
        const cause = failureCause(error)
        if (cause !== undefined) statements.failed(cause, monotonicMillisOf(clock))
        return Effect.void
      })
    )

/**
 * The statements that undo a transaction or a part of it, or release its savepoint. The end of a connection undoes
 * the whole transaction, so such a statement succeeds without a connection. A failure would be a defect and hide why
 * the transaction failed.
 */
const undoing = /^(ROLLBACK|RELEASE SAVEPOINT)\b/

/** True if the connection is gone, or the server has announced that it ends it (57P01 to 57P05). */
export const isConnectionLost = ({ reason }: SqlError): boolean => {
  if (reason._tag === "ConnectionError") return true
  const code = (reason.cause as { readonly code?: unknown } | undefined)?.code
  return typeof code === "string" && code.startsWith("57P")
}

/** True for a failure without an answer, or caused by one, after which another try may succeed. */
export const isTransient = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  if (error instanceof SqlError) return isConnectionLost(error)
  return (error as { readonly _tag?: unknown })._tag === "Unavailable" || isTransient(error.cause)
}

/** True for rows, and for an error that the server sent. */
const isAnswer = (exit: Exit.Exit<unknown, SqlError>): boolean =>
  Exit.isSuccess(exit) || Option.exists(Cause.findErrorOption(exit.cause), (error) => !isConnectionLost(error))

const late = (message: string): SqlError =>
  new SqlError({ reason: new ConnectionError({ cause: new Error(message), message, operation: "query" }) })

const noConnection = () => late("No connection to the database was free in time")

/** Postgres answers `ROLLBACK` to the `COMMIT` of a transaction that has failed. */
const commit = (connection: SqlConnection.Connection): Effect.Effect<void, SqlError> =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) => {
    if ((result as { readonly command?: string }).command !== "ROLLBACK") return Effect.void
    const message = "The transaction had failed, and was rolled back at its end"
    return Effect.fail(
      new SqlError({ reason: new UnknownError({ cause: new Error(message), message, operation: "commit" }) })
    )
  })

/** Returns a lease that counts itself until its scope ends. */
export const counted = <A, E>(lease: Effect.Effect<A, E, Scope.Scope>, measures: ConnectionMeasures) =>
  Effect.flatMap(Time.serverClock, (clock) => {
    const startedAt = clock.monotonicTimeNanosUnsafe()
    measures.waiting++
    return Effect.onExit(lease, (exit) => {
      measures.waiting--
      measures.waitSeconds.add(Number(clock.monotonicTimeNanosUnsafe() - startedAt) / 1e9)
      if (Exit.isFailure(exit)) return Effect.void
      measures.inUse++
      return Effect.addFinalizer(() => Effect.sync(() => void measures.inUse--))
    })
  })
