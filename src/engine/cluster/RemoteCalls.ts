/** Asks mechanisms on other nodes, through changes of their owners. */
import { Effect } from "effect"
import { monotonicMillisOf } from "../../store/coordination/LeaseClock.ts"
import * as Outbox from "./Outbox.ts"
import type { Question, Refused } from "./Wire.ts"
import * as Time from "../../store/coordination/Time.ts"

/**
 * How long a caller waits for an answer, through changes of the owner. Then the call fails. A request may make two
 * such calls, and must be answered within 5 seconds.
 */
const patienceMillis = 2_400

/**
 * The same for a status read. While the database is silent it waits for the write in progress to fail, as a read at the
 * owner does.
 */
const statusPatienceMillis = 6_000

/** The same for an update of a line. Without it, its readers ask for their views. */
const linePatienceMillis = 1_000

/** Time before a mechanism that is just moving is queried again. */
const retryMillis = 50

/** The presumed owners of mechanisms. */
export interface OwnerLookup {
  /** Returns the name of the node that presumably owns a mechanism. */
  readonly of: (mechanismId: string) => string
  /** Removes the owner of a mechanism after it refused a question unanswered. The question is then sent again. */
  readonly forget: (mechanismId: string) => void
}

/** Returns the answer to a question. A function gives the question of each attempt. */
export type Query = (
  mechanismId: string,
  question: Question | (() => Question),
  local: () => Effect.Effect<unknown, Refused> | undefined
) => Effect.Effect<unknown, Refused>

/** Makes a function that sends questions through `transport`. Its fibers live in the surrounding scope. */
export const make = Effect.fnUntraced(function* (transport: Outbox.Transport, owners: OwnerLookup) {
  const clock = yield* Time.serverClock
  const makeOutbox = yield* Outbox.maker(transport)
  const outboxes = new Map<string, Outbox.Outbox>()

  const outboxOf = (owner: string): Outbox.Outbox => {
    let outbox = outboxes.get(owner)
    if (outbox === undefined) outboxes.set(owner, (outbox = makeOutbox(() => outboxes.delete(owner))))
    return outbox
  }

  /** Sends the question once. */
  const attempt = (id: string, question: Question, deadline: number): Effect.Effect<unknown, Refused> =>
    Effect.callback((answer) => outboxOf(owners.of(id)).add({ id, question, deadline, answer }))

  /** Returns the answer of the node that owns the mechanism. Where that is this node, `local` answers. */
  const query: Query = (id, question, local) =>
    Effect.suspend(() => {
      const deadline = monotonicMillisOf(clock) + patienceOf(currentOf(question))
      const tryUntilOwned: Effect.Effect<unknown, Refused> = Effect.suspend(
        () => local() ?? attempt(id, currentOf(question), deadline)
      ).pipe(
        Effect.catchIf(Outbox.wasNotTried, () => {
          owners.forget(id)
          const leftMillis = deadline - monotonicMillisOf(clock)
          return leftMillis > retryMillis
            ? Effect.andThen(Effect.sleep(retryMillis), tryUntilOwned)
            : Effect.andThen(Effect.sleep(Math.max(0, leftMillis)), Outbox.noAnswer)
        })
      )
      return tryUntilOwned
    })

  return { query }
})

const currentOf = (question: Question | (() => Question)): Question =>
  typeof question === "function" ? question() : question

const patienceOf = (question: Question): number => {
  if (question.method === "line") return linePatienceMillis
  return question.method === "view" && question.recall !== undefined ? statusPatienceMillis : patienceMillis
}
