/**
 * Payments and refunds. A payment completes the grant that it names, and its order is paid; without an order for the
 * grant, one is made. A payment that is not worth what the order asks, or else the grant, changes nothing. Each step may
 * be repeated: an event is handled at least once, and a checkout leads to one order.
 */
import { Clock, Effect, Result } from "effect"
import { GrantNames } from "../../auth/tokens/GrantNames.ts"
import { mayBecome, type OrderStatus, type Settings } from "../../domain/consumer/Order.ts"
import { isWorth, type Paid, type Refunded } from "../../domain/receiver/Meaning.ts"
import { Engine } from "../../engine/Engine.ts"
import { completeGrant } from "../../engine/lifecycle/GrantCompletion.ts"
import { OrderPayments, type PaidOrder } from "../../store/consumer/OrderPayments.ts"
import { Orders } from "../../store/consumer/Orders.ts"
import { type FoundGrant, NamedGrants } from "../../store/mechanism/NamedGrants.ts"
import type { TakenEvent } from "../../store/receiver/TakenEvents.ts"
import { again, done, ignored, needsAttention } from "./Handled.ts"

/** Attempts to find an order that another event or request may write later: a refund may arrive before its payment. */
const attemptsMax = 9

/** Makes the functions that handle payments and refunds. */
export const make = Effect.gen(function* () {
  const orders = yield* Orders
  const payments = yield* OrderPayments
  const grants = yield* NamedGrants
  const names = yield* GrantNames
  const createPaid = yield* makeCreatePaid
  const payExisting = yield* makePayExisting

  const pay = Effect.fnUntraced(function* (event: TakenEvent, paid: Paid) {
    const { grant: named } = paid
    const { tenant } = event
    // The provider's account may sell other things too.
    if (named === undefined) return ignored("IGNORED")
    const grant = yield* grants.find(tenant, named)
    // A buyer can choose the reference of some checkouts, so a name that was counted or guessed is none.
    if (grant === undefined || named.name !== names.of(grant.mechanismId, grant.sequence, grant.grantedAt)) {
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
          ? Effect.succeed(again(attemptsMax, needsAttention("GRANT_HAS_ANOTHER_ORDER")))
          : payExisting(event, paid, grant, written)
      )
    )
  })

  const refund = Effect.fnUntraced(function* (event: TakenEvent, { paymentId, isWhole }: Refunded) {
    const found = paymentId === undefined ? undefined : yield* payments.ofPayment(event.tenant, paymentId)
    if (found === undefined) return again(attemptsMax, ignored("ORDER_UNKNOWN"))
    const { id, status } = found.order
    if (status === "CANCELLED") return done("ALREADY_DONE")
    if (!isWhole) return needsAttention("PARTLY_REFUNDED", id)
    if (status === "FULFILLED") return needsAttention("ORDER_FULFILLED", id)
    yield* orders.change(event.tenant, id, authorOf(event), become("CANCELLED"), { keepsUnits: true })
    return done("ORDER_CANCELLED")
  })

  return { pay, refund }
})

/** Makes the function that lets an order that exists already be paid. */
const makePayExisting = Effect.gen(function* () {
  const orders = yield* Orders
  const payments = yield* OrderPayments
  const grants = yield* NamedGrants

  return Effect.fnUntraced(function* (
    { tenant, ...event }: TakenEvent,
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
    const changed = yield* orders.change(tenant, id, authorOf(event), become("PAID"))
    return changed.status === "CANCELLED" ? needsAttention("PAID_AFTER_CANCELLATION", id) : done("ORDER_PAID")
  })
})

/** Makes the function that creates the order of a payment, as `POST /orders` does. */
const makeCreatePaid = Effect.gen(function* () {
  const orders = yield* Orders
  const engine = yield* Engine

  return Effect.fnUntraced(
    function* (event: TakenEvent, paid: Paid, grant: FoundGrant) {
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
        placedAt: yield* Clock.currentTimeMillis
      }
      const create = (complete: ReturnType<typeof completeGrant>, grantLapsed: boolean) =>
        orders.create(tenant, authorOf(event), origin, settings, complete, { paymentId: keyOf(paid), grantLapsed })
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

/** The author of the changes that an event causes. */
const authorOf = ({ receiverId }: Pick<TakenEvent, "receiverId">): string => `receiver:${receiverId}`

/** The key of a payment, which its refund names too. A checkout without a payment has its own id. */
const keyOf = ({ paymentId, checkoutId }: Paid): string => paymentId ?? checkoutId

/** The order in another status, unless it has gone further meanwhile. */
const become =
  (status: OrderStatus) =>
  (settings: Settings): Result.Result<Settings> =>
    Result.succeed(mayBecome(settings.status, status) ? { ...settings, status } : settings)
