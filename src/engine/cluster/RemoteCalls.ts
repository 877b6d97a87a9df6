/**
 * Sends questions to mechanisms on other nodes. While messages to a node are in progress, further questions to it
 * gather and travel together in the next message. So a burst of requests at the wrong node costs one message every
 * few milliseconds, not one each. Answers are delivered as they arrive, so a slow mechanism delays no other.
 */
import { Cause, Effect, Exit, Fiber, Option, type Scope, Stream } from "effect"
import type { Counts } from "../../measures/Counts.ts"
import { Measures } from "../../measures/Measures.ts"
import { Unavailable } from "../../store/postgres/Unavailable.ts"
import { hasStopped, mailboxCapacity, Overloaded } from "../actor/Actor.ts"
import {
  answerFromWire,
  type AddressedQuestion,
  encode,
  type Question,
  type Refused,
  type WireAnswers
} from "./Wire.ts"

const messageQuestionsMax = 512

/** Messages to one node that are in progress at once. Beyond this number questions wait. */
const messagesAtOnce = 4

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

/** Time before a mechanism that is just moving is queried again. */
const retryMillis = 50

/**
 * Sends questions to the owner of the mechanism that the first question is about. The stream ends when no more
 * answers come, or fails.
 */
export type Transport = (mechanismId: string, message: Uint8Array) => Stream.Stream<WireAnswers, Unavailable>

interface Waiting extends AddressedQuestion {
  readonly answer: (answer: Effect.Effect<unknown, Refused>) => void
}

/** The questions that wait for one node. */
interface Outbox {
  readonly waiting: Array<Waiting>
  inProgress: number
}

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
export const make = Effect.fnUntraced(function* (transport: Transport, owners: OwnerLookup) {
  const scope: Scope.Scope = yield* Effect.scope
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const outboxes = new Map<string, Outbox>()
  const counted = counting((yield* Measures).cluster.remoteQuestions)

  const send = (owner: string, outbox: Outbox): void => {
    const message = outbox.waiting.splice(0, messageQuestionsMax)
    outbox.inProgress += 1
    const questions: ReadonlyArray<AddressedQuestion> = message.map(({ id, question }) => ({ id, question }))
    const delivered = Stream.runForEach(transport(message[0]!.id, encode(questions)), (answers) =>
      Effect.sync(() => deliver(message, answers))
    ).pipe(
      Effect.onExit((exit) =>
        Effect.sync(() => {
          outbox.inProgress -= 1
          if (outbox.waiting.length > 0) send(owner, outbox)
          else if (outbox.inProgress === 0) outboxes.delete(owner)
          const cause = Exit.isFailure(exit) ? exit.cause : "the node did not answer"
          for (const { answer } of message) answer(Effect.fail(new Unavailable({ cause })))
        })
      )
    )
    Fiber.runIn(fork(Effect.exit(delivered)), scope)
  }

  /** Sends the question once. */
  const attempt = (id: string, question: Question): Effect.Effect<unknown, Refused> =>
    Effect.callback((resume) => {
      const owner = owners.of(id)
      let outbox = outboxes.get(owner)
      if (outbox === undefined) outboxes.set(owner, (outbox = { waiting: [], inProgress: 0 }))
      if (outbox.waiting.length >= mailboxCapacity) return resume(Effect.fail(new Overloaded()))
      outbox.waiting.push({ id, question, answer: resume })
      if (outbox.inProgress < messagesAtOnce) send(owner, outbox)
    })

  /** Returns the answer of the node that owns the mechanism. Where that is this node, `local` answers. */
  const query: Query = (id, question, local) => {
    const tryUntilOwned: Effect.Effect<unknown, Refused> = Effect.suspend(
      () => local() ?? counted(attempt(id, currentOf(question)))
    ).pipe(
      Effect.catchIf(wasNotTried, () => {
        owners.forget(id)
        return Effect.andThen(Effect.sleep(retryMillis), tryUntilOwned)
      })
    )
    return Effect.timeoutOrElse(tryUntilOwned, {
      duration: isStatusRead(currentOf(question)) ? statusPatienceMillis : patienceMillis,
      orElse: () => Effect.fail(new Unavailable({ cause: "no node answers for the mechanism" }))
    })
  }

  return { query }
})

const currentOf = (question: Question | (() => Question)): Question =>
  typeof question === "function" ? question() : question

const isStatusRead = (question: Question): boolean => question.method === "view" && question.recall !== undefined

/** True if the node did nothing because it does not own the mechanism. Another node may own it. */
export const wasNotTried = (refused: Refused): boolean => refused instanceof Unavailable && refused.cause === hasStopped

/** Returns the function that counts an attempt when it ends. */
const counting =
  (counts: Counts) =>
  <A>(attempt: Effect.Effect<A, Refused>) =>
    Effect.onExit(attempt, (exit) => Effect.sync(() => counts.add(outcomeOf(exit))))

/** The outcome of an attempt as the measures call it. A refusal is an answer. */
const outcomeOf = (exit: Exit.Exit<unknown, Refused>): "answered" | "moved" | "failed" => {
  if (Exit.isSuccess(exit)) return "answered"
  const error = Cause.findErrorOption(exit.cause)
  if (Option.isNone(error)) return "failed"
  if (wasNotTried(error.value)) return "moved"
  return error.value instanceof Unavailable || error.value instanceof Overloaded ? "failed" : "answered"
}

/** Delivers answers. A caller that already has an answer ignores later ones. */
function deliver(message: ReadonlyArray<Waiting>, answers: WireAnswers): void {
  for (const [index, wireAnswer] of answers) {
    const { question, answer } = message[index]!
    answer(Effect.fromResult(answerFromWire(question, wireAnswer)))
  }
}
