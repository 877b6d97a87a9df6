/**
 * Variant options and their values on the Admin API: what each operation does.
 */
import { Effect, Result } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { type OrderProblem, ValueSettings } from "../../../domain/catalogue/VariantOption.ts"
import type { ValueOrderRefused } from "../../../store/catalogue/ValueOrder.ts"
import { VariantOptions } from "../../../store/catalogue/VariantOptions.ts"
import { type OptionFull, type ValueExists, VariantOptionValues } from "../../../store/catalogue/VariantOptionValues.ts"
import { CurrentTenant } from "../../credentials/Credentials.ts"
import { Conflict, type Issue, type ValidationError } from "../../errors/Errors.ts"
import { issueAt, issuesMax } from "../../errors/Issues.ts"
import { orNotFound, orServiceUnavailable } from "../../errors/Refusals.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { AdminApi } from "../Api.ts"
import { orInvalidPage } from "../records/Lists.ts"
import { withChanges } from "../records/Payloads.ts"
import { orInUse } from "../records/References.ts"
import { orArchived } from "../records/Restoring.ts"
import type {
  ChangeVariantOptionValue,
  CreateVariantOption,
  CreateVariantOptionValue,
  ValueOrder
} from "./VariantOptionApi.ts"

const defaults = { isCentrallyManaged: true }

export const VariantOptionHandlers = HttpApiBuilder.group(
  AdminApi,
  "variantOptions",
  Effect.fnUntraced(function* (handlers) {
    const options = yield* VariantOptions
    const values = yield* VariantOptionValues

    return handlers.handleAll({
      createVariantOption: Effect.fnUntraced(function* ({ payload }) {
        const { tenant, by } = yield* CurrentTenant
        const issues = repeatedValues(payload)
        if (issues.length > 0) return yield* invalidInput(issues)
        const first = (payload.values ?? []).map((value) => revised(defaults, value))
        return yield* options.create(tenant, by, { name: payload.name }, first)
      }, orServiceUnavailable),

      listVariantOptions: Effect.fnUntraced(function* ({ query }) {
        const { tenant } = yield* CurrentTenant
        return yield* options.list(tenant, query).pipe(orInvalidPage(query))
      }, orServiceUnavailable),

      getVariantOption: Effect.fnUntraced(
        function* ({ params: { optionId } }) {
          const { tenant } = yield* CurrentTenant
          return yield* options.find(tenant, optionId)
        },
        orNotFound,
        orServiceUnavailable
      ),

      changeVariantOption: Effect.fnUntraced(
        function* ({ params: { optionId }, payload: { name } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* options.change(tenant, optionId, by, name === undefined ? {} : { name })
        },
        orNotFound,
        orServiceUnavailable
      ),

      archiveVariantOption: Effect.fnUntraced(
        function* ({ params: { optionId } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* optionInUse(yield* options.archive(tenant, optionId, by))
        },
        orNotFound,
        orServiceUnavailable
      ),

      restoreVariantOption: Effect.fnUntraced(
        function* ({ params: { optionId } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* options.restore(tenant, optionId, by)
        },
        orNotFound,
        orServiceUnavailable
      ),

      listVariantOptionValues: Effect.fnUntraced(
        function* ({ params: { optionId }, query }) {
          const { tenant } = yield* CurrentTenant
          return yield* values.list(tenant, optionId, query).pipe(orInvalidPage(query))
        },
        orNotFound,
        orServiceUnavailable
      ),

      addVariantOptionValue: Effect.fnUntraced(
        function* ({ params: { optionId }, payload }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* values.add(tenant, optionId, by, revised(defaults, payload)).pipe(orConflict)
        },
        orNotFound,
        orServiceUnavailable
      ),

      changeVariantOptionValue: Effect.fnUntraced(
        function* ({ params: { optionId, valueId }, payload }) {
          const { tenant, by } = yield* CurrentTenant
          const revise = (settings: ValueSettings) => Result.succeed(revised(settings, payload))
          return yield* values.change(tenant, optionId, valueId, by, revise).pipe(orConflict)
        },
        orNotFound,
        orServiceUnavailable
      ),

      archiveVariantOptionValue: Effect.fnUntraced(
        function* ({ params: { optionId, valueId } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* valueInUse(yield* values.archive(tenant, optionId, valueId, by))
        },
        orNotFound,
        orServiceUnavailable
      ),

      restoreVariantOptionValue: Effect.fnUntraced(
        function* ({ params: { optionId, valueId } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* values.restore(tenant, optionId, valueId, by).pipe(orConflict)
        },
        orArchived,
        orNotFound,
        orServiceUnavailable
      ),

      reorderVariantOptionValues: Effect.fnUntraced(
        function* ({ params: { optionId }, payload }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* values.reorder(tenant, optionId, by, payload.valueOrder).pipe(orInvalidOrder(payload))
        },
        orNotFound,
        orServiceUnavailable
      )
    })
  })
)

/** The value's settings with the changes made. */
const revised = (
  settings: Partial<ValueSettings>,
  changes: typeof CreateVariantOptionValue.Type | typeof ChangeVariantOptionValue.Type
): ValueSettings =>
  // The text is in the payload of a creation, or in what is there already.
  withChanges<ValueSettings>(settings, changes, ValueSettings.fields, defaults) as ValueSettings

/** An issue for each value of a new option whose text one before it has. */
const repeatedValues = (payload: typeof CreateVariantOption.Type): ReadonlyArray<Issue> => {
  const texts = (payload.values ?? []).map(({ value }) => value)
  const first = new Map(texts.map((text, index) => [text, index] as const).toReversed())
  return texts
    .flatMap((text, index) => (first.get(text) === index ? [] : [index]))
    .slice(0, issuesMax)
    .map((index) =>
      issueAt(payload, ["values", index, "value"], {
        kind: "validation",
        type: "picklist",
        expected: "a text that no other value has"
      })
    )
}

const optionInUse = orInUse({ record: "Variant option", code: "OPTION_IN_USE", users: "variant(s)" })
const valueInUse = orInUse({ record: "Variant option value", code: "VALUE_IN_USE", users: "variant(s)" })

/** Turns what the values there are do not allow into a 409. */
const orConflict = <A, E, R>(
  effect: Effect.Effect<A, E | OptionFull | ValueExists, R>
): Effect.Effect<A, Exclude<E, OptionFull | ValueExists> | Conflict, R> =>
  Effect.catchTag(effect as Effect.Effect<A, OptionFull | ValueExists, R>, ["OptionFull", "ValueExists"], ({ _tag }) =>
    Effect.fail(
      _tag === "OptionFull"
        ? new Conflict({ error: "Variant option has as many values as it can have", code: "OPTION_FULL" })
        : new Conflict({ error: "Variant option has a value with this text", code: "VALUE_EXISTS" })
    )
  ) as Effect.Effect<A, Exclude<E, OptionFull | ValueExists> | Conflict, R>

/** Turns an order that is none into a 400 that names each identifier that keeps it from being one. */
const orInvalidOrder =
  (payload: typeof ValueOrder.Type) =>
  <A, E, R>(
    effect: Effect.Effect<A, E | ValueOrderRefused, R>
  ): Effect.Effect<A, Exclude<E, ValueOrderRefused> | ValidationError, R> =>
    Effect.catchTag(effect as Effect.Effect<A, ValueOrderRefused, R>, "ValueOrderRefused", ({ problems }) =>
      Effect.fail(invalidInput(problems.slice(0, issuesMax).map(orderIssue(payload))))
    ) as Effect.Effect<A, Exclude<E, ValueOrderRefused> | ValidationError, R>

const orderIssue =
  (payload: typeof ValueOrder.Type) =>
  ({ problem, id, index }: OrderProblem): Issue =>
    issueAt(payload, index === undefined ? "valueOrder" : ["valueOrder", index], {
      kind: "validation",
      type: "picklist",
      expected: {
        duplicate: `${id} once`,
        unknown: "a centrally managed value of this option",
        omitted: `${id} among them`
      }[problem]
    })
