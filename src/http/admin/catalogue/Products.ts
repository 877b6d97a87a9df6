/** The handlers of products on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Settings } from "../../../domain/catalogue/Product.ts"
import { Products } from "../../../store/catalogue/Products.ts"
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
        forTenant((tenant, by) => {
          const draft = {
            settings: revised({}, payload),
            variants: (payload.variants ?? []).map(variantDraft),
            media: payload.productMediaAssets ?? []
          }
          return products.create(tenant, by, draft).pipe(orInvalidReferences(CreateProduct, payload))
        }),

      listProducts: onList(products.list),

      getProduct: onRecord(products.find),

      changeProduct: ({ params: { id }, payload }) =>
        forTenant((tenant, by) => {
          const media = payload.productMediaAssets === null ? [] : payload.productMediaAssets
          return products
            .change(tenant, id, by, (settings) => revised(settings, payload), media)
            .pipe(orInvalidReferences(ChangeProduct, payload))
        }),

      archiveProduct: onRecord((tenant, id, by) => Effect.flatMap(products.archive(tenant, id, by), inUse)),

      restoreProduct: onRecord((tenant, id, by) => products.restore(tenant, id, by).pipe(orArchived))
    })
  )
)

const inUse = orInUse({ record: "Product", code: "PRODUCT_IN_USE", users: "experience(s)" })

const revised = revising<Settings>(Settings.fields)
