/**
 * Writes rows many in a statement. A drop brings its consumers all at once: those who arrive while a write is under way
 * travel together in the next one. Each is on disk before it is answered.
 */
import { Cause, Deferred, Effect, Exit, Queue as Mailbox } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { Unavailable } from "./Unavailable.ts"
import { orUnavailable } from "./SqlFailure.ts"

/** Rows in one statement at most. */
const batchSizeMax = 1_000

/** Statements under way at once: while one is being committed the next is sent. */
const writers = 2

/** Rows that may wait to be written; beyond it they are better told. */
const waitingMax = 32_768

/** How long a batch may take before its rows are told that the outcome is unknown. */
const writeSeconds = 10

interface Waiting<Row, A> {
  readonly row: Row
  readonly done: Deferred.Deferred<A, Unavailable>
}

/**
 * What writes one row and answers what became of it. `write` writes many at once, and answers in their order; `what` they
 * are, for the log.
 */
export const make = Effect.fnUntraced(function* <Row, A>(
  what: string,
  write: (rows: ReadonlyArray<Row>) => Effect.Effect<ReadonlyArray<A>, SqlError>
) {
  const waiting = yield* Mailbox.dropping<Waiting<Row, A>>(waitingMax)

  const writeBatch = Effect.fnUntraced(function* (batch: ReadonlyArray<Waiting<Row, A>>) {
    const exit = yield* write(batch.map(({ row }) => row)).pipe(
      Effect.timeout(writeSeconds * 1000),
      Effect.tapErrorTag("TimeoutError", refuseWaiting),
      Effect.catchTag("TimeoutError", (cause) => Effect.fail(new Unavailable({ cause }))),
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

  /** The database does not answer: what has waited behind a batch for so long does not wait for as long again. */
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
