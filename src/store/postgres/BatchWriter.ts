/**
 * Writes many rows in one statement. A drop brings its consumers all at once: rows that arrive during a write go into
 * the next statement together. Each row is on disk before its caller gets the result.
 *
 * If the database refuses the content of one row, only that row fails. The writer halves the statement until that row
 * stands alone. A refused statement has written nothing.
 */
import { Cause, Deferred, Effect, Exit, Option, Queue as Mailbox } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { Measures } from "../../measures/Measures.ts"
import { Unavailable } from "./Unavailable.ts"
import { isRefusal, orUnavailable } from "./SqlFailure.ts"

/** Rows in one statement at most. */
const batchSizeMax = 1_000

/** Statements in progress at once: while one commits, the next is sent. */
const writers = 2

/** Rows that may wait to be written. Beyond this number a row fails immediately. */
const waitingMax = 32_768

/** How long a batch may take. After that its rows fail with an unknown outcome. */
const writeSeconds = 10

interface Waiting<Row, A> {
  readonly row: Row
  readonly done: Deferred.Deferred<A, Unavailable>
}

/**
 * Makes a function that writes one row and returns its result. `write` writes many rows at once, and returns their
 * results in the same order. `what` names the rows in the log.
 */
export const make = Effect.fnUntraced(function* <Row, A>(
  what: string,
  write: (rows: ReadonlyArray<Row>) => Effect.Effect<ReadonlyArray<A>, SqlError>
) {
  const waiting = yield* Mailbox.dropping<Waiting<Row, A>>(waitingMax)
  const { statements } = (yield* Measures).database

  const writeBatch = Effect.fnUntraced(function* (batch: ReadonlyArray<Waiting<Row, A>>): Effect.fn.Return<void> {
    const attempt = yield* Effect.exit(writeInTime(batch))
    if (batch.length > 1 && Exit.isFailure(attempt) && isRefused(attempt.cause)) {
      const half = batch.length >> 1
      yield* writeBatch(batch.slice(0, half))
      return yield* writeBatch(batch.slice(half))
    }
    if (Exit.isSuccess(attempt)) statements.written()
    const exit = yield* attempt.pipe(
      orUnavailable,
      Effect.tapCause((cause) => Effect.logError(`${batch.length} ${what} could not be written`, cause)),
      Effect.exit
    )
    for (const [index, { done }] of batch.entries()) {
      Deferred.doneUnsafe(
        done,
        Exit.map(exit, (answers) => answers[index]!)
      )
    }
  })

  const writeInTime = (batch: ReadonlyArray<Waiting<Row, A>>) =>
    write(batch.map(({ row }) => row)).pipe(
      Effect.timeout(writeSeconds * 1000),
      Effect.tapErrorTag("TimeoutError", refuseWaiting),
      Effect.catchTag("TimeoutError", (cause) => Effect.fail(new Unavailable({ cause })))
    )

  /** Fails all waiting rows when the database does not answer, so that they do not wait for another timeout. */
  const refuseWaiting = (cause: Cause.TimeoutError) =>
    Effect.map(Mailbox.clear(waiting), (rows) => {
      for (const { done } of rows) Deferred.doneUnsafe(done, Exit.fail(new Unavailable({ cause })))
    })

  const work = Effect.forever(Effect.flatMap(Mailbox.takeBetween(waiting, 1, batchSizeMax), writeBatch))
  for (let writer = 0; writer < writers; writer++) yield* Effect.forkScoped(work)

  return (row: Row) =>
    Effect.suspend(() => {
      const done = Deferred.makeUnsafe<A, Unavailable>()
      return Mailbox.offerUnsafe(waiting, { row, done })
        ? Deferred.await(done)
        : Effect.fail(new Unavailable({ cause: `too many ${what} arrive at once` }))
    })
})

/** True if the content of one row may have caused the failure. */
const isRefused = (cause: Cause.Cause<SqlError | Unavailable>): boolean =>
  Option.exists(Cause.findErrorOption(cause), (error) => error._tag === "SqlError" && isRefusal(error))
