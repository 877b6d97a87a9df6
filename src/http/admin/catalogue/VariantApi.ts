/** Variants on the Admin API: the declaration (completions 4, "Catalogue"). */
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { OptionChoices, Settings, Variant, variantsMax } from "../../../domain/catalogue/Variant.ts"
import { Id } from "../../../domain/values/Ids.ts"
import * as Variants from "../../../store/catalogue/Variants.ts"
import { Conflict, NotFound } from "../../errors/Errors.ts"
import { changeFields, createFields } from "../records/Payloads.ts"
import { operationsOn } from "../records/RecordApi.ts"

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

const { create, list, get, change, archive, restore } = operationsOn({
  name: "Variant",
  aNoun: "a variant",
  path: "variants",
  record: Variant
})

export class VariantApi extends HttpApiGroup.make("variants")
  .add(
    create({
      payload: CreateVariant,
      error: [NotFound, Conflict],
      description: `Of a product, which has ${variantsMax} variants at most (409 \`TOO_MANY_VARIANTS\`). \`inventoryPolicy\` defaults to \`untracked\`. By \`deny\` orders count \`inventoryQuantity\` down and are refused where too little is left, so that it never falls below zero; by \`continue\` they count it down below zero; by \`untracked\` they never count it. A quantity that is not set counts as 0. A sync source, an option or a value that is not there is a 400 that names it.`
    }),
    list({
      shape: Variants.shape,
      search: "the `sku`",
      only: { productId: Schema.optionalKey(Id) },
      description: "All that are not archived, or with `archived=true` those that are; of all products, or of one."
    }),
    get(),
    change({
      payload: ChangeVariant,
      description:
        "Send the fields to change: one that is absent keeps its value, null takes it back to its default or away. `options` and `metadata` are replaced as a whole. A variant stays with its product. `inventoryQuantity` is set as it is sent, whatever orders have counted meanwhile: leave it out to keep their count. An order that counts it changes `updatedAt` and `updatedBy` too."
    }),
    archive({
      error: [NotFound, Conflict],
      description:
        "Answers the archived record. As long as an experience offers this very variant, it is refused (409 `VARIANT_IN_USE`). A product whose default it was has none then."
    }),
    restore({
      error: [NotFound, Conflict],
      description:
        "If its product is archived it is refused (409 `PARENT_ARCHIVED`), and so it is if an option, a value or the sync source that it names is (409 `REFERENCE_ARCHIVED`), or if its product has as many variants as it can have (409 `TOO_MANY_VARIANTS`)."
    })
  )
  .annotateMerge(OpenApi.annotations({ title: "Variants", description: "The forms in which a product is sold." })) {}
