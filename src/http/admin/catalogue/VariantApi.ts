/** Variants on the Admin API: the declaration (completions 4, "Catalogue"). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { OptionChoices, Settings, Variant, variantsMax } from "../../../domain/catalogue/Variant.ts"
import { Id } from "../../../domain/values/Ids.ts"
import * as Variants from "../../../store/catalogue/Variants.ts"
import { Conflict, NotFound } from "../../errors/Errors.ts"
import { listAnnotations, listQuery, pageOf, searchQuery } from "../records/Lists.ts"
import { changeFields, createFields } from "../records/Payloads.ts"
import { archivedQuery, restores } from "../records/Restoring.ts"

const options = Schema.optionalKey(
  Schema.NullOr(
    OptionChoices.annotate({
      description: "The variant's values of options: one value of each option at most, and a value of that very option."
    })
  )
)

/** The fields that create a variant of a product. */
export const variantFields = { ...createFields(Settings.fields, []), options }

/** The body of `POST /variants`. */
export const CreateVariant = Schema.Struct({ productId: Id, ...variantFields }).annotate({
  identifier: "CreateVariant"
})

/** The body of `PUT /variants/{id}`. */
export const ChangeVariant = Schema.Struct({ ...changeFields(Settings.fields, []), options }).annotate({
  identifier: "ChangeVariant"
})

const params = { id: Id }

export class VariantApi extends HttpApiGroup.make("variants")
  .add(
    HttpApiEndpoint.post("createVariant", "/variants", {
      payload: CreateVariant,
      success: Variant.pipe(HttpApiSchema.status(201)),
      error: [NotFound, Conflict]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Create a variant",
        description: `Of a product, which has ${variantsMax} variants at most (409 \`TOO_MANY_VARIANTS\`). \`inventoryPolicy\` defaults to \`untracked\`. By \`deny\` orders count \`inventoryQuantity\` down and are refused where too little is left, so that it never falls below zero; by \`continue\` they count it down below zero; by \`untracked\` they never count it. A quantity that is not set counts as 0. A sync source, an option or a value that is not there is a 400 that names it.`
      })
    ),
    HttpApiEndpoint.get("listVariants", "/variants", {
      query: {
        ...listQuery(Variants.shape),
        ...searchQuery("the `sku`"),
        ...archivedQuery,
        productId: Schema.optionalKey(Id)
      },
      success: pageOf(Variant).annotate({ identifier: "VariantPage" })
    }).annotateMerge(
      listAnnotations({
        summary: "List variants",
        description: "All that are not archived, or with `archived=true` those that are; of all products, or of one."
      })
    ),
    HttpApiEndpoint.get("getVariant", "/variants/:id", { params, success: Variant, error: NotFound }).annotateMerge(
      OpenApi.annotations({ summary: "Get a variant" })
    ),
    HttpApiEndpoint.put("changeVariant", "/variants/:id", {
      params,
      payload: ChangeVariant,
      success: Variant,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Change a variant",
        description:
          "Send the fields to change: one that is absent keeps its value, null takes it back to its default or away. `options` and `metadata` are replaced as a whole. A variant stays with its product. `inventoryQuantity` is set as it is sent, whatever orders have counted meanwhile: leave it out to keep their count. An order that counts it changes `updatedAt` and `updatedBy` too."
      })
    ),
    HttpApiEndpoint.delete("archiveVariant", "/variants/:id", {
      params,
      success: Variant,
      error: [NotFound, Conflict]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Archive a variant",
        description:
          "Answers the archived record. As long as an experience offers this very variant, it is refused (409 `VARIANT_IN_USE`). A product whose default it was has none then."
      })
    ),
    HttpApiEndpoint.post("restoreVariant", "/variants/:id/restore", {
      params,
      success: Variant,
      error: [NotFound, Conflict]
    }).annotateMerge(
      restores({
        aNoun: "a variant",
        description:
          "If its product is archived it is refused (409 `PARENT_ARCHIVED`), and so it is if an option, a value or the sync source that it names is (409 `REFERENCE_ARCHIVED`), or if its product has as many variants as it can have (409 `TOO_MANY_VARIANTS`)."
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Variants", description: "The forms in which a product is sold." })) {}
