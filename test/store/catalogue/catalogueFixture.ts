/** Records of the catalogue, written directly into their tables. */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { Tenant } from "../../../src/domain/values/Ids.ts"

/** Inserts a row of a catalogue table, and returns its id. `columns` are in addition to those of every record. */
const insert = Effect.fnUntraced(function* (
  table: string,
  { organizationId, mode }: Tenant,
  record: object,
  columns: { readonly [name: string]: unknown }
) {
  const sql = yield* PgClient.PgClient
  const id = randomUUID()
  const stamps = { created_at: new Date(1_000), created_by: "x", updated_at: new Date(2_000), updated_by: "y" }
  const row = { id, organization_id: organizationId, mode, record: sql.json(record), ...stamps, ...columns }
  yield* sql`insert into ${sql(table)} ${sql.insert(row)}`
  return id
})

/** Creates a product. */
export const aProduct = (tenant: Tenant, record: object = {}, columns: { readonly [name: string]: unknown } = {}) =>
  insert("products", tenant, record, { name: "Sneaker", ...columns })

/** Creates a variant of a product. */
export const aVariant = (
  tenant: Tenant,
  productId: string,
  record: object = {},
  columns: { readonly [name: string]: unknown } = {}
) => insert("product_variants", tenant, record, { product_id: productId, sku: null, ...columns })

/** Creates a sync source. */
export const aSyncSource = (tenant: Tenant, record: object = {}) =>
  insert("sync_sources", tenant, record, { sync_source: "shop", sync_source_id: "shop-1" })

/** Creates a media asset of a product. Returns its id, and the id of the row that links it to the product. */
export const aPicture = Effect.fnUntraced(function* (
  tenant: Tenant,
  productId: string,
  position: number,
  record: object = {}
) {
  const sql = yield* SqlClient.SqlClient
  const mediaAssetId = yield* insert("media_assets", tenant, record, { name: `Picture ${position}` })
  const id = randomUUID()
  yield* sql`
    insert into product_media_assets (id, product_id, media_asset_id, position, purpose)
    values (${id}, ${productId}, ${mediaAssetId}, ${position}, 'gallery')`
  return { id, mediaAssetId }
})

/** Gives a variant a value of a new option; answers the ids of both. */
export const anOptionOf = Effect.fnUntraced(function* (
  tenant: Tenant,
  variantId: string,
  option: { readonly name: string; readonly value: string }
) {
  const sql = yield* SqlClient.SqlClient
  const optionId = yield* insert("variant_options", tenant, {}, { name: option.name })
  const valueId = yield* insert(
    "variant_option_values",
    tenant,
    {},
    {
      option_id: optionId,
      value: option.value,
      is_centrally_managed: true,
      sort_order: 0
    }
  )
  yield* sql`
    insert into product_variant_options (product_variant_id, option_id, value_id)
    values (${variantId}, ${optionId}, ${valueId})`
  return { optionId, valueId }
})
