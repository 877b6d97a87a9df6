/**
 * Sends messages about grants: to consumers that a queue admitted, or that won a draw or an auction, if their
 * organization has turned the messages on (`grantMessages`).
 *
 * The source is the journal. Once a second the worker reads each mechanism's events from a cursor, independently of the
 * actors. So an append costs nothing extra, and a restart loses nothing. A lease selects one process for the work.
 *
 * The outcome of a message is recorded when it is known. If a process dies before that, the few messages in progress
 * are sent a second time; an email keeps its Message-ID. No message is sent for a grant that has ended.
 */
import { Clock, Effect, Fiber, Layer, Schedule } from "effect"
import { randomUUID } from "node:crypto"
import { Delivery, type Outcome, senders } from "../delivery/Delivery.ts"
import { grantMessage } from "../delivery/GrantMessage.ts"
import { Settings } from "../settings/Settings.ts"
import { type Grant, GrantMessages, type Pages, type Recorded, type Source } from "../store/mechanism/GrantMessages.ts"
import { Leases } from "../store/coordination/Leases.ts"

/** Pause between polls when there is nothing to do. */
const pollIntervalMillis = 1_000

/** Duration of the lease, and how often it is extended during a round. */
const leaseSeconds = 10
const extendIntervalMillis = 3_000

/** Messages in progress at the same time: half of the senders, so that one-time codes find a free one. */
const messagesAtOnce = senders / 2

/** A failed message is retried after one minute, two, four and so on, for about two hours in all. */
const triesMax = 8
const firstRetryMillis = 60_000

/** How long recording an outcome is retried while the database is away. */
const recordTries = Schedule.max([Schedule.spaced("1 second"), Schedule.recurs(30)])

/** How long messages in progress may take after an interruption to be delivered and recorded. */
const graceMillis = 2_000

/** Creates the worker. Its effect runs one round, and returns true if there is more to do at once. */
export const make = Effect.gen(function* () {
  const messages = yield* GrantMessages
  const leases = yield* Leases
  const delivery = yield* Delivery
  const { grantMessagesPerSecond } = yield* Settings
  const owner = randomUUID()
  let nextAt = 0

  const hold = leases.hold("grant messages", owner, leaseSeconds)
  yield* Effect.addFinalizer(() =>
    leases.release("grant messages", owner).pipe(Effect.timeout(graceMillis), Effect.ignore)
  )

  /** Waits until the next message may be sent. */
  const pace = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const at = Math.max(now, nextAt)
    nextAt = at + 1_000 / grantMessagesPerSecond
    return Effect.sleep(at - now)
  })

  /** Renders the message. Uses the default text if the organization's page cannot be rendered. */
  const rendered = (source: Source, grant: Grant, pages: Pages) =>
    Effect.sync(() => grantMessage(source, grant, pages)).pipe(
      Effect.catchDefect((defect) =>
        Effect.as(Effect.logError("A page could not be rendered as a message", defect), grantMessage(source, grant, {}))
      )
    )

  const sendOne = Effect.fnUntraced(function* (source: Source, pages: Pages, grant: Grant) {
    yield* pace
    const now = yield* Clock.currentTimeMillis
    const message = grant.isAlive && now < grant.expiresAt ? yield* rendered(source, grant, pages) : undefined
    if (message === undefined) return grant.attempts === 0 ? undefined : yield* messages.abandon(source, grant, now)
    const outcome = yield* delivery.deliver(message)
    const triedAt = yield* Clock.currentTimeMillis
    const recorded = recordedAs(outcome, grant.attempts + 1, triedAt)
    yield* Effect.retry(messages.record(source, grant, message.channel, recorded, triedAt), recordTries)
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
    yield* sendAll(source, yield* messages.retries(source, yield* Clock.currentTimeMillis))
    if (source.readUpTo === source.lastSequence) return false
    const { grants, readUpTo } = yield* messages.news(source, yield* Clock.currentTimeMillis)
    yield* sendAll(source, grants)
    yield* messages.advance(source, readUpTo)
    return readUpTo < source.lastSequence
  })

  /** Extends the lease at intervals. Returns when another process holds it. */
  const lost = Effect.sleep(extendIntervalMillis).pipe(
    Effect.andThen(Effect.orElseSucceed(hold, () => true)),
    Effect.repeat({ while: (isHeld) => isHeld }),
    Effect.as<ReadonlyArray<boolean>>([])
  )

  return Effect.gen(function* () {
    const sources = yield* messages.sources(yield* Clock.currentTimeMillis)
    if (sources.length === 0 || !(yield* hold)) return false
    // Mechanisms take turns, so that a large one does not delay others. A failed one waits for the next poll.
    const served = Effect.forEach(sources, (source) => orLater(serve(source)))
    return (yield* Effect.raceFirst(served, lost)).includes(true)
  })
})

/** Starts the fiber that runs the rounds. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const round = yield* make
    const poll = Effect.flatMap(orLater(round), (isMore) => (isMore ? Effect.void : Effect.sleep(pollIntervalMillis)))
    yield* Effect.forkScoped(Effect.forever(poll))
  })
).pipe(Layer.provide(Layer.merge(GrantMessages.layer, Leases.layer)))

const recordedAs = (outcome: Outcome, tries: number, now: number): Recorded => {
  if (outcome !== "failed") return { outcome }
  if (tries >= triesMax) return { outcome: "abandoned" }
  return { outcome: "waiting", retryAt: now + firstRetryMillis * 2 ** (tries - 1) }
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

/** Returns false if the database is unavailable, or after a defect, which it logs. */
const orLater = <E>(work: Effect.Effect<boolean, E>) =>
  work.pipe(
    Effect.orElseSucceed(() => false),
    Effect.catchDefect((defect) =>
      Effect.as(Effect.logError("Messages about grants could not be sent for now", defect), false)
    )
  )
