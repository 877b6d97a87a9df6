/**
 * A pool of connections on which no wait is without end, also while the server is stopped and its sockets stay open. A
 * caller gets a connection within one bound, and its statement is given up after another.
 *
 * The server cancels a slow statement by itself (`statement_timeout`, see `Database.ts`). The bound here is a little longer, so
 * it passes only where the server does not answer. The connection is then closed and replaced; nobody gets it again. While
 * the database is known to be away the bound is short, so that a request that asks it several times is answered soon.
 */
import { PgClient } from "@effect/sql-pg"
import { Cause, Clock, Context, Effect, Exit, Latch, Option, type Scope } from "effect"
import type { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection } from "effect/sql"
import { ConnectionError, SqlError, UnknownError } from "effect/sql/SqlError"
import type { Availability } from "../coordination/Availability.ts"
import { monotonicMillisOf } from "../coordination/LeaseClock.ts"

/** How long a caller waits, in milliseconds. */
export interface Bounds {
  /** For a connection: until one is free, or the server has accepted another. */
  readonly connectionMillis: number
  /** For the answer to one statement. */
  readonly statementMillis: number
}

/** After how long the server cancels a statement. */
export const statementTimeoutMillis = 10_000

/** How long a caller waits for a connection. */
const connectionWaitMillis = 5_000

/** How long a caller waits for either while the database is away. */
const awayMillis = 2_000

/** Between two looks at what has waited for too long. */
const lookMillis = 250

/** How long an interrupted caller waits for the server to cancel its statement, before its connection is closed. */
const cancelMillis = 1_000

/** The bounds of the statements in an effect; those of requests unless others are provided. */
export const CurrentBounds = Context.Reference<Bounds>("usher/store/postgres/BoundedClient/CurrentBounds", {
  defaultValue: () => ({
    connectionMillis: connectionWaitMillis,
    statementMillis: statementTimeoutMillis + 2 * lookMillis
  })
})

/** Runs the effect in a transaction whose statements may take as long as they need: migrations, and whatever else fills tables. */
export const withoutBounds = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(Effect.andThen(sql`set local statement_timeout = 0`, effect))
  ).pipe(
    Effect.provideService(CurrentBounds, {
      connectionMillis: connectionWaitMillis,
      statementMillis: Infinity
    })
  )

/** A client over a pool of its own; both end with the scope. `availability` tells when the database is away. */
export const make = Effect.fnUntraced(function* (
  config: PgClient.PgPoolConfig,
  availability?: Availability["Service"]
): Effect.fn.Return<PgClient.PgClient, SqlError, Scope.Scope | Reactivity.Reactivity> {
  const pool = yield* PgClient.make(config)
  const { within, noteAnswer } = yield* makeWaits(() => availability?.isAway === true)

  const lease = Effect.contextWith((context: Context.Context<Scope.Scope>) => {
    const { connectionMillis } = Context.get(context, CurrentBounds)
    return Effect.map(within(pool.reserve, connectionMillis, noConnection), (connection) =>
      boundedConnection(connection, within, noteAnswer)
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

/** Runs an effect in a fiber of its own for at most so long; then fails with what `late` says, and leaves it to end by itself. */
type Within = <A, R>(
  effect: Effect.Effect<A, SqlError, R>,
  millis: number,
  late: () => SqlError
) => Effect.Effect<A, SqlError, R>

/** What waits, since when and until when in milliseconds of the monotonic clock. */
interface Wait {
  readonly since: number
  readonly until: number
  readonly giveUp: () => void
}

/**
 * One fiber looks after all waits, so a statement costs no timer. A wait ends in time inside an uninterruptible region too,
 * where `BEGIN` and `COMMIT` run.
 */
const makeWaits = Effect.fnUntraced(function* (isAway: () => boolean) {
  const clock = yield* Clock.Clock
  const waits = new Set<Wait>()
  const occupied = Latch.makeUnsafe()
  /** When a statement was answered last. */
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
    yield* Effect.sleep(lookMillis)
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
          const patience = waitFor(cancelMillis, () => done(Effect.void))
          fiber.addObserver(() => {
            if (waits.delete(patience)) done(Effect.void)
          })
          fiber.interruptUnsafe()
        })
      })
    )

  return { within, noteAnswer: () => void (answeredAt = monotonicMillisOf(clock)) }
})

/** A leased connection whose statements have a bound. After one was given up it is of no use: its lease closes it. */
const boundedConnection = (
  connection: SqlConnection.Connection,
  within: Within,
  noteAnswer: () => void
): SqlConnection.Connection => {
  let lost: SqlError | undefined

  const bounded = <A>(statement: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
    Effect.contextWith((context: Context.Context<never>) => {
      if (lost !== undefined) return Effect.fail(lost)
      const { statementMillis } = Context.get(context, CurrentBounds)
      return within(
        Effect.onExit(statement, (exit) => Effect.sync(() => isAnswer(exit) && noteAnswer())),
        statementMillis,
        () => (lost = late("The database did not answer in time"))
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

/**
 * What a client sends to undo (a part of) a transaction, or to forget its savepoint. The end of a connection undoes the whole
 * transaction, so such a statement succeeds without one; a failure would be a defect, and hide why the transaction failed.
 */
const undoing = /^(ROLLBACK|RELEASE SAVEPOINT)\b/

/** The connection is gone, or the server has said that it ends it (57P01 to 57P05). */
export const isConnectionLost = ({ reason }: SqlError): boolean => {
  if (reason._tag === "ConnectionError") return true
  const code = (reason.cause as { readonly code?: unknown } | undefined)?.code
  return typeof code === "string" && code.startsWith("57P")
}

/** Rows, or an error of the server's. */
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
