/**
 * Sends the messages about grants: to consumers that a queue has admitted, or that have won a draw or an auction, where
 * their organization has turned them on (`grantMessages`).
 *
 * The source is the journal. Once a second the worker reads each mechanism's events from a cursor, apart from the actors:
 * an append costs what it did, and a restart loses nothing. Of several processes one does the work, by a lease.
 *
 * The outcome of a message is recorded when it is known. A process that dies between the two sends the few messages that
 * were under way a second time; an email keeps its Message-ID. No message goes out for a grant that has ended.
 */
import { Clock, Effect, Fiber, Layer, Schedule } from "effect"
import { randomUUID } from "node:crypto"
import { Delivery, type Outcome, senders } from "../delivery/Delivery.ts"
import { grantMessage } from "../delivery/GrantMessage.ts"
import { Settings } from "../settings/Settings.ts"
import { type Grant, GrantMessages, type Pages, type Recorded, type Source } from "../store/mechanism/GrantMessages.ts"
import { Leases } from "../store/coordination/Leases.ts"

/** Between looks while there is nothing to do. */
const lookIntervalMillis = 1_000

/** How long the lease holds, and how often it is extended during a round. */
const leaseSeconds = 10
const extendIntervalMillis = 3_000

/** Messages under way at once: half of the senders, so that one-time codes find one that is free. */
const messagesAtOnce = senders / 2

/** A message that failed is tried again after one minute, two, four and so on: some two hours in all. */
const triesMax = 8
const firstRetryMillis = 60_000

/** While the database is away, recording an outcome is tried for so long. */
const recordTries = Schedule.max([Schedule.spaced("1 second"), Schedule.recurs(30)])

/** When the work is interrupted, messages under way have so long to be delivered and recorded. */
const graceMillis = 2_000

/** Makes the worker. Its effect is one round of work, and returns true if there is more to do at once. */
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

  /** Waits until the next message may go out. */
  const pace = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const at = Math.max(now, nextAt)
    nextAt = at + 1_000 / grantMessagesPerSecond
    return Effect.sleep(at - now)
  })

  /** The message; in plain words if the organization's page cannot be rendered. */
  const written = (source: Source, grant: Grant, pages: Pages) =>
    Effect.sync(() => grantMessage(source, grant, pages)).pipe(
      Effect.catchDefect((defect) =>
        Effect.as(Effect.logError("A page could not be rendered as a message", defect), grantMessage(source, grant, {}))
      )
    )

  const tell = Effect.fnUntraced(function* (source: Source, pages: Pages, grant: Grant) {
    yield* pace
    const now = yield* Clock.currentTimeMillis
    const message = grant.isAlive && now < grant.expiresAt ? yield* written(source, grant, pages) : undefined
    if (message === undefined) return grant.attempts === 0 ? undefined : yield* messages.abandon(source, grant, now)
    const outcome = yield* delivery.deliver(message)
    const triedAt = yield* Clock.currentTimeMillis
    const recorded = recordedAs(outcome, grant.attempts + 1, triedAt)
    yield* Effect.retry(messages.record(source, grant, message.channel, recorded, triedAt), recordTries)
  })

  const tellAll = Effect.fnUntraced(function* (source: Source, grants: ReadonlyArray<Grant>) {
    if (grants.length === 0) return
    const pages = yield* messages.pages(source)
    yield* Effect.forEach(grants, (grant) => toItsEnd(tell(source, pages, grant)), {
      concurrency: messagesAtOnce,
      discard: true
    })
  })

  /** Sends the next messages of one mechanism; returns true if there are more events to read. */
  const serve = Effect.fnUntraced(function* (source: Source) {
    yield* tellAll(source, yield* messages.retries(source, yield* Clock.currentTimeMillis))
    if (source.readUpTo === source.lastSequence) return false
    const { grants, readUpTo } = yield* messages.news(source, yield* Clock.currentTimeMillis)
    yield* tellAll(source, grants)
    yield* messages.advance(source, readUpTo)
    return readUpTo < source.lastSequence
  })

  /** Extends the lease at intervals; ends when another process has it. */
  const lost = Effect.sleep(extendIntervalMillis).pipe(
    Effect.andThen(Effect.orElseSucceed(hold, () => true)),
    Effect.repeat({ while: (isHeld) => isHeld }),
    Effect.as<ReadonlyArray<boolean>>([])
  )

  return Effect.gen(function* () {
    const sources = yield* messages.sources(yield* Clock.currentTimeMillis)
    if (sources.length === 0 || !(yield* hold)) return false
    // Mechanisms take turns, so that a large one does not hold the others up. One that fails is left to the next look.
    const served = Effect.forEach(sources, (source) => orLater(serve(source)))
    return (yield* Effect.raceFirst(served, lost)).includes(true)
  })
})

/** The fiber that does the work. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const round = yield* make
    const look = Effect.flatMap(orLater(round), (isMore) => (isMore ? Effect.void : Effect.sleep(lookIntervalMillis)))
    yield* Effect.forkScoped(Effect.forever(look))
  })
).pipe(Layer.provide(Layer.merge(GrantMessages.layer, Leases.layer)))

const recordedAs = (outcome: Outcome, tries: number, now: number): Recorded => {
  if (outcome !== "failed") return { outcome }
  if (tries >= triesMax) return { outcome: "abandoned" }
  return { outcome: "waiting", retryAt: now + firstRetryMillis * 2 ** (tries - 1) }
}

/** Gives the effect some time to end when it is interrupted, so that a message that goes out is recorded. */
const toItsEnd = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.flatMap(Effect.forkDetach(effect, { startImmediately: true }), (fiber) =>
    Effect.onInterrupt(Fiber.join(fiber), () =>
      Fiber.await(fiber).pipe(
        Effect.interruptible,
        Effect.timeoutOption(graceMillis),
        Effect.andThen(Fiber.interrupt(fiber))
      )
    )
  )

/** Returns false if the database is out of reach, or after a defect, which is logged. */
const orLater = <E>(work: Effect.Effect<boolean, E>) =>
  work.pipe(
    Effect.orElseSucceed(() => false),
    Effect.catchDefect((defect) =>
      Effect.as(Effect.logError("Messages about grants could not be sent for now", defect), false)
    )
  )
