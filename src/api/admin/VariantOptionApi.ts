/** Variant options and their values on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Id } from "../../domain/values/Ids.ts"
import {
  Settings,
  ValueSettings,
  valuesMax,
  VariantOption,
  VariantOptionValue,
  VariantOptionWithValues,
  variantOptionValueSorts,
  variantOptionSorts
} from "../../domain/catalogue/VariantOption.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { listAnnotations, listQuery, pageOf, archivedQuery } from "./Lists.ts"
import { changeFields, createFields } from "./Payloads.ts"
import { operationsOnAll, operationsOnOne } from "./RecordApi.ts"

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
      description:
        `Creates the option with optional first \`values\`, in their order, all or nothing. It has at most ${valuesMax} ` +
        "values, and no two with the same text."
    }),
    list({
      sorts: variantOptionSorts,
      search: "the name",
      item: VariantOption,
      description:
        "Lists variant options that are not archived, or with `archived=true` only archived ones. Values are left out; " +
        "`GET /variant-options/{optionId}` returns them."
    }),
    get("Includes all values that are not archived, in order."),
    change({
      payload: ChangeVariantOption,
      description:
        "Send only the fields to change. An absent field keeps its value. Values have operations of their own."
    }),
    archive({
      error: [NotFound, Conflict],
      description:
        "Returns the archived record. The option and its values are then not found until it is restored. It is refused " +
        "while a variant that is not archived has one of its values (409 `OPTION_IN_USE`)."
    }),
    restore({ description: "Its values return with it, except those that were archived by themselves." })
  )
  .add(
    HttpApiEndpoint.get("listVariantOptionValues", values, {
      params,
      query: { ...listQuery(variantOptionValueSorts), ...archivedQuery },
      success: pageOf(VariantOptionValue).annotate({ identifier: "VariantOptionValuePage" }),
      error: NotFound
    }).annotateMerge(
      listAnnotations({
        summary: "List the values of a variant option",
        description:
          "Lists the values that are not archived, or with `archived=true` only archived ones, in their order."
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
        description:
          "The value comes after all others. `isCentrallyManaged` defaults to true: the value takes part in reordering. A " +
          `text that another value of the option has is refused (409 \`VALUE_EXISTS\`). An option has at most ${valuesMax} ` +
          "values (409 `OPTION_FULL`)."
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
          "`valueOrder` names each centrally managed value of the option once. A repeated, unknown or missing id is a 400 " +
          "that names it, and nothing changes. Returns all values in their new order, with `sortOrder` from 0 on. Values " +
          "that are not centrally managed follow in their former order."
      })
    ),
    value.change({
      payload: ChangeVariantOptionValue,
      error: [NotFound, Conflict],
      description:
        "Send only the fields to change. An absent field keeps its value; null resets an optional one to its default. A " +
        "text that another value of the option has is refused (409 `VALUE_EXISTS`)."
    }),
    value.archive({
      error: [NotFound, Conflict],
      description:
        "Returns the archived record. It is refused while a variant that is not archived has the value (409 " +
        "`VALUE_IN_USE`)."
    }),
    value.restore({
      error: [NotFound, Conflict],
      description:
        "The value comes after all others. It is refused if the option is archived (409 `PARENT_ARCHIVED`), if another " +
        "value has its text (409 `VALUE_EXISTS`), or if the option is full (409 `OPTION_FULL`)."
    })
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Variant options",
      description:
        "The properties by which variants differ, such as size and colour, with their values in a chosen order."
    })
  ) {}
