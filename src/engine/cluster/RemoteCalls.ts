/**
 * Sends questions to mechanisms on other nodes. While a message to a node is in progress, further questions to it
 * gather and travel together in the next message. So a burst of requests at the wrong node costs one message every
 * few milliseconds, not one each. Answers are delivered as they arrive, so a slow mechanism delays no other, and a
 * message that it holds up delays the next one for 25 ms at most.
 */
import { Cause, Clock, Effect, Exit, Fiber, Option, Result, Stream } from "effect"
import type { Millis } from "../../domain/values/Time.ts"
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
 * How long a message is in progress before another one is sent: longer only if a slow mechanism holds it up. Meanwhile
 * questions gather, so that one commit answers many.
 */
const shortMillis = 25

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

/** A question whose caller waits for its answer. */
class Waiting implements AddressedQuestion {
  readonly id: string
  readonly question: Question
  /** When its caller gives up, in milliseconds. */
  readonly until: Millis
  /** The message in which it travels. */
  message: Message | undefined
  private reply: ((exit: Exit.Exit<unknown, Refused>) => void) | undefined

  constructor(id: string, question: Question, until: Millis, reply: NonNullable<Waiting["reply"]>) {
    this.id = id
    this.question = question
    this.until = until
    this.reply = reply
  }

  get isAnswered(): boolean {
    return this.reply === undefined
  }

  /** Answers the caller. Later answers are ignored. */
  answer(exit: Exit.Exit<unknown, Refused>): void {
    const { reply } = this
    this.reply = undefined
    reply?.(exit)
  }
}

/** A message in progress. */
interface Message {
  readonly sentAt: Millis
  readonly questions: ReadonlyArray<Waiting>
  fiber: Fiber.Fiber<unknown> | undefined
}

/** The questions that wait for one node. */
interface Outbox {
  waiting: Array<Waiting>
  readonly inProgress: Set<Message>
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
  const clock = yield* Clock.Clock
  const now = () => clock.currentTimeMillisUnsafe()
  const scope = yield* Effect.scope
  const forkWith = Effect.runForkWith(yield* Effect.context<never>())
  const fork: Fork = (effect) => Fiber.runIn(forkWith(effect), scope)
  const counts = (yield* Measures).cluster.remoteQuestions
  const put = makeOutboxes(transport, fork, now)
  const watch = makePatience(fork)

  /** Sends the question once. Its caller waits until an instant. */
  const attempt = (id: string, question: Question, until: Millis): Effect.Effect<unknown, Refused> =>
    Effect.callback((resume) => {
      const waiting = new Waiting(id, question, until, (exit) => {
        counts.add(outcomeOf(exit))
        resume(exit)
      })
      put(owners.of(id), waiting)
      if (!waiting.isAnswered) watch(waiting)
    })

  const answerUntil = (until: Millis, [id, question, local]: Parameters<Query>): Effect.Effect<unknown, Refused> =>
    Effect.suspend(() => {
      const left = until - now()
      if (left <= 0) return noAnswer
      const here = local()
      if (here === undefined) return attempt(id, currentOf(question), until)
      return Effect.timeoutOrElse(here, { duration: left, orElse: () => noAnswer })
    }).pipe(
      Effect.catchIf(wasNotTried, () => {
        owners.forget(id)
        return Effect.andThen(Effect.sleep(retryMillis), answerUntil(until, [id, question, local]))
      })
    )

  /** Returns the answer of the node that owns the mechanism. Where that is this node, `local` answers. */
  const query: Query = (...asked) =>
    Effect.suspend(() => {
      const patience = isStatusRead(currentOf(asked[1])) ? statusPatienceMillis : patienceMillis
      return answerUntil(now() + patience, asked)
    })

  return { query }
})

/** Runs an effect in the background. */
type Fork = <A>(effect: Effect.Effect<A>) => Fiber.Fiber<A>

/** Makes the function that gives a question to the outbox of a node, by its name. */
const makeOutboxes = (transport: Transport, fork: Fork, now: () => Millis) => {
  const outboxes = new Map<string, Outbox>()

  const send = (owner: string, outbox: Outbox): void => {
    const questions = outbox.waiting.slice(0, messageQuestionsMax).filter(({ isAnswered }) => !isAnswered)
    outbox.waiting = outbox.waiting.slice(messageQuestionsMax)
    if (questions.length === 0) return
    const message: Message = { sentAt: now(), questions, fiber: undefined }
    outbox.inProgress.add(message)
    for (const question of questions) question.message = message
    const addressed: ReadonlyArray<AddressedQuestion> = questions.map(({ id, question }) => ({ id, question }))
    const delivered = Stream.runForEach(transport(questions[0]!.id, encode(addressed)), (answers) =>
      Effect.sync(() => deliver(questions, answers))
    ).pipe(
      Effect.onExit((exit) =>
        Effect.sync(() => {
          outbox.inProgress.delete(message)
          if (outbox.waiting.length > 0) send(owner, outbox)
          else if (outbox.inProgress.size === 0) outboxes.delete(owner)
          const cause = Exit.isFailure(exit) ? exit.cause : "the node did not answer"
          for (const question of questions) question.answer(Exit.fail(new Unavailable({ cause })))
        })
      )
    )
    message.fiber = fork(Effect.exit(delivered))
  }

  /** Sends what waits unless a message is in progress that ends soon. */
  const sendSoon = (owner: string, outbox: Outbox): void => {
    if (outbox.waiting.length === 0 || outbox.inProgress.size >= messagesAtOnce) return
    const lastSentAt = Math.max(...Array.from(outbox.inProgress, ({ sentAt }) => sentAt))
    const leftMillis = lastSentAt + shortMillis - now()
    if (leftMillis <= 0) return send(owner, outbox)
    if (outbox.waiting.length === 1)
      fork(
        Effect.andThen(
          Effect.sleep(leftMillis),
          Effect.sync(() => sendSoon(owner, outbox))
        )
      )
  }

  return (owner: string, question: Waiting): void => {
    let outbox = outboxes.get(owner)
    if (outbox === undefined) outboxes.set(owner, (outbox = { waiting: [], inProgress: new Set() }))
    if (outbox.waiting.length >= mailboxCapacity) return question.answer(Exit.fail(new Overloaded()))
    outbox.waiting.push(question)
    sendSoon(owner, outbox)
  }
}

const noAnswer = Exit.fail(new Unavailable({ cause: "no node answers for the mechanism" }))

/**
 * Makes the function that fails a question when its time is over. One timer serves all, because most are answered long
 * before. A message without a caller is given up.
 */
const makePatience = (fork: Fork) => {
  let waiting: Array<Waiting> = []
  let wakeAt = Infinity
  const watch: Effect.Effect<void> = Effect.clockWith((clock) =>
    Effect.suspend(() => {
      const now = clock.currentTimeMillisUnsafe()
      for (const question of waiting) if (question.until <= now) expire(question)
      waiting = waiting.filter(({ isAnswered }) => !isAnswered)
      wakeAt = waiting.reduce((least, { until }) => Math.min(least, until), Infinity)
      return wakeAt === Infinity ? Effect.void : Effect.andThen(Effect.sleep(wakeAt - now), watch)
    })
  )
  return (question: Waiting): void => {
    waiting.push(question)
    if (question.until >= wakeAt) return
    wakeAt = question.until
    fork(watch)
  }
}

const expire = (question: Waiting): void => {
  question.answer(noAnswer)
  const { message } = question
  if (message?.questions.every(({ isAnswered }) => isAnswered) === true) message.fiber?.interruptUnsafe()
}

const currentOf = (question: Question | (() => Question)): Question =>
  typeof question === "function" ? question() : question

const isStatusRead = (question: Question): boolean => question.method === "view" && question.recall !== undefined

/** True if the node did nothing because it does not own the mechanism. Another node may own it. */
export const wasNotTried = (refused: Refused): boolean => refused instanceof Unavailable && refused.cause === hasStopped

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
    const waiting = message[index]!
    const answer = answerFromWire(waiting.question, wireAnswer)
    waiting.answer(Result.isSuccess(answer) ? Exit.succeed(answer.success) : Exit.fail(answer.failure))
  }
}
