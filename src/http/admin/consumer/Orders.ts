/**
 * The handlers of orders on the Admin API.
 *
 * A grant is completed after its order has been written and before the transaction commits. All refusals have happened
 * by then, so only an order uses up a grant. If the process ends between the two, the grant is completed and the order
 * is missing. When the caller repeats the request, it finds the grant completed, and the order is written. A grant has
 * one order: the database refuses another one, on whichever node it arrives.
 */
import { Effect, Result } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { amountMax, isWhole, toText } from "../../../domain/values/Amount.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { fractionDigitsOf } from "../../../domain/values/Locale.ts"
import { isBeyondAmounts, mayBecome, type Priced, Settings } from "../../../domain/consumer/Order.ts"
import type { OrderableKind } from "../../../domain/mechanism/Mechanism.ts"
import type { OutOfStock } from "../../../domain/catalogue/Stock.ts"
import { Engine, type MechanismNotFound } from "../../../engine/Engine.ts"
import { completeGrant } from "../../../engine/lifecycle/GrantCompletion.ts"
import { countUnits } from "../../../engine/lifecycle/StockCounting.ts"
import {
  type Origin,
  type References,
  unknownDistribution,
  UnknownReferences
} from "../../../store/consumer/OrderOrigins.ts"
import { type ExternalIdTaken, type GrantHasOrder, Orders } from "../../../store/consumer/Orders.ts"
import { answering } from "../../errors/Answering.ts"
import { Conflict, type Issue, StockConflict, type ValidationError } from "../../../api/Errors.ts"
import { issueAt } from "../../errors/Issues.ts"
import { orAnswer } from "../../errors/Refusals.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { orBusy } from "../records/Answers.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { forTenant, onList, onRecord } from "../records/Operations.ts"
import type { ChangeOrder, CreateOrder } from "../../../api/admin/OrderApi.ts"
import { revising } from "../records/Settings.ts"
import * as Time from "../../../store/coordination/Time.ts"

export const OrderHandlers = HttpApiBuilder.group(AdminApi, "orders", (handlers) =>
  Effect.gen(function* () {
    const orders = yield* Orders
    const completion = yield* makeCompletion
    const count = countUnits(yield* Engine)

    const create = Effect.fnUntraced(function* (tenant: Tenant, by: string, payload: typeof CreateOrder.Type) {
      const placedAt = yield* Time.now
      const issues = amountIssues({
        total: payload.total ?? undefined,
        items: payload.items ?? [],
        currencyCode: payload.currencyCode ?? undefined
      })
      const { origin, currencyCode } = yield* orders.originOf(tenant, payload).pipe(orInvalid(payload, issues))
      const settings = created({ ...defaults, status: "CREATED", currencyCode, placedAt }, payload)
      const wrong = amountIssues(settings)
      if (wrong.length > 0) return yield* invalidInput(wrong)
      const { externalId, status } = settings
      const write = Effect.gen(function* () {
        yield* orders.refuseTaken(tenant, externalId)
        const complete =
          status === "CANCELLED"
            ? Effect.undefined
            : yield* completion(tenant, by, origin, externalId).pipe(orInvalid(payload))
        return yield* orders
          .create(tenant, by, origin, settings, { complete, countUnits: count })
          .pipe(orInvalid(payload))
      })
      // The same order of the same grant may be sent again, also while it is being written.
      return yield* Effect.catchTag(write, "ExternalIdTaken", (taken) =>
        Effect.flatMap(orders.sentBefore(tenant, origin, externalId), (order) =>
          order === undefined ? Effect.fail(taken) : Effect.succeed(order)
        )
      )
    })

    return handlers.handleAll({
      createOrder: ({ payload }) =>
        forTenant((tenant, by) => create(tenant, by, payload).pipe(orTaken, orGrantHasOrder, orOutOfStock)),

      listOrders: onList((tenant, query) => orders.list(tenant, query, query)),

      getOrder: onRecord(orders.find),

      changeOrder: ({ params: { id }, payload }) =>
        forTenant((tenant, by) =>
          orders
            .change(tenant, id, by, (settings) => changed(settings, payload), { countUnits: count })
            .pipe(orTaken, orOutOfStock)
        )
    })
  })
)

/**
 * Makes the effect that completes the consumer's place in the mechanism of the order, if the order names one. The
 * mechanism is started at once, so that the order's transaction does not wait for the start.
 */
const makeCompletion = Effect.gen(function* () {
  const engine = yield* Engine
  return Effect.fnUntraced(function* (
    tenant: Tenant,
    by: string,
    { consumerId, distributionId: id, distributionType: kind }: Origin,
    externalId: string | undefined
  ) {
    if (id === null || kind === null) return Effect.undefined
    const mechanism = { kind, id, tenant }
    yield* engine.identity<OrderableKind>(mechanism).pipe(orUnknown, orBusy)
    const redemption = externalId === undefined ? {} : { redemptionId: externalId }
    return completeGrant(engine, mechanism, { consumerId, by, ...redemption }).pipe(
      Effect.catchTag(["WrongStatus", "InvalidGrant"], (error) => orAnswer(kind)(Effect.fail(error))),
      orUnknown,
      orBusy
    )
  })
})

const defaults = { items: [] }

const revised = revising<Settings>(Settings.fields, defaults)

/** The settings of a new order: those of the body, else the given ones. Null in the body counts as absent. */
const created = (given: Settings, said: typeof CreateOrder.Type): Settings =>
  revising<Settings>(Settings.fields, given)(given, said)

/** The order with the changes made, if its status allows them. */
const changed = (
  settings: Settings,
  changes: typeof ChangeOrder.Type
): Result.Result<Settings, Conflict | ValidationError> => {
  const next = revised(settings, changes)
  const issues = amountIssues(next, settings)
  if (issues.length > 0) return Result.fail(invalidInput(issues))
  if (mayBecome(settings.status, next.status)) return Result.succeed(next)
  const error = `An order that is ${settings.status} cannot become ${next.status}`
  return Result.fail(new Conflict({ error, code: "ORDER_STATUS" }))
}

/** An order whose currency may not be known yet. */
type Worth = Priced & { readonly currencyCode?: string | undefined }

/**
 * The issues of an order whose sum is larger than an amount can be, or whose total is not in whole minor units of its
 * currency. A total from before this was checked may stay.
 */
const amountIssues = (order: Worth, before?: Worth): ReadonlyArray<Issue> => {
  const { total, currencyCode } = order
  if (isBeyondAmounts(order)) {
    const expected = `a sum of at most ${toText(amountMax)}`
    return [issueAt({ items: [] }, "items", { kind: "validation", type: "max_value", expected })]
  }
  if (total === undefined || currencyCode === undefined) return []
  const digits = fractionDigitsOf(currencyCode)
  const isNew = total !== before?.total || currencyCode !== before.currencyCode
  if (!isNew || isWhole(total, digits)) return []
  const expected = `an amount in ${currencyCode}, with at most ${digits} digits after the point`
  return [issueAt({ total }, "total", { kind: "validation", type: "amount", expected })]
}

/** Turns names of records that do not exist into a 400 with an issue for each of them and for the others. */
const orInvalid = (
  { consumerId, experienceId, sequenceId, distributionId }: References,
  others: ReadonlyArray<Issue> = []
) =>
  answering({
    UnknownReferences: ({ problems }: UnknownReferences) => {
      const shown = { consumerId, experienceId, sequenceId, distributionId }
      const issues = problems.map(({ field, expected }) =>
        issueAt(shown, field, { kind: "validation", type: "picklist", expected })
      )
      return invalidInput([...others, ...issues])
    }
  })

/** Turns a mechanism that has just been archived into a reference that does not exist. */
const orUnknown = answering({
  MechanismNotFound: (_: MechanismNotFound) => new UnknownReferences({ problems: [unknownDistribution] })
})

/** Turns a variant with too few units left into a 409 that names it. */
const orOutOfStock = answering({
  OutOfStock: ({ productVariantId, requested, available }: OutOfStock) =>
    new StockConflict({
      error: `Variant ${productVariantId} is out of stock: units asked for ${requested}, units left ${available}`,
      code: "OUT_OF_STOCK",
      productVariantId,
      available
    })
})

/** Turns a grant that another order came from into a 409. */
const orGrantHasOrder = answering({
  GrantHasOrder: (_: GrantHasOrder) =>
    new Conflict({ error: "The grant has an order already", code: "GRANT_HAS_ORDER" })
})

/** Turns an external id that another order has into a 409. */
const orTaken = answering({
  ExternalIdTaken: (_: ExternalIdTaken) =>
    new Conflict({ error: "Another order has this externalId", code: "EXTERNAL_ID_TAKEN" })
})
