/**
 * Handles the events of receivers. Any number of processes may run the worker: each event is taken by one of them, and
 * by another one only after 20 s without a result. So an event is handled at least once, and handling it is idempotent.
 * A process handles the events of one receiver in order; two processes may handle some at the same time.
 */
import { Clock, Effect, Layer } from "effect"
import { meaningOf } from "../domain/receiver/Adapters.ts"
import { nextDelayMillis } from "../domain/receiver/Attempts.ts"
import { OrderPayments } from "../store/consumer/OrderPayments.ts"
import { Orders } from "../store/consumer/Orders.ts"
import { AssignedProducts } from "../store/experience/AssignedProducts.ts"
import { NamedGrants } from "../store/mechanism/NamedGrants.ts"
import { SentMessages } from "../store/message/SentMessages.ts"
import { StoppedAddresses } from "../store/message/StoppedAddresses.ts"
import { type Attention, ReceivedEvents, type Settled } from "../store/receiver/ReceivedEvents.ts"
import type { TakenEvent } from "../store/receiver/TakenEvents.ts"
import { type Handled, ignored } from "./receiver/Handled.ts"
import * as Messages from "./receiver/Messages.ts"
import { logAttention } from "./receiver/OrderNeedsAttention.ts"
import * as Payments from "./receiver/Payments.ts"
import * as Turns from "./receiver/Turns.ts"

/** Pause between polls when there is nothing to do. */
const pollMillis = 1_000

/** Receivers with an event in progress at the same time. Orders hold connections, which entries need too. */
const receiversAtOnce = 4

/** Seconds for one attempt, less than those after which another process takes the event. */
const attemptSeconds = 12

/** Creates the worker. Its effect runs a turn of one receiver, and returns true if there may be more to do at once. */
export const make = Effect.gen(function* () {
  const events = yield* ReceivedEvents
  const { pay, refund } = yield* Payments.make
  const { report, optOut, optIn } = yield* Messages.make

  const handle = (event: TakenEvent) => {
    const meaning = meaningOf(event.adapter, event.type, event.body)
    switch (meaning._tag) {
      case "Paid":
        return pay(event, meaning)
      case "Refunded":
        return refund(event, meaning)
      case "MessageReported":
        return report(event, meaning)
      case "OptedOut":
        return optOut(event, meaning)
      case "OptedIn":
        return optIn(event, meaning)
      case "Nothing":
        return Effect.succeed(ignored("IGNORED"))
    }
  }

  const attempt = Effect.fnUntraced(function* (event: TakenEvent) {
    const handled = yield* handle(event).pipe(
      Effect.timeout(attemptSeconds * 1_000),
      Effect.orElseSucceed(() => undefined),
      Effect.catchDefect((defect) =>
        Effect.as(Effect.logError("A received event could not be handled", defect), undefined)
      )
    )
    const result = resultOf(event, handled)
    const settled = settledAs(event, result ?? handled, yield* Clock.currentTimeMillis)
    const attention = attentionOf(event, result, settled)
    const isSettled = yield* Effect.orElseSucceed(events.settle(event, settled, attention), () => false)
    if (isSettled && attention !== undefined) yield* logAttention(event, settled.outcome, attention)
  })

  return yield* Turns.make(attempt)
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
  const poll = Effect.flatMap(orLater(turn), (isMore) => (isMore ? Effect.void : Effect.sleep(pollMillis)))
  for (let fibers = 0; fibers < receiversAtOnce; fibers++) yield* Effect.forkScoped(Effect.forever(poll))
})

export const layer = Layer.effectDiscard(run).pipe(Layer.provide(stores))

/** The final result of an attempt; undefined if another one follows. */
const resultOf = (
  { attempts }: TakenEvent,
  handled: Handled | undefined
): Exclude<Handled, { _tag: "Again" }> | undefined => {
  if (handled?._tag !== "Again") return handled
  const { last, attemptsMax } = handled
  return attempts >= attemptsMax && last._tag !== "Again" ? last : undefined
}

const statuses = { Done: "DONE", Ignored: "IGNORED", NeedsAttention: "NEEDS_ATTENTION" } as const

/** Events that a person has to look at. Otherwise the payment of an event whose every attempt failed may be lost. */
const attentionOf = (
  { adapter }: TakenEvent,
  result: Handled | undefined,
  { status }: Settled
): Attention | undefined => {
  if (result?._tag === "NeedsAttention") return result.orderId === undefined ? {} : { orderId: result.orderId }
  return status === "FAILED" && adapter === "stripe" ? {} : undefined
}

/** The written result of an attempt. An attempt without a result failed for now. */
const settledAs = ({ attempts }: TakenEvent, handled: Handled | undefined, now: number): Settled => {
  if (handled !== undefined && handled._tag !== "Again") {
    return { status: statuses[handled._tag], outcome: handled.outcome }
  }
  const outcome = handled?.outcome ?? "UNAVAILABLE"
  const delayMillis = nextDelayMillis(attempts)
  return delayMillis === undefined
    ? { status: "FAILED", outcome }
    : { status: "WAITING", nextAt: now + delayMillis, outcome }
}

/** Returns false if the database is unavailable, or after a defect, which it logs. */
function orLater<E, R>(work: Effect.Effect<boolean, E, R>): Effect.Effect<boolean, never, R> {
  return work.pipe(
    Effect.orElseSucceed(() => false),
    Effect.catchDefect((defect) =>
      Effect.as(Effect.logError("Received events could not be handled for now", defect), false)
    )
  )
}
