/** Variants of products, written directly into the database, for rules that depend on the option values in use. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { Tenant } from "../../../src/domain/values/Ids.ts"

/** Creates a variant of a new product, with values of options, and returns its id. */
export const aVariantWith = Effect.fnUntraced(function* (
  { organizationId, mode }: Tenant,
  values: ReadonlyArray<{ readonly optionId: string; readonly id: string }>
) {
  const sql = yield* SqlClient.SqlClient
  const [product, variant] = [randomUUID(), randomUUID()]
  const stamps = { created_at: new Date(0), created_by: "test", updated_at: new Date(0), updated_by: "test" }
  const record = { organization_id: organizationId, mode, record: "{}", ...stamps }
  yield* sql`insert into products ${sql.insert({ id: product, name: "Shoe", ...record })}`
  yield* sql`insert into product_variants ${sql.insert({ id: variant, product_id: product, ...record })}`
  for (const { optionId, id } of values) {
    const row = { product_variant_id: variant, option_id: optionId, value_id: id }
    yield* sql`insert into product_variant_options ${sql.insert(row)}`
  }
  return variant
}, Effect.orDie)

/** Archives a variant alone. */
export const archiveVariant = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`update product_variants set archived = true where id = ${id}`
}, Effect.orDie)
