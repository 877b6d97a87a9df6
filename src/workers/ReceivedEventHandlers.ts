/**
 * What the events of receivers do, by their meaning: payments, refunds, reports about messages, opting out and in. Each
 * step may be repeated, because an event is handled at least once.
 *
 * A payment completes the grant that it names, and its order is paid; without an order for the grant, one is made. A
 * checkout leads to one order. A payment that is not worth what the order asks, or else the grant, changes nothing.
 */
import { Effect, Result } from "effect"
import { GrantNames } from "../auth/tokens/GrantNames.ts"
import { mayBecome, type OrderStatus, type Settings } from "../domain/consumer/Order.ts"
import { meaningOf } from "../domain/receiver/Adapters.ts"
import {
  isWorth,
  type MessageReported,
  type OptedIn,
  type OptedOut,
  type Paid,
  type Refunded
} from "../domain/receiver/Meaning.ts"
import type { Outcome } from "../domain/receiver/Receiver.ts"
import { Engine } from "../engine/Engine.ts"
import { countUnits } from "../engine/lifecycle/StockCounting.ts"
import { completeGrant } from "../engine/lifecycle/GrantCompletion.ts"
import { OrderPayments, type PaidOrder } from "../store/consumer/OrderPayments.ts"
import { Orders } from "../store/consumer/Orders.ts"
import { type FoundGrant, NamedGrants } from "../store/mechanism/NamedGrants.ts"
import { SentMessages } from "../store/message/SentMessages.ts"
import { StoppedAddresses } from "../store/message/StoppedAddresses.ts"
import type { ClaimedEvent } from "../store/receiver/ReceivedEvents.ts"
import * as Time from "../store/coordination/Time.ts"

/** Attempts to find an order that another event or request may write later: a refund may arrive before its payment. */
const orderAttemptsMax = 9

/** Attempts to find a message: a report may arrive before the sender has noted its id. */
const messageAttemptsMax = 2

/** The final result of an event: `NeedsAttention` if a person has to look at it. */
export type FinalResult =
  | { readonly _tag: "Done" | "Ignored"; readonly outcome: Outcome }
  | { readonly _tag: "NeedsAttention"; readonly outcome: Outcome; readonly orderId?: string }

/**
 * The result of an attempt to handle an event. `Again`: another event may have to come first, since events arrive in any
 * order. After so many attempts, `last` is the result.
 */
export type HandlerResult =
  | FinalResult
  | { readonly _tag: "Again"; readonly outcome: Outcome; readonly attemptsMax: number; readonly last: FinalResult }

/** Creates the function that handles an event. */
export const make = Effect.gen(function* () {
  const { pay, refund } = yield* makePayments
  const { report, optOut, optIn } = yield* makeMessages

  return (event: ClaimedEvent) => {
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
})

const makePayments = Effect.gen(function* () {
  const orders = yield* Orders
  const count = countUnits(yield* Engine)
  const payments = yield* OrderPayments
  const grants = yield* NamedGrants
  const names = yield* GrantNames
  const createPaid = yield* makeCreatePaid
  const payExisting = yield* makePayExisting

  const pay = Effect.fnUntraced(function* (event: ClaimedEvent, paid: Paid) {
    const { grant: named } = paid
    const { tenant } = event
    // The provider's account may sell other things too.
    if (named === undefined) return ignored("IGNORED")
    const grant = yield* grants.find(tenant, named)
    // A buyer can choose the reference of some checkouts, so a name that was counted or guessed is none.
    if (grant === undefined || !names.isWhole(named)) {
      return needsAttention("GRANT_UNKNOWN")
    }
    const find = payments.ofGrant(tenant, grant, paid.checkoutId)
    const existing = yield* find
    if (existing !== undefined) return yield* payExisting(event, paid, grant, existing)
    if (!isWorth(paid, yield* grants.asked(tenant, grant), event.allowedAdjustments)) {
      return needsAttention("AMOUNT_DIFFERS")
    }
    return yield* Effect.catchTag(createPaid(event, paid, grant), ["ExternalIdTaken", "GrantHasOrder"], () =>
      // Another order was written meanwhile.
      Effect.flatMap(find, (written) =>
        written === undefined
          ? Effect.succeed(again(orderAttemptsMax, needsAttention("GRANT_HAS_ANOTHER_ORDER")))
          : payExisting(event, paid, grant, written)
      )
    )
  })

  const refund = Effect.fnUntraced(function* (event: ClaimedEvent, { paymentId, isWhole }: Refunded) {
    const found = paymentId === undefined ? undefined : yield* payments.ofPayment(event.tenant, paymentId)
    if (found === undefined) return again(orderAttemptsMax, ignored("ORDER_UNKNOWN"))
    const { id, status } = found.order
    if (status === "CANCELLED") return done("ALREADY_DONE")
    if (!isWhole) return needsAttention("PARTLY_REFUNDED", id)
    if (status === "FULFILLED") return needsAttention("ORDER_FULFILLED", id)
    yield* orders.change(event.tenant, id, authorOf(event), become("CANCELLED"), {
      keepsUnits: true,
      countUnits: count
    })
    return done("ORDER_CANCELLED")
  })

  return { pay, refund }
})

/** Makes the function that lets an order that exists already be paid. */
const makePayExisting = Effect.gen(function* () {
  const orders = yield* Orders
  const count = countUnits(yield* Engine)
  const payments = yield* OrderPayments
  const grants = yield* NamedGrants

  return Effect.fnUntraced(function* (
    { tenant, ...event }: ClaimedEvent,
    paid: Paid,
    grant: FoundGrant,
    { order, asked, paymentId }: PaidOrder
  ) {
    const { id, status } = order
    const isNoted = paymentId === keyOf(paid)
    const isSame = isNoted || order.externalId === paid.checkoutId
    if (status === "CANCELLED") {
      return isSame && order.paidAt !== null ? done("ALREADY_DONE") : needsAttention("PAID_AFTER_CANCELLATION", id)
    }
    if (paymentId !== undefined && !isSame) return needsAttention("GRANT_HAS_ANOTHER_ORDER", id)
    if (order.grantLapsed) return needsAttention("GRANT_LAPSED", id)
    if (isNoted && status !== "CREATED") return done("ALREADY_DONE")
    const price = asked ?? (yield* grants.asked(tenant, grant))
    if (!isWorth(paid, price, event.allowedAdjustments)) return needsAttention("AMOUNT_DIFFERS", id)
    // Of two payments at the same time, the first one is the order's.
    const isClaimed = paymentId !== undefined || (yield* payments.note(tenant, id, keyOf(paid)))
    if (!isClaimed) return needsAttention("GRANT_HAS_ANOTHER_ORDER", id)
    if (status !== "CREATED") return done("ALREADY_DONE")
    const changed = yield* orders.change(tenant, id, authorOf(event), become("PAID"), { countUnits: count })
    return changed.status === "CANCELLED" ? needsAttention("PAID_AFTER_CANCELLATION", id) : done("ORDER_PAID")
  })
})

/** Makes the function that creates the order of a payment, as `POST /orders` does. */
const makeCreatePaid = Effect.gen(function* () {
  const orders = yield* Orders
  const engine = yield* Engine

  return Effect.fnUntraced(
    function* (event: ClaimedEvent, paid: Paid, grant: FoundGrant) {
      const { tenant } = event
      const { consumerId, kind, mechanismId, sequence } = grant
      const { origin } = yield* orders.originOf(tenant, { consumerId, distributionId: mechanismId })
      const mechanism = { kind, id: mechanismId, tenant }
      // The order's transaction does not wait for the start of the mechanism.
      yield* engine.identity(mechanism)
      const settings: Settings = {
        externalId: paid.checkoutId,
        status: "PAID",
        currencyCode: paid.currencyCode,
        total: paid.amount,
        items: [],
        placedAt: yield* Time.now
      }
      const create = (complete: ReturnType<typeof completeGrant>, grantLapsed: boolean) =>
        orders.create(tenant, authorOf(event), origin, settings, {
          complete,
          payment: { paymentId: keyOf(paid), grantLapsed },
          countUnits: countUnits(engine)
        })
      const completion = completeGrant(engine, mechanism, {
        consumerId,
        by: authorOf(event),
        redemptionId: paid.checkoutId,
        grantSequence: sequence
      })
      // A grant that was completed, and followed by another one, is refused too.
      const created = grant.isCompleted
        ? create(Effect.succeed(sequence), false)
        : create(completion, false).pipe(
            Effect.catchTag(["WrongStatus", "InvalidGrant"], () => create(Effect.succeed(sequence), true))
          )
      const { id, grantLapsed } = yield* created
      return grantLapsed ? needsAttention("GRANT_LAPSED", id) : done("ORDER_PAID")
    },
    // The mechanism or the consumer is archived.
    Effect.catchTag(["UnknownReferences", "MechanismNotFound"], () => Effect.succeed(needsAttention("GRANT_UNKNOWN")))
  )
})

const makeMessages = Effect.gen(function* () {
  const sent = yield* SentMessages
  const addresses = yield* StoppedAddresses

  const report = Effect.fnUntraced(function* (
    { tenant, receiverId }: ClaimedEvent,
    { channel, messageIds, status, stopped }: MessageReported
  ) {
    if (stopped.length > 0) {
      const reason = status === "COMPLAINED" ? "COMPLAINED" : "BOUNCED"
      yield* addresses.stop(tenant, receiverId, channel, stopped, reason)
    }
    const isKnown = yield* sent.report(tenant, channel, messageIds, status)
    if (stopped.length > 0) return done("ADDRESS_STOPPED")
    return isKnown ? done("MESSAGE_REPORTED") : again(messageAttemptsMax, ignored("MESSAGE_UNKNOWN"))
  })

  const optOut = ({ tenant, receiverId }: ClaimedEvent, { channel, address }: OptedOut) =>
    Effect.as(addresses.stop(tenant, receiverId, channel, [address], "OPTED_OUT"), done("ADDRESS_STOPPED"))

  const optIn = ({ tenant, receiverId }: ClaimedEvent, { channel, address }: OptedIn) =>
    Effect.as(addresses.allow(tenant, `receiver:${receiverId}`, channel, address), done("ADDRESS_ALLOWED"))

  return { report, optOut, optIn }
})

/** The author of the changes that an event causes. */
const authorOf = ({ receiverId }: Pick<ClaimedEvent, "receiverId">): string => `receiver:${receiverId}`

/** The key of a payment, which its refund names too. A checkout without a payment has its own id. */
const keyOf = ({ paymentId, checkoutId }: Paid): string => paymentId ?? checkoutId

/** The order in another status, unless it has gone further meanwhile. */
const become =
  (status: OrderStatus) =>
  (settings: Settings): Result.Result<Settings> =>
    Result.succeed(mayBecome(settings.status, status) ? { ...settings, status } : settings)

const done = (outcome: Outcome): FinalResult => ({ _tag: "Done", outcome })
const ignored = (outcome: Outcome): FinalResult => ({ _tag: "Ignored", outcome })

const needsAttention = (outcome: Outcome, orderId?: string): FinalResult => ({
  _tag: "NeedsAttention",
  outcome,
  ...(orderId !== undefined && { orderId })
})

const again = (attemptsMax: number, last: FinalResult): HandlerResult => ({
  _tag: "Again",
  outcome: last.outcome,
  attemptsMax,
  last
})
