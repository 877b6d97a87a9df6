/**
 * Handles the events of receivers. Any number of processes may run the worker: one of them claims an event, and another
 * one may only after 20 s without a result. So an event is handled at least once, and handling it is idempotent.
 *
 * In a turn a process handles some events of one receiver, one after another in the order in which they are due; two
 * processes may handle some at the same time. Turns of several receivers run at the same time, so the events of one do not
 * wait for those of another.
 */
import { Effect, Layer, Semaphore } from "effect"
import { nextDelayMillis } from "../domain/receiver/Attempts.ts"
import type { Outcome } from "../domain/receiver/Receiver.ts"
import { annotated } from "../measures/StateChange.ts"
import { OrderPayments } from "../store/consumer/OrderPayments.ts"
import { Orders } from "../store/consumer/Orders.ts"
import { AssignedProducts } from "../store/experience/AssignedProducts.ts"
import { NamedGrants } from "../store/mechanism/NamedGrants.ts"
import { SentMessages } from "../store/message/SentMessages.ts"
import { StoppedAddresses } from "../store/message/StoppedAddresses.ts"
import {
  type Attention,
  type AttemptResult,
  type ClaimedEvent,
  ReceivedEvents
} from "../store/receiver/ReceivedEvents.ts"
import { inTimeOf, TestClocks } from "../store/testClock/TestClocks.ts"
import * as Handlers from "./ReceivedEventHandlers.ts"
import type { FinalResult, HandlerResult } from "./ReceivedEventHandlers.ts"
import { orElseLogged, start } from "./WorkerLoop.ts"
import * as Time from "../store/coordination/Time.ts"

/** Pause between polls when there is nothing to do. */
const pollMillis = 1_000

/** Receivers with an event in progress at the same time. Orders hold connections, which entries need too. */
const receiversAtOnce = 4

/** Seconds for one attempt, less than those after which another process may claim the event. */
const attemptSeconds = 12

/** Seconds after which a turn begins no further event. An attempt has to end before another process may claim its event. */
const turnSeconds = 8

/** Creates the worker. Its effect runs a turn of one receiver, and returns true if there may be more to do at once. */
export const make = Effect.gen(function* () {
  const events = yield* ReceivedEvents
  const handle = yield* Handlers.make
  const clocks = yield* TestClocks

  const attempt = Effect.fnUntraced(function* (event: ClaimedEvent) {
    const handled = yield* handle(event).pipe(
      inTimeOf(clocks, event.tenant),
      Effect.timeout(attemptSeconds * 1_000),
      Effect.orElseSucceed(() => undefined),
      orElseLogged("A received event could not be handled", undefined)
    )
    const final = finalResultOf(event, handled)
    const result = attemptResultOf(event, final, handled, yield* Time.serverNow)
    const attention = attentionOf(event, final, result)
    const isSettled = yield* Effect.orElseSucceed(events.settle(event, result, attention), () => false)
    if (isSettled && attention !== undefined) yield* logAttention(event, result.outcome, attention)
  })

  return yield* makeTurn(attempt)
})

/** Creates the effect that runs one turn, and returns false if no receiver has an event to handle. */
const makeTurn = Effect.fnUntraced(function* (attempt: (event: ClaimedEvent) => Effect.Effect<void>) {
  const events = yield* ReceivedEvents
  const oneAtATime = yield* Semaphore.make(1)
  const busy = new Set<string>()
  /** The receivers that have had a turn, until each with due events has had one. */
  const served = new Set<string>()

  const claim = (except: ReadonlySet<string>) => Effect.flatMap(Time.serverNow, (now) => events.claim(now, [...except]))

  const next = Effect.gen(function* () {
    let claimed = yield* claim(new Set([...busy, ...served]))
    if (claimed.length === 0 && served.size > 0) {
      served.clear()
      claimed = yield* claim(busy)
    }
    for (const { receiverId } of claimed.slice(0, 1)) {
      busy.add(receiverId)
      served.add(receiverId)
    }
    return claimed
  }).pipe(oneAtATime.withPermit)

  const handleAll = Effect.fnUntraced(function* (claimed: ReadonlyArray<ClaimedEvent>) {
    const end = (yield* Time.serverNow) + turnSeconds * 1_000
    for (const [index, event] of claimed.entries()) {
      if ((yield* Time.serverNow) >= end) return yield* events.release(claimed.slice(index))
      yield* attempt(event)
    }
  })

  return Effect.gen(function* () {
    const claimed = yield* next
    const [first] = claimed
    if (first === undefined) return false
    yield* Effect.ensuring(
      handleAll(claimed),
      Effect.sync(() => busy.delete(first.receiverId))
    )
    return true
  })
})

/** The stores of the worker. */
export const stores = Layer.mergeAll(
  ReceivedEvents.layer,
  Orders.layer,
  OrderPayments.layer,
  NamedGrants.layer.pipe(Layer.provide(AssignedProducts.layer)),
  SentMessages.layer,
  StoppedAddresses.layer
)

/** Starts the fibers that run the turns. */
export const run = Effect.gen(function* () {
  const turn = yield* make
  const failureMessage = "Received events could not be handled for now"
  for (let fibers = 0; fibers < receiversAtOnce; fibers++) {
    yield* start({ round: turn, pauseMillis: pollMillis, failureMessage })
  }
})

export const layer = Layer.effectDiscard(run).pipe(Layer.provide(stores))

/** The final result of an attempt; undefined if another one follows. */
const finalResultOf = ({ attempts }: ClaimedEvent, handled: HandlerResult | undefined): FinalResult | undefined => {
  if (handled?._tag !== "Again") return handled
  return attempts >= handled.attemptsMax ? handled.last : undefined
}

const statuses = { Done: "DONE", Ignored: "IGNORED", NeedsAttention: "NEEDS_ATTENTION" } as const

/** The written result of an attempt. An attempt without a result failed for now. */
const attemptResultOf = (
  { attempts }: ClaimedEvent,
  final: FinalResult | undefined,
  handled: HandlerResult | undefined,
  now: number
): AttemptResult => {
  if (final !== undefined) return { status: statuses[final._tag], outcome: final.outcome }
  const outcome = handled?.outcome ?? "UNAVAILABLE"
  const delayMillis = nextDelayMillis(attempts)
  return delayMillis === undefined
    ? { status: "FAILED", outcome }
    : { status: "WAITING", nextAt: now + delayMillis, outcome }
}

/** Events that a person has to look at. Otherwise the payment of an event whose every attempt failed may be lost. */
const attentionOf = (
  { adapter }: ClaimedEvent,
  final: FinalResult | undefined,
  { status }: AttemptResult
): Attention | undefined => {
  if (final?._tag === "NeedsAttention") return final.orderId === undefined ? {} : { orderId: final.orderId }
  return status === "FAILED" && adapter === "stripe" ? {} : undefined
}

/**
 * Logs that a person has to decide about an order, or about a payment without one: money has arrived or gone, and no
 * program refunds. The store has written `order.needs_attention` to the tenant's journal.
 */
const logAttention = (
  { receiverId, eventId, tenant }: ClaimedEvent,
  outcome: Outcome,
  { orderId }: Attention
): Effect.Effect<void> =>
  Effect.logWarning("An order needs attention").pipe(
    annotated("order.needs_attention", {
      organization: tenant.organizationId,
      mode: tenant.mode,
      receiver: receiverId,
      receivedEvent: eventId,
      reason: outcome,
      ...(orderId !== undefined && { order: orderId })
    })
  )
