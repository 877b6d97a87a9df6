/**
 * Variant options and their values on the Admin API: the declaration (interface document 2.5 and 4.1; completions 4,
 * "Catalogue" and "Reorder of values").
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Id } from "../../../domain/values/Ids.ts"
import {
  Settings,
  ValueSettings,
  valuesMax,
  VariantOption,
  VariantOptionValue,
  VariantOptionWithValues
} from "../../../domain/catalogue/VariantOption.ts"
import * as VariantOptions from "../../../store/catalogue/VariantOptions.ts"
import * as VariantOptionValues from "../../../store/catalogue/VariantOptionValues.ts"
import { Conflict, Forbidden, NotFound } from "../../errors/Errors.ts"
import { listAnnotations, listQuery, pageOf } from "../records/Lists.ts"
import { changeFields, createFields } from "../records/Payloads.ts"
import { operationsOnAll, operationsOnOne } from "../records/RecordApi.ts"
import { archivedQuery } from "../records/Restoring.ts"

/** The body of `POST /variant-options/{optionId}/values`, and of each value of a new option. */
export const CreateVariantOptionValue = Schema.Struct(createFields(ValueSettings.fields, ["value"])).annotate({
  identifier: "CreateVariantOptionValue"
})

/** The body of `PUT /variant-options/{optionId}/values/{valueId}`. */
export const ChangeVariantOptionValue = Schema.Struct(changeFields(ValueSettings.fields, ["value"])).annotate({
  identifier: "ChangeVariantOptionValue"
})

/** The body of `POST /variant-options`. */
export const CreateVariantOption = Schema.Struct({
  ...createFields(Settings.fields, ["name"]),
  values: Schema.optionalKey(Schema.NullOr(Schema.Array(CreateVariantOptionValue).check(Schema.isMaxLength(valuesMax))))
}).annotate({ identifier: "CreateVariantOption" })

/** The body of `PUT /variant-options/{optionId}`. */
export const ChangeVariantOption = Schema.Struct(changeFields(Settings.fields, ["name"])).annotate({
  identifier: "ChangeVariantOption"
})

/** The body of the request that sorts the values. */
export const ValueOrder = Schema.Struct({
  valueOrder: Schema.Array(Id).check(Schema.isMaxLength(valuesMax))
}).annotate({ identifier: "ValueOrder" })

const params = { optionId: Id }
const one = "variant-options/:optionId"
const values = `/${one}/values` as const

const option = { name: "VariantOption", aNoun: "a variant option", record: VariantOptionWithValues } as const
const { create, list } = operationsOnAll({ ...option, path: "variant-options" })
const { get, change, archive, restore } = operationsOnOne({ ...option, path: one, params })

const value = operationsOnOne({
  name: "VariantOptionValue",
  aNoun: "a value of a variant option",
  path: `${one}/values/:valueId`,
  params: { ...params, valueId: Id },
  record: VariantOptionValue
})

export class VariantOptionApi extends HttpApiGroup.make("variantOptions")
  .add(
    create({
      payload: CreateVariantOption,
      description: `With its first \`values\`, if one likes, in their order: all or nothing. ${valuesMax} at most, and no two of the same text.`
    }),
    list({
      shape: VariantOptions.shape,
      search: "the name",
      item: VariantOption,
      description:
        "All that are not archived, or with `archived=true` those that are; without their values: `GET /variant-options/{optionId}` has those."
    }),
    get("With all its values that are not archived, in order."),
    change({
      payload: ChangeVariantOption,
      description:
        "Send the fields to change: one that is absent keeps its value. Values are changed by operations of their own."
    }),
    archive({
      error: [NotFound, Conflict],
      description:
        "Answers the archived record; neither it nor its values are found afterwards, until it is restored. As long as a variant that is not archived has one of its values, it is refused (409 `OPTION_IN_USE`)."
    }),
    restore({ description: "It has the values that were not archived themselves." })
  )
  .add(
    HttpApiEndpoint.get("listVariantOptionValues", values, {
      params,
      query: { ...listQuery(VariantOptionValues.shape), ...archivedQuery },
      success: pageOf(VariantOptionValue).annotate({ identifier: "VariantOptionValuePage" }),
      error: NotFound
    }).annotateMerge(
      listAnnotations({
        summary: "List the values of a variant option",
        description: "All that are not archived, in their order, or with `archived=true` those that are."
      })
    ),
    HttpApiEndpoint.post("addVariantOptionValue", values, {
      params,
      payload: CreateVariantOptionValue,
      success: VariantOptionValue.pipe(HttpApiSchema.status(201)),
      error: [NotFound, Conflict]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Add a value to a variant option",
        description: `It comes after all others. \`isCentrallyManaged\` defaults to true: the value takes part in reordering. A text that another value of the option has is refused (409 \`VALUE_EXISTS\`), and so is one value more than ${valuesMax} (409 \`OPTION_FULL\`).`
      })
    ),
    HttpApiEndpoint.put("reorderVariantOptionValues", `${values}/reorder`, {
      params,
      payload: ValueOrder,
      success: Schema.Array(VariantOptionValue).annotate({ identifier: "VariantOptionValues" }),
      error: [NotFound, Forbidden]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Reorder the centrally managed values of a variant option",
        description:
          "`valueOrder` names each centrally managed value of the option once. Answers all values of the option in their new order, `sortOrder` from 0 on; those that are not centrally managed keep their order after the others. An identifier that is there twice, unknown or missing is a 400 that names it, and nothing changes."
      })
    ),
    value.change({
      payload: ChangeVariantOptionValue,
      error: [NotFound, Conflict],
      description:
        "Send the fields to change: one that is absent keeps its value, null takes an optional one back to its default. A text that another value of the option has is refused (409 `VALUE_EXISTS`)."
    }),
    value.archive({
      error: [NotFound, Conflict],
      description:
        "Answers the archived record. As long as a variant that is not archived has it, it is refused (409 `VALUE_IN_USE`)."
    }),
    value.restore({
      error: [NotFound, Conflict],
      description:
        "It comes after all others. If the option is archived it is refused (409 `PARENT_ARCHIVED`), and so it is if another value has its text (409 `VALUE_EXISTS`), or if the option has as many values as it can have (409 `OPTION_FULL`)."
    })
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Variant options",
      description: "What tells variants apart, such as size and colour, with their values in an order of one's own."
    })
  ) {}
