/**
 * The grants that payments name, and what they ask. The journal is the record of a grant: the event that made it has its
 * consumer.
 *
 * An auction asks the winning bid. Any other grant asks the price of its variant: the selected one, or else the only
 * price of the variants that it may be for. Those are the variants of the product that the system has assigned, of the
 * timed release, or of the experience. With several prices, or a variant without one, nothing is asked.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { NamedGrant } from "../../domain/mechanism/GrantName.ts"
import { declarations, type GrantingKind, grantingKinds, selectingKinds } from "../../domain/mechanism/Mechanism.ts"
import type { Asked } from "../../domain/receiver/Meaning.ts"
import { isWhole, ofText, type Price } from "../../domain/values/Amount.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { defaultCurrencyCode, fractionDigitsOf } from "../../domain/values/Locale.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { AssignedProducts } from "../experience/AssignedProducts.ts"
import { currentPlaces, ofMechanism } from "../journal/CurrentPlaces.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { ofTenant, unarchivedOf } from "../records/Tenancy.ts"

/** A grant as the journal has it. */
export interface FoundGrant {
  readonly kind: GrantingKind
  readonly mechanismId: string
  readonly sequence: number
  readonly sequenceId: string
  readonly consumerId: string
  readonly grantedAt: Millis
  /** True if the grant was completed, perhaps before its consumer received another one. */
  readonly isCompleted: boolean
  /** The winning bid of an auction. */
  readonly bid: Price | undefined
  /** The variant that the consumer has selected. */
  readonly variantId: string | undefined
  readonly currencyCode: string
}

export class NamedGrants extends Context.Service<
  NamedGrants,
  {
    /** Returns the grant; undefined if the tenant has none of this name, or its mechanism is archived. */
    find(tenant: Tenant, grant: NamedGrant): Effect.Effect<FoundGrant | undefined, Unavailable>
    /** Returns what has to be paid; undefined if no single price is known. */
    asked(tenant: Tenant, grant: FoundGrant): Effect.Effect<Asked | undefined, Unavailable>
  }
>()("usher/store/mechanism/NamedGrants") {
  static readonly layer = Layer.effect(NamedGrants)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const assigned = yield* AssignedProducts
      const pricesOf = makePricesOf(sql)

      const asked = Effect.fn("NamedGrants.asked")(function* (tenant: Tenant, grant: FoundGrant) {
        const { kind, bid, currencyCode, sequenceId, consumerId } = grant
        if (kind === "auction") return bid === undefined ? undefined : { amount: bid, currencyCode }
        const product = yield* assigned.of({ ...tenant, sequenceId }, consumerId)
        const amount = onlyPrice(yield* pricesOf(tenant, grant, product?.productId))
        // Nobody can pay half a cent.
        const isKnown = amount !== undefined && isWhole(amount, fractionDigitsOf(currencyCode))
        return isKnown ? { amount, currencyCode } : undefined
      })

      return { find: makeFind(sql), asked }
    })
  )
}

/** The events that make grants, with their kinds. */
const grantEvents = grantingKinds.flatMap((kind) => declarations[kind].grants.map((type) => [kind, type] as const))

const makeFind = (sql: PgClient.PgClient) =>
  Effect.fn("NamedGrants.find")(function* (tenant: Tenant, { mechanismId, sequence }: NamedGrant) {
    yield* currentPlaces(sql, ofMechanism(sql, mechanismId))
    const rows = yield* sql<GrantRow>`
      select m.id, m.kind, m.sequence_id, j.sequence, j.at, j.consumer_id,
        coalesce(
          m.configuration ->> 'currencyCode', e.record ->> 'currencyCode', o.settings ->> 'currencyCode',
          ${defaultCurrencyCode}
        ) as currency_code,
        exists (
          select from journal c
          where c.mechanism_id = m.id and c.type = 'Completed' and c.at >= j.at and c.consumer_id = j.consumer_id
            and (c.data -> 'grant') is not null and c.data -> 'grant' ->> 'sequence' = ${`${sequence}`}
        ) as is_completed,
        case when m.kind = 'auction' then (
          select b.data ->> 'amount' from journal b
          where b.mechanism_id = m.id and b.sequence < j.sequence and b.type = 'BidPlaced'
            and b.consumer_id = j.consumer_id
          order by b.sequence desc limit 1
        ) end as bid,
        -- A place has the selection of its present grant.
        coalesce(case when p.entered_at = j.at then p.fields ->> 'selectedVariantId' end, j.data ->> 'variantId')
          as variant_id
      from mechanisms m
      join journal j on j.mechanism_id = m.id and j.sequence = ${sequence}
      join sequences s on s.id = m.sequence_id
      join experiences e on e.id = s.experience_id
      join organizations o on o.id = m.organization_id
      left join places p on m.kind = any(${selectingKinds}::text[]) and p.mechanism_id = m.id and p.consumer_id = j.consumer_id
      where m.id = ${mechanismId} and ${unarchivedOf(sql, tenant, "m")} and j.consumer_id is not null
        and (m.kind, j.type) in (
          select * from unnest(${grantEvents.map(([kind]) => kind)}::text[], ${grantEvents.map(([, type]) => type)}::text[])
        )`
    return rows[0] && toGrant(rows[0])
  }, orUnavailable)

/** Makes the function that returns the prices of the variants that a grant may be for; null for one without a price. */
const makePricesOf = (sql: PgClient.PgClient) =>
  Effect.fn("NamedGrants.pricesOf")(function* (
    tenant: Tenant,
    { mechanismId, sequenceId, variantId }: FoundGrant,
    productId: string | undefined
  ) {
    const ofGrant =
      variantId !== undefined
        ? sql`v.id = ${variantId}`
        : productId !== undefined
          ? sql`v.product_id = ${productId} and not v.archived`
          : sql`not v.archived and not p.archived and case
              when jsonb_array_length(coalesce(m.configuration -> 'variantIds', '[]')) > 0
                then m.configuration -> 'variantIds' @> to_jsonb(v.id::text)
              else exists (
                select from experience_products x join sequences s on s.experience_id = x.experience_id
                where s.id = ${sequenceId} and x.product_id = v.product_id
                  and v.id = coalesce(x.product_variant_id, v.id)
              ) end`
    const rows = yield* sql<{ readonly price: Price | null }>`
      select distinct v.record ->> 'price' as price
      from product_variants v join products p on p.id = v.product_id, mechanisms m
      where m.id = ${mechanismId} and ${ofTenant(sql, tenant, "v")} and ${ofGrant}`
    return rows.map(({ price }) => price)
  }, orUnavailable)

/** Returns the price if it is the only one. Prices may be written in several ways. */
const onlyPrice = (prices: ReadonlyArray<Price | null>): Price | undefined => {
  const [first] = prices
  if (typeof first !== "string") return undefined
  return prices.every((price) => price !== null && ofText(price) === ofText(first)) ? first : undefined
}

interface GrantRow {
  readonly id: string
  readonly kind: FoundGrant["kind"]
  readonly sequence_id: string
  readonly sequence: bigint
  readonly at: Date
  readonly consumer_id: string
  readonly is_completed: boolean
  readonly bid: Price | null
  readonly variant_id: string | null
  readonly currency_code: string
}

const toGrant = (row: GrantRow): FoundGrant => ({
  kind: row.kind,
  mechanismId: row.id,
  sequence: Number(row.sequence),
  sequenceId: row.sequence_id,
  consumerId: row.consumer_id,
  grantedAt: row.at.getTime(),
  isCompleted: row.is_completed,
  bid: row.bid ?? undefined,
  variantId: row.variant_id ?? undefined,
  currencyCode: row.currency_code
})
