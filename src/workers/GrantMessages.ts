/**
 * Sends messages about grants, one of the two outboxes (`Outbox.ts`): to consumers that a queue admitted, or that won a
 * draw or an auction, if their organization has turned the messages on (`grantMessages`).
 *
 * Once a second the worker reads each mechanism's events from a cursor, independently of the actors. The outcome of a
 * message is recorded when it is known. If a process dies before that, the few messages in progress are sent a second
 * time; an email keeps its Message-ID. No message is sent for a grant that has ended.
 */
import { Effect, Fiber, Layer } from "effect"
import { Delivery, type Outcome, senders } from "../delivery/Delivery.ts"
import { grantMessage } from "../delivery/GrantMessage.ts"
import { Settings } from "../settings/Settings.ts"
import { Leases } from "../store/coordination/Leases.ts"
import {
  type AttemptResult,
  type Grant,
  GrantMessages,
  type Pages,
  type Source
} from "../store/message/GrantMessages.ts"
import { inTimeOf, TestClocks } from "../store/testClock/TestClocks.ts"
import { makePace, MessagesOwed, retryRecording } from "./Outbox.ts"
import { makeWithLease, orElseLogged, start } from "./WorkerLoop.ts"
import * as Time from "../store/coordination/Time.ts"

/** Pause between polls when there is nothing to do. */
const pollMillis = 1_000

/** Messages in progress at the same time: half of the senders, so that one-time codes find a free one. */
const messagesAtOnce = senders / 2

/** A failed message is retried after one minute, two, four and so on, for about two hours in all. */
const attemptsMax = 8
const firstRetryMillis = 60_000

/** How long messages in progress may take after an interruption to be delivered and recorded. */
const graceMillis = 2_000

const failureMessage = "Messages about grants could not be sent for now"

/** Creates the worker. Its effect runs one round, and returns true if there is more to do at once. */
export const make = Effect.gen(function* () {
  const messages = yield* GrantMessages
  const delivery = yield* Delivery
  const { grantMessagesPerSecond } = yield* Settings
  const withLease = yield* makeWithLease
  const pace = makePace()
  const clocks = yield* TestClocks

  /** Renders the message. Uses the default text if the organization's page cannot be rendered. */
  const rendered = (source: Source, grant: Grant, pages: Pages) =>
    Effect.sync(() => grantMessage(source, grant, pages)).pipe(
      Effect.catchDefect((defect) =>
        Effect.as(Effect.logError("A page could not be rendered as a message", defect), grantMessage(source, grant, {}))
      )
    )

  const sendOne = Effect.fnUntraced(function* (source: Source, pages: Pages, grant: Grant) {
    yield* pace(grantMessagesPerSecond)
    const now = yield* Time.now
    const message = grant.isAlive && now < grant.expiresAt ? yield* rendered(source, grant, pages) : undefined
    if (message === undefined) return grant.attempts === 0 ? undefined : yield* messages.abandon(source, grant, now)
    const outcome = yield* delivery.deliver(message)
    const triedAt = yield* Time.now
    const result = resultOf(outcome, grant.attempts + 1, triedAt)
    yield* retryRecording(messages.record(source, grant, message.channel, result, triedAt))
  })

  const sendAll = Effect.fnUntraced(function* (source: Source, grants: ReadonlyArray<Grant>) {
    if (grants.length === 0) return
    const pages = yield* messages.pages(source)
    yield* Effect.forEach(grants, (grant) => finishing(sendOne(source, pages, grant)), {
      concurrency: messagesAtOnce,
      discard: true
    })
  })

  /** Sends the next messages of one mechanism. Returns true if there are more events to read. */
  const serve = Effect.fnUntraced(function* (source: Source) {
    yield* sendAll(source, yield* messages.dueRetries(source, yield* Time.now))
    if (source.readUpTo === source.lastSequence) return false
    const { grants, readUpTo } = yield* messages.newGrants(source, yield* Time.now)
    yield* sendAll(source, grants)
    yield* messages.advance(source, readUpTo)
    return readUpTo < source.lastSequence
  })

  /** Serves each mechanism in turn, so that a large one does not delay others. A failed one waits for the next poll. */
  const serveAll = (sources: ReadonlyArray<Source>) =>
    Effect.forEach(sources, (source) =>
      serve(source).pipe(inTimeOf(clocks, source.tenant), orElseLogged(failureMessage, false))
    ).pipe(Effect.map((more) => more.includes(true)))

  return Effect.gen(function* () {
    const sources = yield* messages.sources(yield* Time.serverNow)
    return sources.length === 0 ? false : yield* withLease("grant messages", "keep", serveAll(sources))
  })
})

/** Starts the fiber that runs the rounds. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(Effect.all([make, MessagesOwed]), ([round, { grants: wakeUp }]) =>
    start({ round, pauseMillis: pollMillis, wakeUp, failureMessage })
  )
).pipe(Layer.provide(Layer.merge(GrantMessages.layer, Leases.layer)))

const resultOf = (outcome: Outcome, attempts: number, now: number): AttemptResult => {
  if (outcome !== "failed") return { outcome }
  if (attempts >= attemptsMax) return { outcome: "abandoned" }
  return { outcome: "waiting", retryAt: now + firstRetryMillis * 2 ** (attempts - 1) }
}

/** Gives an interrupted effect time to finish, so that a message in progress is recorded. */
const finishing = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.flatMap(Effect.forkDetach(effect, { startImmediately: true }), (fiber) =>
    Effect.onInterrupt(Fiber.join(fiber), () =>
      Fiber.await(fiber).pipe(
        Effect.interruptible,
        Effect.timeoutOption(graceMillis),
        Effect.andThen(Fiber.interrupt(fiber))
      )
    )
  )
