/** The handlers of variant options and their values on the Admin API. */
import { Effect, Result } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { type OrderProblem, ValueSettings } from "../../../domain/catalogue/VariantOption.ts"
import type { ValueOrderRefused } from "../../../store/catalogue/ValueOrder.ts"
import { VariantOptions } from "../../../store/catalogue/VariantOptions.ts"
import { type OptionFull, type ValueExists, VariantOptionValues } from "../../../store/catalogue/VariantOptionValues.ts"
import { answering } from "../../errors/Answering.ts"
import { Conflict, type Issue, type ValidationError } from "../../../api/Errors.ts"
import { issueAt, issuesMax } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { orInvalidPage, orArchived } from "../records/Refusals.ts"
import { revising } from "../records/Settings.ts"
import { forTenant, onList } from "../records/Operations.ts"
import { orInUse } from "../records/References.ts"
import type { CreateVariantOption, ValueOrder } from "../../../api/admin/VariantOptionApi.ts"

const defaults = { isCentrallyManaged: true }

export const VariantOptionHandlers = HttpApiBuilder.group(AdminApi, "variantOptions", (handlers) =>
  Effect.gen(function* () {
    const options = yield* VariantOptions
    const values = yield* VariantOptionValues

    return handlers.handleAll({
      createVariantOption: ({ payload }) =>
        forTenant((tenant, by) =>
          Effect.andThen(
            refuseRepeated(payload),
            options.create(
              tenant,
              by,
              { name: payload.name },
              (payload.values ?? []).map((value) => revised(defaults, value))
            )
          )
        ),

      listVariantOptions: onList(options.list),

      getVariantOption: ({ params: { optionId } }) => forTenant((tenant) => options.find(tenant, optionId)),

      changeVariantOption: ({ params: { optionId }, payload: { name } }) =>
        forTenant((tenant, by) => options.change(tenant, optionId, by, name === undefined ? {} : { name })),

      archiveVariantOption: ({ params: { optionId } }) =>
        forTenant((tenant, by) => Effect.flatMap(options.archive(tenant, optionId, by), optionInUse)),

      restoreVariantOption: ({ params: { optionId } }) =>
        forTenant((tenant, by) => options.restore(tenant, optionId, by)),

      listVariantOptionValues: ({ params: { optionId }, query }) =>
        forTenant((tenant) => values.list(tenant, optionId, query).pipe(orInvalidPage(query))),

      addVariantOptionValue: ({ params: { optionId }, payload }) =>
        forTenant((tenant, by) => values.add(tenant, optionId, by, revised(defaults, payload)).pipe(orConflict)),

      changeVariantOptionValue: ({ params: { optionId, valueId }, payload }) =>
        forTenant((tenant, by) => {
          const revise = (settings: ValueSettings) => Result.succeed(revised(settings, payload))
          return values.change(tenant, optionId, valueId, by, revise).pipe(orConflict)
        }),

      archiveVariantOptionValue: ({ params: { optionId, valueId } }) =>
        forTenant((tenant, by) => Effect.flatMap(values.archive(tenant, optionId, valueId, by), valueInUse)),

      restoreVariantOptionValue: ({ params: { optionId, valueId } }) =>
        forTenant((tenant, by) => values.restore(tenant, optionId, valueId, by).pipe(orConflict, orArchived)),

      reorderVariantOptionValues: ({ params: { optionId }, payload }) =>
        forTenant((tenant, by) =>
          values.reorder(tenant, optionId, by, payload.valueOrder).pipe(orInvalidOrder(payload))
        )
    })
  })
)

const optionInUse = orInUse({ record: "Variant option", code: "OPTION_IN_USE", users: "variant(s)" })

const valueInUse = orInUse({ record: "Variant option value", code: "VALUE_IN_USE", users: "variant(s)" })

/** The value's settings with the changes made. */
const revised = revising<ValueSettings>(ValueSettings.fields, defaults)

/** Fails with an issue for each value of a new option whose text an earlier value has. */
const refuseRepeated = (payload: typeof CreateVariantOption.Type): Effect.Effect<void, ValidationError> => {
  const texts = (payload.values ?? []).map(({ value }) => value)
  const first = new Map(texts.map((text, index) => [text, index] as const).toReversed())
  const issues = texts
    .flatMap((text, index) => (first.get(text) === index ? [] : [index]))
    .slice(0, issuesMax)
    .map((index) =>
      issueAt(payload, ["values", index, "value"], {
        kind: "validation",
        type: "picklist",
        expected: "a text that no other value has"
      })
    )
  return issues.length === 0 ? Effect.void : Effect.fail(invalidInput(issues))
}

/** Turns a value that the option cannot have into a 409. */
const orConflict = answering({
  OptionFull: (_: OptionFull) =>
    new Conflict({ error: "Variant option has as many values as it can have", code: "OPTION_FULL" }),
  ValueExists: (_: ValueExists) =>
    new Conflict({ error: "Variant option has a value with this text", code: "VALUE_EXISTS" })
})

/** Turns an order that does not name each value once into a 400 that names each wrong identifier. */
const orInvalidOrder = (payload: typeof ValueOrder.Type) =>
  answering({
    ValueOrderRefused: ({ problems }: ValueOrderRefused) =>
      invalidInput(problems.slice(0, issuesMax).map(orderIssue(payload)))
  })

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
