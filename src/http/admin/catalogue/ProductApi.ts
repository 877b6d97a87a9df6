/** Products on the Admin API: the declaration (completions 4, "Catalogue"). */
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { MediaUses, Product, Settings } from "../../../domain/catalogue/Product.ts"
import { variantsMax } from "../../../domain/catalogue/Variant.ts"
import * as Products from "../../../store/catalogue/Products.ts"
import { Conflict, NotFound } from "../../errors/Errors.ts"
import { changeFields, createFields } from "../records/Payloads.ts"
import { operationsOn } from "../records/RecordApi.ts"
import { variantFields } from "./VariantApi.ts"

const productMediaAssets = Schema.optionalKey(Schema.NullOr(MediaUses))

const variants = Schema.optionalKey(
  Schema.NullOr(Schema.Array(Schema.Struct(variantFields)).check(Schema.isMaxLength(variantsMax)))
)

/** The body of `POST /products`. */
export const CreateProduct = Schema.Struct({
  ...createFields(Settings.fields, ["name"]),
  productMediaAssets,
  variants
}).annotate({ identifier: "CreateProduct" })

/** The body of `PUT /products/{id}`. */
export const ChangeProduct = Schema.Struct({
  ...changeFields(Settings.fields, ["name"]),
  productMediaAssets
}).annotate({ identifier: "ChangeProduct" })

const { create, list, get, change, archive, restore } = operationsOn({
  name: "Product",
  aNoun: "a product",
  path: "products",
  record: Product
})

export class ProductApi extends HttpApiGroup.make("products")
  .add(
    create({
      payload: CreateProduct,
      description:
        "With its variants and media, all or nothing. The first of the variants becomes the default one; a `defaultVariantId` can only be named later, when there are variants to name. A media asset, a sync source, an option or a value that is not there is a 400 that names it."
    }),
    list({
      shape: Products.shape,
      search: "name and handle",
      description:
        "All that are not archived, or with `archived=true` those that are. Variants that are archived are not shown."
    }),
    get(),
    change({
      payload: ChangeProduct,
      description:
        "Send the fields to change: one that is absent keeps its value, null takes an optional one away. `productMediaAssets` and `metadata` are replaced as a whole. Variants are changed through `/variants`."
    }),
    archive({
      error: [NotFound, Conflict],
      description:
        "Archives its variants too, and answers the archived record with them. As long as an experience offers the product, it is refused (409 `PRODUCT_IN_USE`). Sequences that weigh it pick it no more."
    }),
    restore({
      error: [NotFound, Conflict],
      description:
        "Its variants stay archived and are restored one by one; a default variant that is archived is its default no more. If a media asset or the sync source that it names is archived it is refused (409 `REFERENCE_ARCHIVED`)."
    })
  )
  .annotateMerge(OpenApi.annotations({ title: "Products", description: "What experiences release." })) {}
