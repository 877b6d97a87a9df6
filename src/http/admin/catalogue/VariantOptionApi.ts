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
import { listAnnotations, listQuery, pageOf, searchQuery } from "../records/Lists.ts"
import { changeFields, createFields } from "../records/Payloads.ts"
import { archivedQuery, restores } from "../records/Restoring.ts"

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
const one = "/variant-options/:optionId"
const values = `${one}/values` as const
const valueParams = { ...params, valueId: Id }

export class VariantOptionApi extends HttpApiGroup.make("variantOptions")
  .add(
    HttpApiEndpoint.post("createVariantOption", "/variant-options", {
      payload: CreateVariantOption,
      success: VariantOptionWithValues.pipe(HttpApiSchema.status(201))
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Create a variant option",
        description: `With its first \`values\`, if one likes, in their order: all or nothing. ${valuesMax} at most, and no two of the same text.`
      })
    ),
    HttpApiEndpoint.get("listVariantOptions", "/variant-options", {
      query: { ...listQuery(VariantOptions.shape), ...searchQuery("the name"), ...archivedQuery },
      success: pageOf(VariantOption).annotate({ identifier: "VariantOptionPage" })
    }).annotateMerge(
      listAnnotations({
        summary: "List variant options",
        description:
          "All that are not archived, or with `archived=true` those that are; without their values: `GET /variant-options/{optionId}` has those."
      })
    ),
    HttpApiEndpoint.get("getVariantOption", one, {
      params,
      success: VariantOptionWithValues,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Get a variant option",
        description: "With all its values that are not archived, in order."
      })
    ),
    HttpApiEndpoint.put("changeVariantOption", one, {
      params,
      payload: ChangeVariantOption,
      success: VariantOptionWithValues,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Change a variant option",
        description:
          "Send the fields to change: one that is absent keeps its value. Values are changed by operations of their own."
      })
    ),
    HttpApiEndpoint.delete("archiveVariantOption", one, {
      params,
      success: VariantOptionWithValues,
      error: [NotFound, Conflict]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Archive a variant option",
        description:
          "Answers the archived record; neither it nor its values are found afterwards, until it is restored. As long as a variant that is not archived has one of its values, it is refused (409 `OPTION_IN_USE`)."
      })
    ),
    HttpApiEndpoint.post("restoreVariantOption", `${one}/restore`, {
      params,
      success: VariantOptionWithValues,
      error: NotFound
    }).annotateMerge(
      restores({ aNoun: "a variant option", description: "It has the values that were not archived themselves." })
    )
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
    HttpApiEndpoint.put("changeVariantOptionValue", `${values}/:valueId`, {
      params: valueParams,
      payload: ChangeVariantOptionValue,
      success: VariantOptionValue,
      error: [NotFound, Conflict]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Change a value of a variant option",
        description:
          "Send the fields to change: one that is absent keeps its value, null takes an optional one back to its default. A text that another value of the option has is refused (409 `VALUE_EXISTS`)."
      })
    ),
    HttpApiEndpoint.delete("archiveVariantOptionValue", `${values}/:valueId`, {
      params: valueParams,
      success: VariantOptionValue,
      error: [NotFound, Conflict]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Archive a value of a variant option",
        description:
          "Answers the archived record. As long as a variant that is not archived has it, it is refused (409 `VALUE_IN_USE`)."
      })
    ),
    HttpApiEndpoint.post("restoreVariantOptionValue", `${values}/:valueId/restore`, {
      params: valueParams,
      success: VariantOptionValue,
      error: [NotFound, Conflict]
    }).annotateMerge(
      restores({
        aNoun: "a value of a variant option",
        description:
          "It comes after all others. If the option is archived it is refused (409 `PARENT_ARCHIVED`), and so it is if another value has its text (409 `VALUE_EXISTS`), or if the option has as many values as it can have (409 `OPTION_FULL`)."
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Variant options",
      description: "What tells variants apart, such as size and colour, with their values in an order of one's own."
    })
  ) {}
