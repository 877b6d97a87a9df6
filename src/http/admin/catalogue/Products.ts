/**
 * Products on the Admin API: what each operation does.
 */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Settings } from "../../../domain/catalogue/Product.ts"
import { Products } from "../../../store/catalogue/Products.ts"
import { CurrentTenant } from "../../credentials/Credentials.ts"
import { orNotFound, orServiceUnavailable } from "../../errors/Refusals.ts"
import { AdminApi } from "../Api.ts"
import { orInvalidPage } from "../records/Lists.ts"
import { withChanges } from "../records/Payloads.ts"
import { ChangeProduct, CreateProduct } from "./ProductApi.ts"
import { orInUse, orInvalidReferences } from "../records/References.ts"
import { orArchived } from "../records/Restoring.ts"
import { variantDraft } from "./Variants.ts"

export const ProductHandlers = HttpApiBuilder.group(
  AdminApi,
  "products",
  Effect.fnUntraced(function* (handlers) {
    const products = yield* Products

    return handlers.handleAll({
      createProduct: Effect.fnUntraced(function* ({ payload }) {
        const { tenant, by } = yield* CurrentTenant
        const draft = {
          settings: revised({}, payload),
          variants: (payload.variants ?? []).map(variantDraft),
          media: payload.productMediaAssets ?? []
        }
        return yield* products.create(tenant, by, draft).pipe(orInvalidReferences(CreateProduct, payload))
      }, orServiceUnavailable),

      listProducts: Effect.fnUntraced(function* ({ query }) {
        const { tenant } = yield* CurrentTenant
        return yield* products.list(tenant, query).pipe(orInvalidPage(query))
      }, orServiceUnavailable),

      getProduct: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant } = yield* CurrentTenant
          return yield* products.find(tenant, id)
        },
        orNotFound,
        orServiceUnavailable
      ),

      changeProduct: Effect.fnUntraced(
        function* ({ params: { id }, payload }) {
          const { tenant, by } = yield* CurrentTenant
          const media = payload.productMediaAssets === null ? [] : payload.productMediaAssets
          return yield* products
            .change(tenant, id, by, (settings) => revised(settings, payload), media)
            .pipe(orInvalidReferences(ChangeProduct, payload))
        },
        orNotFound,
        orServiceUnavailable
      ),

      archiveProduct: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* Effect.flatMap(products.archive(tenant, id, by), inUse)
        },
        orNotFound,
        orServiceUnavailable
      ),

      restoreProduct: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* products.restore(tenant, id, by)
        },
        orArchived,
        orNotFound,
        orServiceUnavailable
      )
    })
  })
)

const inUse = orInUse({ record: "Product", code: "PRODUCT_IN_USE", users: "experience(s)" })

/** The settings with the changes made. */
const revised = (
  settings: Partial<Settings>,
  changes: typeof CreateProduct.Type | typeof ChangeProduct.Type
): Settings =>
  // Every required setting is in the payload of a creation, or in what is there already.
  withChanges<Settings>(settings, changes, Settings.fields, {}) as Settings
