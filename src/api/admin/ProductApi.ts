/** Products on the Admin API. */
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { MediaUses, NewPictures, Product, Settings, productSorts } from "../../domain/catalogue/Product.ts"
import { variantsMax } from "../../domain/catalogue/Variant.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { changeFields, createFields } from "./Payloads.ts"
import { operationsOn } from "./RecordApi.ts"
import { variantFields } from "./VariantApi.ts"

const productMediaAssets = Schema.optionalKey(Schema.NullOr(MediaUses))

const pictures = Schema.optionalKey(
  Schema.NullOr(
    NewPictures.annotate({
      description: "Pictures at these addresses. Each becomes a media asset, which the product shows after its others."
    })
  )
)

const variants = Schema.optionalKey(
  Schema.NullOr(Schema.Array(Schema.Struct(variantFields)).check(Schema.isMaxLength(variantsMax)))
)

/** The body of `POST /products`. */
export const CreateProduct = Schema.Struct({
  ...createFields(Settings.fields, ["name"]),
  productMediaAssets,
  pictures,
  variants
}).annotate({ identifier: "CreateProduct" })

/** The body of `PUT /products/{id}`. */
export const ChangeProduct = Schema.Struct({
  ...changeFields(Settings.fields, ["name"]),
  productMediaAssets,
  pictures
}).annotate({ identifier: "ChangeProduct" })

const product = operationsOn(Product, { name: "Product", aNoun: "a product", path: "products" })

export class ProductApi extends HttpApiGroup.make("products")
  .add(
    product.create({
      payload: CreateProduct,
      description:
        "Creates the product with its variants and media, all or nothing. The first variant becomes the default; " +
        "`defaultVariantId` can be set later, when the variants have ids. An unknown media asset, sync source, option or " +
        "value is a 400 that names it."
    }),
    product.list({
      sorts: productSorts,
      search: "name and handle",
      description:
        "Lists products that are not archived, or with `archived=true` only archived ones. Archived variants are left " +
        "out."
    }),
    product.get(),
    product.change({
      payload: ChangeProduct,
      description:
        "Send only the fields to change. An absent field keeps its value; null removes an optional one. " +
        "`productMediaAssets` and `metadata` are replaced as a whole; `pictures` are added. Variants are changed through `/variants`."
    }),
    product.archive({
      error: [NotFound, Conflict],
      description:
        "Archives its variants too, and returns the archived record with them. It is refused while an experience offers " +
        "the product (409 `PRODUCT_IN_USE`). Sequences with a weight for the product no longer assign it."
    }),
    product.restore({
      error: [NotFound, Conflict],
      description:
        "Its variants stay archived; restore them one by one. An archived default variant is no longer the default. It " +
        "is refused while the sync source or a media asset of the product is archived (409 `REFERENCE_ARCHIVED`)."
    })
  )
  .annotateMerge(OpenApi.annotations({ title: "Products", description: "What experiences release." })) {}
