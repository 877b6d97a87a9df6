/**
 * Variants on the Admin API: what each operation does.
 */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Settings, variantsMax } from "../../../domain/catalogue/Variant.ts"
import { type TooManyVariants, Variants } from "../../../store/catalogue/Variants.ts"
import { CurrentTenant } from "../../credentials/Credentials.ts"
import { Conflict } from "../../errors/Errors.ts"
import { orNotFound, orServiceUnavailable } from "../../errors/Refusals.ts"
import { AdminApi } from "../Api.ts"
import { orInvalidPage } from "../records/Lists.ts"
import { withChanges } from "../records/Payloads.ts"
import { orInUse, orInvalidReferences } from "../records/References.ts"
import { orArchived } from "../records/Restoring.ts"
import { ChangeVariant, CreateVariant } from "./VariantApi.ts"

export const VariantHandlers = HttpApiBuilder.group(
  AdminApi,
  "variants",
  Effect.fnUntraced(function* (handlers) {
    const variants = yield* Variants

    return handlers.handleAll({
      createVariant: Effect.fnUntraced(
        function* ({ payload }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* variants
            .create(tenant, by, payload.productId, variantDraft(payload))
            .pipe(orInvalidReferences(CreateVariant, payload), orTooMany)
        },
        orNotFound,
        orServiceUnavailable
      ),

      listVariants: Effect.fnUntraced(function* ({ query }) {
        const { tenant } = yield* CurrentTenant
        return yield* variants.list(tenant, query, query).pipe(orInvalidPage(query))
      }, orServiceUnavailable),

      getVariant: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant } = yield* CurrentTenant
          return yield* variants.find(tenant, id)
        },
        orNotFound,
        orServiceUnavailable
      ),

      changeVariant: Effect.fnUntraced(
        function* ({ params: { id }, payload }) {
          const { tenant, by } = yield* CurrentTenant
          const options = payload.options === null ? [] : payload.options
          return yield* variants
            .change(tenant, id, by, (settings) => revised(settings, payload), options)
            .pipe(orInvalidReferences(ChangeVariant, payload))
        },
        orNotFound,
        orServiceUnavailable
      ),

      archiveVariant: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* Effect.flatMap(variants.archive(tenant, id, by), inUse)
        },
        orNotFound,
        orServiceUnavailable
      ),

      restoreVariant: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* variants.restore(tenant, id, by).pipe(orTooMany)
        },
        orArchived,
        orNotFound,
        orServiceUnavailable
      )
    })
  })
)

const tooMany = new Conflict({ error: `Product has ${variantsMax} variants already`, code: "TOO_MANY_VARIANTS" })

/** Turns one variant more than a product can have into a 409. */
const orTooMany = <A, E, R>(
  effect: Effect.Effect<A, E | TooManyVariants, R>
): Effect.Effect<A, Exclude<E, TooManyVariants> | Conflict, R> =>
  Effect.catchTag(effect as Effect.Effect<A, TooManyVariants, R>, "TooManyVariants", () =>
    Effect.fail(tooMany)
  ) as Effect.Effect<A, Exclude<E, TooManyVariants> | Conflict, R>

const inUse = orInUse({ record: "Variant", code: "VARIANT_IN_USE", users: "experience(s)" })

const defaults = { inventoryPolicy: "untracked" } as const

/** The settings with the changes made. */
const revised = (settings: Partial<Settings>, changes: typeof ChangeVariant.Type): Settings =>
  // The required setting is in the defaults.
  withChanges<Settings>(settings, changes, Settings.fields, defaults) as Settings

/** What a variant is created from, alone or with its product. */
export const variantDraft = (body: typeof ChangeVariant.Type) => ({
  settings: revised(defaults, body),
  options: body.options ?? []
})
