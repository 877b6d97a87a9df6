/**
 * Sends questions to mechanisms on other nodes. While a message to a node is in progress, further questions to it
 * gather and travel together in the next message. So a burst of requests at the wrong node costs one message every
 * few milliseconds, not one each. Answers are delivered as they arrive. A message that a slow mechanism holds up does
 * not keep the next one back.
 */
import { Cause, Clock, Effect, Exit, Fiber, Option, type Scope, Stream } from "effect"
import type { Counts } from "../../measures/Counts.ts"
import { Measures } from "../../measures/Measures.ts"
import { monotonicMillisOf } from "../../store/coordination/LeaseClock.ts"
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

/** Messages to one node that are in progress at once, all but one of them held up. Beyond this number questions wait. */
const messagesAtOnce = 4

/** A message that has no answer after this time counts as held up. It is seen at the next check. */
const heldUpMillis = 20
const checkMillis = 10

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

/** A message in progress, until each of its questions has an answer. */
interface Message {
  /** The questions that have no answer yet, at the indexes that they have in the message. */
  readonly questions: Array<Waiting | undefined>
  missing: number
  readonly sentAt: number
  /** True if only some answers came, or none for some time. */
  isHeldUp: boolean
}

/** The questions for one node. */
interface Outbox {
  readonly waiting: Array<Waiting>
  readonly messages: Set<Message>
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
  const clock = yield* Clock.Clock
  const outboxes = new Map<string, Outbox>()
  const counted = counting((yield* Measures).cluster.remoteQuestions)

  const now = () => monotonicMillisOf(clock)

  /** Sends the questions that wait, unless a message is in progress that should soon be answered. */
  const sendNext = (outbox: Outbox): void => {
    if (outbox.waiting.length === 0 || outbox.messages.size >= messagesAtOnce) return
    for (const { isHeldUp } of outbox.messages) if (!isHeldUp) return
    const questions = outbox.waiting.splice(0, messageQuestionsMax)
    const message: Message = { questions: [...questions], missing: questions.length, sentAt: now(), isHeldUp: false }
    outbox.messages.add(message)
    const bytes = encode(questions.map(({ id, question }): AddressedQuestion => ({ id, question })))
    const delivered = Stream.runForEach(transport(questions[0]!.id, bytes), (answers) =>
      Effect.sync(() => {
        deliver(message, answers)
        if (message.missing === 0) outbox.messages.delete(message)
        else message.isHeldUp = true
        sendNext(outbox)
      })
    ).pipe(
      Effect.onExit((exit) =>
        Effect.sync(() => {
          const cause = Exit.isFailure(exit) ? exit.cause : "the node did not answer"
          const unavailable = Effect.fail(new Unavailable({ cause }))
          for (const waiting of message.questions) waiting?.answer(unavailable)
          if (outbox.messages.delete(message)) sendNext(outbox)
        })
      )
    )
    Fiber.runIn(fork(Effect.exit(delivered)), scope)
  }

  /** Looks for messages that are held up, until none is in progress. */
  const check = (owner: string, outbox: Outbox): Effect.Effect<void> =>
    Effect.flatMap(Effect.sleep(checkMillis), () => {
      for (const message of outbox.messages) if (now() - message.sentAt >= heldUpMillis) message.isHeldUp = true
      sendNext(outbox)
      if (outbox.messages.size > 0) return check(owner, outbox)
      outboxes.delete(owner)
      return Effect.void
    })

  const outboxOf = (owner: string): Outbox => {
    const known = outboxes.get(owner)
    if (known !== undefined) return known
    const outbox: Outbox = { waiting: [], messages: new Set() }
    outboxes.set(owner, outbox)
    Fiber.runIn(fork(check(owner, outbox)), scope)
    return outbox
  }

  /** Sends the question once. */
  const attempt = (id: string, question: Question): Effect.Effect<unknown, Refused> =>
    Effect.callback((resume) => {
      const outbox = outboxOf(owners.of(id))
      if (outbox.waiting.length >= mailboxCapacity) return resume(Effect.fail(new Overloaded()))
      outbox.waiting.push({ id, question, answer: resume })
      sendNext(outbox)
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

/** Delivers answers, each once. */
function deliver(message: Message, answers: WireAnswers): void {
  for (const [index, wireAnswer] of answers) {
    const waiting = message.questions[index]
    if (waiting === undefined) continue
    message.questions[index] = undefined
    message.missing -= 1
    waiting.answer(Effect.fromResult(answerFromWire(waiting.question, wireAnswer)))
  }
}
