/** The handlers of products on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Settings } from "../../../domain/catalogue/Product.ts"
import { type ProductDraft, Products } from "../../../store/catalogue/Products.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { forTenant, onList, onRecord } from "../records/Operations.ts"
import { revising } from "../records/Settings.ts"
import { orArchived } from "../records/Refusals.ts"
import { ChangeProduct, CreateProduct } from "../../../api/admin/ProductApi.ts"
import { orInUse, orInvalidReferences } from "../records/References.ts"
import { variantDraft } from "./Variants.ts"

export const ProductHandlers = HttpApiBuilder.group(AdminApi, "products", (handlers) =>
  Effect.map(Products, (products) =>
    handlers.handleAll({
      createProduct: ({ payload }) =>
        forTenant((tenant, by) =>
          products.create(tenant, by, productDraft(payload)).pipe(orInvalidReferences(CreateProduct, payload))
        ),

      listProducts: onList(products.list),

      getProduct: onRecord(products.find),

      changeProduct: ({ params: { id }, payload }) =>
        forTenant((tenant, by) => {
          const media = payload.productMediaAssets === null ? [] : payload.productMediaAssets
          const changed = { media, pictures: payload.pictures ?? [] }
          return products
            .change(tenant, id, by, (settings) => revised(settings, payload), changed)
            .pipe(orInvalidReferences(ChangeProduct, payload))
        }),

      archiveProduct: onRecord((tenant, id, by) => Effect.flatMap(products.archive(tenant, id, by), inUse)),

      restoreProduct: onRecord((tenant, id, by) => products.restore(tenant, id, by).pipe(orArchived))
    })
  )
)

const inUse = orInUse({ record: "Product", code: "PRODUCT_IN_USE", users: "experience(s)" })

const revised = revising<Settings>(Settings.fields)

/** The data from which a product is created, alone or with the experience that offers it. */
export const productDraft = (body: typeof CreateProduct.Type): ProductDraft => ({
  settings: revised({}, body),
  variants: (body.variants ?? []).map(variantDraft),
  media: body.productMediaAssets ?? [],
  pictures: body.pictures ?? []
})
