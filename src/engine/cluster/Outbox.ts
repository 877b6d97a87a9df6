/**
 * The questions for one other node. While a message is in progress, further questions gather and travel together in the
 * next one. So a burst of requests at the wrong node costs one message every few milliseconds, not one each. Answers are
 * delivered as they arrive. A message that a slow mechanism holds up does not keep the next one back.
 *
 * One fiber for the node, not one for each question, watches for messages that are held up and for callers whose time
 * is over.
 */
import { Cause, Effect, Exit, Fiber, Option, Result, type Scope, Stream } from "effect"
import type { Counts } from "../../measures/Counts.ts"
import { Measures } from "../../measures/Measures.ts"
import { monotonicMillisOf } from "../../store/coordination/LeaseClock.ts"
import { Unavailable } from "../../store/postgres/Unavailable.ts"
import { hasStopped, mailboxCapacity, Overloaded } from "../actor/Actor.ts"
import { answerFromWire, type AddressedQuestion, encodeQuestions, type Refused, type WireAnswers } from "./Wire.ts"
import * as Time from "../../store/coordination/Time.ts"

const messageQuestionsMax = 512

/** Messages to one node that are in progress at once, all but one of them held up. Beyond this number questions wait. */
const messagesAtOnce = 4

/** A message that has no answer after this time counts as held up. It is seen at the next check. */
const heldUpMillis = 20
const checkMillis = 10

/**
 * Sends questions to the owner of the mechanism that the first question is about. The stream ends when no more
 * answers come, or fails.
 */
export type Transport = (mechanismId: string, message: Uint8Array) => Stream.Stream<WireAnswers, Unavailable>

/** A question and its caller. */
interface Waiting extends AddressedQuestion {
  /** Monotonic milliseconds at which the caller stops waiting. */
  readonly deadline: number
  readonly answer: (answer: Exit.Exit<unknown, Refused>) => void
}

/** A message in progress, until each of its questions has an answer. */
interface Message {
  /** The questions that have no answer yet, at the indexes that they have in the message. */
  readonly questions: Array<Waiting | undefined>
  missing: number
  readonly sentAt: number
  /** The earliest deadline of its questions. */
  readonly deadline: number
  /** True if only some answers came, or none for some time. */
  isHeldUp: boolean
  fiber: Fiber.Fiber<unknown> | undefined
}

/** What an outbox needs. */
interface Services {
  readonly transport: Transport
  /** Returns monotonic milliseconds. */
  readonly now: () => number
  readonly fork: (effect: Effect.Effect<unknown>) => Fiber.Fiber<unknown>
  /** The attempts by their outcomes. */
  readonly counts: Counts
}

/** Makes a function that creates the outbox of a node. The fibers live in the surrounding scope. */
export const maker = Effect.fnUntraced(function* (transport: Transport) {
  const scope: Scope.Scope = yield* Effect.scope
  const clock = yield* Time.serverClock
  const runFork = Effect.runForkWith(yield* Effect.context<never>())
  const services: Services = {
    transport,
    now: () => monotonicMillisOf(clock),
    fork: (effect) => Fiber.runIn(runFork(effect), scope),
    counts: (yield* Measures).cluster.remoteQuestions
  }
  return (onIdle: () => void) => new Outbox(services, onIdle)
})

export class Outbox {
  private waiting: Array<Waiting> = []
  private readonly messages = new Set<Message>()
  private readonly services: Services

  /** `onIdle` is called when the outbox is of no more use. */
  constructor(services: Services, onIdle: () => void) {
    this.services = services
    const check: Effect.Effect<void> = Effect.flatMap(Effect.sleep(checkMillis), () => {
      this.check()
      if (this.messages.size > 0) return check
      onIdle()
      return Effect.void
    })
    services.fork(check)
  }

  /** Sends the question as soon as possible. Its caller gets one answer, soon after its deadline at the latest. */
  add(question: Waiting): void {
    if (this.waiting.length >= mailboxCapacity) return this.reply(question, Exit.fail(new Overloaded()))
    this.waiting.push(question)
    this.sendNext()
  }

  /** Sends the questions that wait, unless a message is in progress that should soon be answered. */
  private sendNext(): void {
    if (this.waiting.length === 0 || this.messages.size >= messagesAtOnce) return
    for (const { isHeldUp } of this.messages) if (!isHeldUp) return
    const questions = this.waiting.splice(0, messageQuestionsMax)
    const message: Message = {
      questions: [...questions],
      missing: questions.length,
      sentAt: this.services.now(),
      deadline: earliestOf(questions),
      isHeldUp: false,
      fiber: undefined
    }
    this.messages.add(message)
    const bytes = encodeQuestions(questions)
    const delivered = Stream.runForEach(this.services.transport(questions[0]!.id, bytes), (answers) =>
      Effect.sync(() => this.deliver(message, answers))
    )
    message.fiber = this.services.fork(
      Effect.exit(Effect.onExit(delivered, (exit) => Effect.sync(() => this.ended(message, exit))))
    )
  }

  /** Delivers answers, each once. */
  private deliver(message: Message, answers: WireAnswers): void {
    for (const [index, wireAnswer] of answers) {
      const waiting = message.questions[index]
      if (waiting !== undefined) this.settle(message, index, exitOf(answerFromWire(waiting.question, wireAnswer)))
    }
    if (message.missing === 0) this.messages.delete(message)
    else message.isHeldUp = true
    this.sendNext()
  }

  private ended(message: Message, exit: Exit.Exit<void, Unavailable>): void {
    const cause = Exit.isFailure(exit) ? exit.cause : "the node did not answer"
    const unavailable = Exit.fail(new Unavailable({ cause }))
    for (const index of message.questions.keys()) this.settle(message, index, unavailable)
    if (this.messages.delete(message)) this.sendNext()
  }

  /** Answers the callers whose time is over, and looks for messages that are held up. */
  private check(): void {
    const now = this.services.now()
    for (const message of this.messages) {
      if (message.deadline <= now) this.expire(message, now)
      if (now - message.sentAt >= heldUpMillis) message.isHeldUp = true
    }
    if (earliestOf(this.waiting) <= now) {
      const over = this.waiting.filter(({ deadline }) => deadline <= now)
      this.waiting = this.waiting.filter(({ deadline }) => deadline > now)
      for (const question of over) this.reply(question, noAnswer)
    }
    this.sendNext()
  }

  private expire(message: Message, now: number): void {
    for (const [index, waiting] of message.questions.entries()) {
      if (waiting !== undefined && waiting.deadline <= now) this.settle(message, index, noAnswer)
    }
    if (message.missing > 0) return
    // Its place is free at once, however long the transport takes to end it.
    this.messages.delete(message)
    message.fiber?.interruptUnsafe()
  }

  private settle(message: Message, index: number, answer: Exit.Exit<unknown, Refused>): void {
    const waiting = message.questions[index]
    if (waiting === undefined) return
    message.questions[index] = undefined
    message.missing -= 1
    this.reply(waiting, answer)
  }

  private reply(waiting: Waiting, answer: Exit.Exit<unknown, Refused>): void {
    this.services.counts.add(outcomeOf(answer))
    waiting.answer(answer)
  }
}

export const noAnswer = Exit.fail(new Unavailable({ cause: "no node answers for the mechanism" }))

/** True if the node did nothing because it does not own the mechanism. Another node may own it. */
export const wasNotTried = (refused: Refused): boolean => refused instanceof Unavailable && refused.cause === hasStopped

const earliestOf = (questions: ReadonlyArray<Waiting>): number =>
  questions.reduce((earliest, { deadline }) => Math.min(earliest, deadline), Number.POSITIVE_INFINITY)

const exitOf = (answer: Result.Result<unknown, Refused>): Exit.Exit<unknown, Refused> =>
  Result.isSuccess(answer) ? Exit.succeed(answer.success) : Exit.fail(answer.failure)

/** The outcome of an attempt as the measures call it. A refusal is an answer. */
const outcomeOf = (exit: Exit.Exit<unknown, Refused>): "answered" | "moved" | "failed" => {
  if (Exit.isSuccess(exit)) return "answered"
  const error = Cause.findErrorOption(exit.cause)
  if (Option.isNone(error)) return "failed"
  if (wasNotTried(error.value)) return "moved"
  return error.value instanceof Unavailable || error.value instanceof Overloaded ? "failed" : "answered"
}
