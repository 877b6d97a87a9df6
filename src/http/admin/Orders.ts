/**
 * Orders on the Admin API: what each operation does.
 *
 * A grant is completed before its order is written, because only then is it known that there is one. If writing fails, the
 * grant is completed and the order is not there: sent again, it finds the grant completed, which is no less good, and is
 * written. So what may be refused is looked at before.
 */
import { Clock, Effect, Result } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { amountMax, toText } from "../../domain/Amount.ts"
import type { Tenant } from "../../domain/Ids.ts"
import { isBeyondAmounts, mayBecome, type OrderableKind, type Priced, Settings } from "../../domain/Order.ts"
import type { WrongStatus } from "../../domain/Refusals.ts"
import { Engine, type EngineError } from "../../engine/Engine.ts"
import { type Origin, type References, unknownDistribution, UnknownReferences } from "../../store/OrderOrigins.ts"
import { type ExternalIdTaken, Orders } from "../../store/Orders.ts"
import { CurrentTenant } from "../Credentials.ts"
import { Conflict, type Issue, type ValidationError } from "../Errors.ts"
import { issueAt } from "../Issues.ts"
import { orAnswer, orNotFound, orServiceUnavailable } from "../Refusals.ts"
import { invalidInput } from "../Validation.ts"
import { orBusy } from "./Answers.ts"
import { AdminApi } from "./Api.ts"
import { orInvalidPage } from "./Lists.ts"
import type { ChangeOrder, CreateOrder } from "./OrderApi.ts"
import { withChanges } from "./Payloads.ts"

export const OrderHandlers = HttpApiBuilder.group(
  AdminApi,
  "orders",
  Effect.fnUntraced(function* (handlers) {
    const orders = yield* Orders
    const engine = yield* Engine

    /** Completes what the consumer holds in the mechanism it ordered through, if it did through one. */
    const completed = (tenant: Tenant, { consumerId, distributionId: id, distributionType: kind }: Origin) => {
      if (id === null || kind === null) return Effect.void
      const grant = engine.send<OrderableKind>({ kind, id, tenant }, { _tag: "Complete", consumerId })
      // Completing refuses nothing but the status of what is to be completed.
      return (grant as Effect.Effect<unknown, WrongStatus | EngineError>).pipe(
        Effect.catchTag("WrongStatus", (error) => orAnswer(kind)(Effect.fail(error))),
        // Archived in this moment.
        Effect.catchTag("MechanismNotFound", () =>
          Effect.fail(new UnknownReferences({ problems: [unknownDistribution] }))
        ),
        orBusy
      )
    }

    return handlers.handleAll({
      createOrder: Effect.fnUntraced(
        function* ({ payload }) {
          const { tenant, by } = yield* CurrentTenant
          const placedAt = yield* Clock.currentTimeMillis
          const beyond = beyondAmounts({ total: payload.total ?? undefined, items: payload.items ?? [] })
          const { origin, currencyCode } = yield* orders.originOf(tenant, payload).pipe(orInvalid(payload, beyond))
          if (beyond.length > 0) return yield* invalidInput(beyond)
          const settings = created({ ...defaults, status: "CREATED", currencyCode, placedAt }, payload)
          yield* orders.refuseTaken(tenant, settings.externalId)
          if (settings.status !== "CANCELLED") yield* completed(tenant, origin).pipe(orInvalid(payload))
          return yield* orders.create(tenant, by, origin, settings).pipe(orInvalid(payload))
        },
        orTaken,
        orServiceUnavailable
      ),

      listOrders: Effect.fnUntraced(function* ({ query }) {
        const { tenant } = yield* CurrentTenant
        return yield* orders.list(tenant, query, query).pipe(orInvalidPage(query))
      }, orServiceUnavailable),

      getOrder: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant } = yield* CurrentTenant
          return yield* orders.find(tenant, id)
        },
        orNotFound,
        orServiceUnavailable
      ),

      changeOrder: Effect.fnUntraced(
        function* ({ params: { id }, payload }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* orders.change(tenant, id, by, (settings) => changed(settings, payload))
        },
        orTaken,
        orNotFound,
        orServiceUnavailable
      )
    })
  })
)

const defaults = { items: [] }

/** The settings with the changes made. */
const revised = (settings: Settings, changes: typeof ChangeOrder.Type): Settings =>
  // What is there already has every required setting.
  withChanges<Settings>(settings, changes, Settings.fields, defaults) as Settings

/** The settings of a new order: what is said, and else what is given; null says nothing. */
const created = (given: Settings, said: typeof CreateOrder.Type): Settings =>
  withChanges<Settings>(given, said, Settings.fields, given) as Settings

/** The order with the changes made, if it may become so. */
const changed = (
  settings: Settings,
  changes: typeof ChangeOrder.Type
): Result.Result<Settings, Conflict | ValidationError> => {
  const next = revised(settings, changes)
  const beyond = beyondAmounts(next)
  if (beyond.length > 0) return Result.fail(invalidInput(beyond))
  if (mayBecome(settings.status, next.status)) return Result.succeed(next)
  const error = `An order that is ${settings.status} cannot become ${next.status}`
  return Result.fail(new Conflict({ error, code: "ORDER_STATUS" }))
}

/** The issue of an order that costs more than can be said; none as a rule. */
const beyondAmounts = (order: Priced): ReadonlyArray<Issue> =>
  isBeyondAmounts(order)
    ? [
        issueAt({ items: [] }, "items", {
          kind: "validation",
          type: "max_value",
          expected: `a sum of at most ${toText(amountMax)}`
        })
      ]
    : []

/** Turns names of what is not there into a 400 with an issue for each, and whatever else is wrong. */
const orInvalid =
  (named: References, others: ReadonlyArray<Issue> = []) =>
  <A, E, R>(
    effect: Effect.Effect<A, E | UnknownReferences, R>
  ): Effect.Effect<A, Exclude<E, UnknownReferences> | ValidationError, R> =>
    Effect.catchTag(effect as Effect.Effect<A, UnknownReferences, R>, "UnknownReferences", ({ problems }) => {
      const { consumerId, experienceId, sequenceId, distributionId } = named
      const shown = { consumerId, experienceId, sequenceId, distributionId }
      const issues = problems.map(({ field, expected }) =>
        issueAt(shown, field, { kind: "validation", type: "picklist", expected })
      )
      return Effect.fail(invalidInput([...others, ...issues]))
    }) as Effect.Effect<A, Exclude<E, UnknownReferences> | ValidationError, R>

/** Turns an external id that is taken into a 409. */
const orTaken = <A, E, R>(
  effect: Effect.Effect<A, E | ExternalIdTaken, R>
): Effect.Effect<A, Exclude<E, ExternalIdTaken> | Conflict, R> =>
  Effect.catchTag(effect as Effect.Effect<A, ExternalIdTaken, R>, "ExternalIdTaken", () =>
    Effect.fail(new Conflict({ error: "Another order has this externalId", code: "EXTERNAL_ID_TAKEN" }))
  ) as Effect.Effect<A, Exclude<E, ExternalIdTaken> | Conflict, R>
