/**
 * The products that experiences offer. An archived product or variant is neither shown nor offered, and requests cannot
 * name it.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import {
  type ExperienceProduct,
  type ExperienceProductRef,
  isOffered,
  type Offer
} from "../../domain/experience/ExperienceProduct.ts"
import type { Price } from "../../domain/values/Amount.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { insertRows } from "../records/Rows.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import * as Rows from "./OfferedRows.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { hold } from "../records/Statements.ts"
import { unarchivedOf } from "../records/Tenancy.ts"

/** The maximum of variants that are shown for an experience's products. */
const shownVariantsMax = 1_000

/** The maximum of media assets that are shown for an experience's products. */
const shownMediaMax = 1_000

/** The records of the catalogue that a request names. */
export interface NamedProducts {
  readonly productIds: ReadonlyArray<string>
  readonly variantIds: ReadonlyArray<string>
}

/** The named records that the tenant has. */
export interface KnownProducts {
  readonly products: ReadonlySet<string>
  readonly variants: ReadonlyMap<string, string>
  readonly prices: ReadonlyArray<VariantPrice>
}

export interface VariantPrice {
  readonly productId: string
  readonly variantId: string
  readonly price: Price
}

export class ExperienceProducts extends Context.Service<
  ExperienceProducts,
  {
    /** Returns the products that the experience offers, sorted by position. */
    shown(experienceId: string): Effect.Effect<ReadonlyArray<ExperienceProduct>, Unavailable>
    /** Returns the variants in which the experience offers products. */
    variantIds(experienceId: string): Effect.Effect<ReadonlySet<string>, Unavailable>
    /** Returns the offers of many experiences, as identifiers only. */
    named(experienceIds: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<ExperienceProductRef>, Unavailable>
    /** Returns those of the named records that the tenant has. In a transaction they are locked until its end. */
    held(tenant: Tenant, named: NamedProducts): Effect.Effect<KnownProducts, Unavailable>
    /** Returns the currencies of the experiences that offer the product. */
    currencies(tenant: Tenant, productId: string): Effect.Effect<ReadonlyArray<string>, Unavailable>
    /** Replaces the offers of the experience in the caller's transaction. An offer that stays keeps its id. */
    replace(tenant: Tenant, experienceId: string, offers: ReadonlyArray<Offer>): Effect.Effect<void, Unavailable>
    /** Returns those of the variants that the experience does not offer. None if it offers no products at all. */
    variantsNotOffered(
      tenant: Tenant,
      experienceId: string,
      variantIds: ReadonlyArray<string>
    ): Effect.Effect<ReadonlySet<string>, Unavailable>
  }
>()("usher/store/experience/ExperienceProducts") {
  static readonly layer = Layer.effect(ExperienceProducts)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const random = yield* SecureRandom.SecureRandom

      const variantIds = Effect.fn("ExperienceProducts.variantIds")(function* (experienceId: string) {
        const rows = yield* sql<{ readonly id: string }>`
          select v.id
          from experience_products x
          join products p on p.id = x.product_id and not p.archived
          join product_variants v on v.product_id = x.product_id and not v.archived
          where x.experience_id = ${experienceId} and v.id = coalesce(x.product_variant_id, v.id)`
        return new Set(rows.map(({ id }) => id))
      }, orUnavailable)

      const named = Effect.fn("ExperienceProducts.named")(function* (experienceIds: ReadonlyArray<string>) {
        if (experienceIds.length === 0) return []
        return yield* sql<ExperienceProductRef>`
          select x.id, x.organization_id as "organizationId", x.experience_id as "experienceId",
            x.product_id as "productId", x.product_variant_id as "productVariantId", x.position
          from experience_products x
          join products p on p.id = x.product_id and not p.archived
          left join product_variants v on v.id = x.product_variant_id
          where x.experience_id = any(${experienceIds}::uuid[]) and v.archived is not true
          order by x.position, x.id`
      }, orUnavailable)

      const held = makeHeld(sql)

      const variantsNotOffered = Effect.fn("ExperienceProducts.variantsNotOffered")(function* (
        tenant: Tenant,
        experienceId: string,
        variantIds: ReadonlyArray<string>
      ) {
        const offers = yield* sql<Pick<Offer, "productId" | "productVariantId">>`
          select product_id as "productId", product_variant_id as "productVariantId"
          from experience_products where experience_id = ${experienceId}`
        if (offers.length === 0) return new Set<string>()
        const { variants } = yield* held(tenant, { productIds: [], variantIds })
        return notOffered(offers, variantIds, variants)
      }, orUnavailable)

      return {
        shown: makeShown(sql),
        variantIds,
        named,
        held,
        currencies: makeCurrencies(sql),
        replace: makeReplace(sql, random),
        variantsNotOffered
      }
    })
  )
}

const makeHeld = (sql: PgClient.PgClient) =>
  Effect.fn("ExperienceProducts.held")(function* (tenant: Tenant, { productIds, variantIds }: NamedProducts) {
    const products = yield* hold(sql, tenant, "products", productIds)
    const variants = yield* hold<VariantRow>(sql, tenant, "product_variants", variantIds, "id, product_id")
    const known = new Set(products.map(({ id }) => id))
    const prices = yield* sql<VariantPrice>`
    select v.product_id as "productId", v.id as "variantId", v.record ->> 'price' as price
    from product_variants v
    where v.product_id = any(${[...known]}::uuid[]) and not v.archived and v.record ->> 'price' is not null`
    return { products: known, variants: new Map(variants.map(({ id, product_id }) => [id, product_id])), prices }
  }, orUnavailable)

const makeCurrencies = (sql: PgClient.PgClient) =>
  Effect.fn("ExperienceProducts.currencies")(function* (tenant: Tenant, productId: string) {
    const rows = yield* sql<{ readonly code: string | null }>`
    select distinct e.record ->> 'currencyCode' as code
    from experience_products x join experiences e on e.id = x.experience_id
    where x.product_id = ${productId} and ${unarchivedOf(sql, tenant, "e")}`
    return rows.flatMap(({ code }) => code ?? [])
  }, orUnavailable)

const makeShown = (sql: PgClient.PgClient) =>
  Effect.fn("ExperienceProducts.shown")(function* (experienceId: string) {
    const offers = yield* sql<Rows.OfferRow>`
    select x.id, x.organization_id, x.experience_id, x.product_id, x.product_variant_id, x.position,
      to_jsonb(p) as product, to_jsonb(v) as variant, to_jsonb(s) as source
    from experience_products x
    join products p on p.id = x.product_id and not p.archived
    left join product_variants v on v.id = x.product_variant_id
    left join sync_sources s on s.id = p.primary_sync_source_id and not s.archived
    where x.experience_id = ${experienceId} and v.archived is not true
    order by x.position, x.id`
    if (offers.length === 0) return []
    const productIds = [...new Set(offers.map(({ product_id }) => product_id))]
    const variants = yield* sql<Rows.VariantRow>`
    select v.product_id, to_jsonb(v) as variant, (
      select json_agg(json_build_object(
        'optionId', o.id, 'optionName', o.name, 'value', w.value, 'valueId', w.id
      ) order by o.created_at, o.id)
      from product_variant_options vo
      join variant_options o on o.id = vo.option_id
      join variant_option_values w on w.id = vo.value_id
      where vo.product_variant_id = v.id
    ) as options
    from product_variants v where v.product_id = any(${productIds}::uuid[]) and not v.archived
    order by v.created_at, v.id limit ${shownVariantsMax}`
    const media = yield* sql<Rows.MediaRow>`
    select a.id, a.product_id, a.media_asset_id, a.position, a.purpose, to_jsonb(m) as asset
    from product_media_assets a join media_assets m on m.id = a.media_asset_id and not m.archived
    where a.product_id = any(${productIds}::uuid[])
    order by a.position, a.id limit ${shownMediaMax}`
    return Rows.toProducts(offers, variants, media)
  }, orUnavailable)

const makeReplace = (sql: PgClient.PgClient, random: SecureRandom.SecureRandom["Service"]) =>
  Effect.fn("ExperienceProducts.replace")(function* (
    { organizationId }: Tenant,
    experienceId: string,
    offers: ReadonlyArray<Offer>
  ) {
    const before = yield* sql<{ readonly id: string; readonly product_id: string; readonly variant_id: string }>`
    delete from experience_products where experience_id = ${experienceId}
    returning id, product_id, product_variant_id as variant_id`
    const ids = new Map(before.map(({ id, product_id, variant_id }) => [`${product_id} ${variant_id}`, id]))
    const rows = yield* Effect.forEach(offers, (offer) =>
      Effect.map(random.uuidV7(), (fresh) => ({
        id: ids.get(`${offer.productId} ${offer.productVariantId}`) ?? fresh,
        organization_id: organizationId,
        experience_id: experienceId,
        product_id: offer.productId,
        product_variant_id: offer.productVariantId,
        position: offer.position
      }))
    )
    yield* insertRows(sql, "experience_products", rows)
  }, orUnavailable)

interface VariantRow {
  readonly id: string
  readonly product_id: string
}

/** Returns those of the variants that are not offered. `variants` contains the product of each existing variant. */
export const notOffered = (
  offers: ReadonlyArray<Pick<Offer, "productId" | "productVariantId">>,
  variantIds: ReadonlyArray<string>,
  variants: KnownProducts["variants"]
): ReadonlySet<string> =>
  new Set(
    variantIds.filter((id) => {
      const productId = variants.get(id)
      return productId === undefined || !isOffered(offers, { id, productId })
    })
  )
