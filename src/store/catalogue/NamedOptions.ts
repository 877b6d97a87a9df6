/**
 * Options and values that a body names by their text, such as the size 42. Within the transaction of a product or a
 * variant, each becomes an id: that of an existing record, else that of a new one.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { OptionChoice, OptionChoices } from "../../domain/catalogue/Variant.ts"
import { valuesMax } from "../../domain/catalogue/VariantOption.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { insertRows, newRow, stampOf } from "../records/Rows.ts"
import { unarchivedOf } from "../records/Tenancy.ts"
import { type Reference, refuseUnknown } from "./CatalogueReferences.ts"
import { columnsOf } from "./VariantOptionValueRows.ts"

/** The options of one variant as a body names them, and their path in it. */
interface Named {
  readonly path: Reference["path"]
  readonly choices: OptionChoices
}

/** Makes the function that returns the options of variants by their ids. An option that can have no other value is refused. */
export const makeNamedOptions = (sql: PgClient.PgClient, random: SecureRandom.SecureRandom["Service"]) => {
  /** The tenant's oldest option of this name, locked, so that two requests do not add the same value. */
  const optionOf = Effect.fnUntraced(function* (tenant: Tenant, by: string, name: string) {
    // A name that no option has locks no row.
    yield* sql`select pg_advisory_xact_lock(hashtextextended(${`${tenant.organizationId} ${tenant.mode} ${name}`}, 0))`
    const [known] = yield* sql<{ readonly id: string }>`
      select id from variant_options where ${unarchivedOf(sql, tenant)} and name = ${name}
      order by created_at, id limit 1 for update`
    if (known !== undefined) return known.id
    const id = yield* random.uuidV7()
    const row = { ...newRow(tenant, id, yield* stampOf(by)), name, record: sql.json({}) }
    yield* insertRows(sql, "variant_options", [row])
    return id
  })

  /** The option's value with this text; undefined if it is new and the option is full. */
  const valueOf = Effect.fnUntraced(function* (tenant: Tenant, by: string, optionId: string, value: string) {
    const [found] = yield* sql<{ readonly id: string | null; readonly count: number; readonly next: number }>`
      select count(*)::int as count, coalesce(max(sort_order) + 1, 0) as next,
        (array_agg(id) filter (where value = ${value}))[1] as id
      from variant_option_values where option_id = ${optionId} and not archived`
    if (found!.id !== null) return found!.id
    if (found!.count >= valuesMax) return undefined
    const id = yield* random.uuidV7()
    const columns = { ...columnsOf(sql, { value, isCentrallyManaged: true }), option_id: optionId }
    const row = { ...newRow(tenant, id, yield* stampOf(by)), ...columns, sort_order: found!.next }
    yield* insertRows(sql, "variant_option_values", [row])
    return id
  })

  return Effect.fnUntraced(function* (tenant: Tenant, by: string, named: ReadonlyArray<Named>) {
    const full: Array<Reference> = []
    const resolved: Array<ReadonlyArray<OptionChoice>> = []
    for (const { path, choices } of named) {
      const own: Array<OptionChoice> = []
      for (const [index, choice] of choices.entries()) {
        if ("optionId" in choice) {
          own.push(choice)
          continue
        }
        const optionId = yield* optionOf(tenant, by, choice.option)
        const valueId = yield* valueOf(tenant, by, optionId, choice.value)
        if (valueId === undefined) full.push({ path: [...path, index, "value"], expected: "a value the option has" })
        else own.push({ optionId, valueId })
      }
      resolved.push(own)
    }
    yield* refuseUnknown(full)
    return resolved
  })
}
