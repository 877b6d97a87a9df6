/** Variants on the Admin API. */
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { OptionChoices, Settings, Variant, variantsMax, variantSorts } from "../../domain/catalogue/Variant.ts"
import { Id } from "../../domain/values/Ids.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { changeFields, createFields } from "./Payloads.ts"
import { operationsOn } from "./RecordApi.ts"

const options = Schema.optionalKey(
  Schema.NullOr(
    OptionChoices.annotate({
      description:
        "The variant's values of options: at most one value of each option, by their ids or by name. A value must " +
        "belong to its option. What the organization lacks by a name is created; of several options the oldest is taken."
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

const variant = operationsOn(Variant, { name: "Variant", aNoun: "a variant", path: "variants" })

export class VariantApi extends HttpApiGroup.make("variants")
  .add(
    variant.create({
      payload: CreateVariant,
      error: [NotFound, Conflict],
      description:
        `A product has at most ${variantsMax} variants (409 \`TOO_MANY_VARIANTS\`). \`inventoryPolicy\` defaults to ` +
        "`untracked`: orders do not count `inventoryQuantity`. With `deny`, orders count it down, and an order for more " +
        "than is left is refused, so it never falls below zero. With `continue`, orders count it down below zero. An " +
        "unset quantity counts as 0. An unknown sync source, option or value is a 400 that names it. So is a `price` that " +
        "is not in whole minor units (ISO 4217) of the currency of an experience that offers the product."
    }),
    variant.list({
      sorts: variantSorts,
      search: "the `sku`",
      only: { productId: Schema.optionalKey(Id) },
      description:
        "Lists variants of one product or of all. It lists those that are not archived, or with `archived=true` only " +
        "archived ones."
    }),
    variant.get(),
    variant.change({
      payload: ChangeVariant,
      error: [NotFound, Conflict],
      description:
        "Send only the fields to change. An absent field keeps its value; null removes it or resets it to its default. " +
        "`options` and `metadata` are replaced as a whole. A variant stays with its product. A sent `inventoryQuantity` " +
        "overwrites the count of orders; leave it out to keep that count. While the variant belongs to a stock, that number is changed with `POST /stocks/{id}/adjust` only (409 `VARIANT_IN_STOCK`). An order that changes the count also sets " +
        "`updatedAt` and `updatedBy`."
    }),
    variant.archive({
      error: [NotFound, Conflict],
      description:
        "Returns the archived record. It is refused while an experience offers this variant by name (409 " +
        "`VARIANT_IN_USE`). A product whose default variant it was has no default afterwards."
    }),
    variant.restore({
      error: [NotFound, Conflict],
      description:
        "It is refused if its product is archived (409 `PARENT_ARCHIVED`), or if its sync source or one of its options " +
        "or values is (409 `REFERENCE_ARCHIVED`). It is also refused if the product has its maximum of variants (409 " +
        "`TOO_MANY_VARIANTS`)."
    })
  )
  .annotateMerge(OpenApi.annotations({ title: "Variants", description: "The forms in which a product is sold." })) {}
