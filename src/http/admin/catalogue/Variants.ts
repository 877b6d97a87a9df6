/** The handlers of variants on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Settings, variantsMax } from "../../../domain/catalogue/Variant.ts"
import { isWhole } from "../../../domain/values/Amount.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { fractionDigitsOf } from "../../../domain/values/Locale.ts"
import { ExperienceProducts } from "../../../store/experience/ExperienceProducts.ts"
import { type InventoryInStock, type TooManyVariants, Variants } from "../../../store/catalogue/Variants.ts"
import { answering } from "../../errors/Answering.ts"
import { Conflict } from "../../../api/Errors.ts"
import { issueAt } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { forTenant, onList, onRecord } from "../records/Operations.ts"
import { revising } from "../records/Settings.ts"
import { orArchived } from "../records/Refusals.ts"
import { orInUse, orInvalidReferences } from "../records/References.ts"
import { ChangeVariant, CreateVariant } from "../../../api/admin/VariantApi.ts"

export const VariantHandlers = HttpApiBuilder.group(AdminApi, "variants", (handlers) =>
  Effect.gen(function* () {
    const variants = yield* Variants
    const checkPrice = yield* makeCheckPrice

    return handlers.handleAll({
      createVariant: ({ payload }) =>
        forTenant((tenant, by) =>
          Effect.andThen(
            checkPrice(tenant, payload.productId, payload),
            variants.create(tenant, by, payload.productId, variantDraft(payload))
          ).pipe(orInvalidReferences(CreateVariant, payload), orTooMany)
        ),

      listVariants: onList((tenant, query) => variants.list(tenant, query, query)),

      getVariant: onRecord(variants.find),

      changeVariant: ({ params: { id }, payload }) =>
        forTenant((tenant, by) => {
          const options = payload.options === null ? [] : payload.options
          return variants.find(tenant, id).pipe(
            Effect.flatMap(({ productId }) => checkPrice(tenant, productId, payload)),
            Effect.andThen(variants.change(tenant, id, by, (settings) => revised(settings, payload), options)),
            orInvalidReferences(ChangeVariant, payload),
            orInStock
          )
        }),

      archiveVariant: onRecord((tenant, id, by) => Effect.flatMap(variants.archive(tenant, id, by), inUse)),

      restoreVariant: onRecord((tenant, id, by) => variants.restore(tenant, id, by).pipe(orTooMany, orArchived))
    })
  })
)

/** Makes the check that a price can be paid in the currencies of the experiences that offer the product. */
const makeCheckPrice = Effect.map(ExperienceProducts, (products) =>
  Effect.fnUntraced(function* (tenant: Tenant, productId: string, { price }: typeof ChangeVariant.Type) {
    if (typeof price !== "string") return
    const currencies = yield* products.currencies(tenant, productId)
    const currency = currencies.find((code) => !isWhole(price, fractionDigitsOf(code)))
    if (currency === undefined) return
    const expected = `an amount in whole minor units of ${currency}`
    return yield* invalidInput([issueAt({ price }, "price", { kind: "validation", type: "amount", expected })])
  })
)

/** Turns a variant that would be one too many for its product into a 409. */
const orTooMany = answering({
  TooManyVariants: (_: TooManyVariants) =>
    new Conflict({ error: `Product has ${variantsMax} variants already`, code: "TOO_MANY_VARIANTS" })
})

/** Turns a number of units that a stock counts into a 409. */
const orInStock = answering({
  InventoryInStock: ({ stockId }: InventoryInStock) =>
    new Conflict({
      error: `The variant's units are counted in stock ${stockId}. Change them there with adjust`,
      code: "VARIANT_IN_STOCK"
    })
})

const inUse = orInUse({ record: "Variant", code: "VARIANT_IN_USE", users: "experience(s)" })

const defaults = { inventoryPolicy: "untracked" } as const

const revised = revising<Settings>(Settings.fields, defaults)

/** The data from which a variant is created, alone or with its product. */
export const variantDraft = (body: typeof ChangeVariant.Type) => ({
  settings: revised(defaults, body),
  options: body.options ?? []
})
