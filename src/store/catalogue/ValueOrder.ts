/**
 * The order of the values of a variant option.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { orderProblems } from "../../domain/catalogue/VariantOption.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { parent } from "../records/Declaration.ts"
import { stampOf } from "../records/Rows.ts"
import { holdParent } from "../records/Statements.ts"
import { valuesOf } from "./VariantOptionValueRows.ts"

/** The request does not name each managed value of the option once. Nothing has changed. */
export class ValueOrderRefused extends Schema.TaggedError<ValueOrderRefused>()("ValueOrderRefused", {
  problems: Schema.Array(
    Schema.Struct({
      problem: Schema.Literals(["duplicate", "unknown", "omitted"]),
      id: Schema.String,
      index: Schema.optionalKey(Schema.Int)
    })
  )
}) {}

export const option = parent({
  table: "variant_options",
  record: "Variant option",
  column: "option_id",
  lock: "update"
})

/** Creates `VariantOptionValues.reorder`. It writes only the values that move. */
export const makeReorder = (sql: PgClient.PgClient) =>
  Effect.fn("VariantOptionValues.reorder")(
    function* (tenant: Tenant, optionId: string, by: string, valueOrder: ReadonlyArray<string>) {
      yield* holdParent(sql, tenant, option, optionId)
      const values = yield* valuesOf(sql, optionId)
      const managed = values.filter(({ isCentrallyManaged }) => isCentrallyManaged).map(({ id }) => id)
      const problems = orderProblems(managed, valueOrder)
      if (problems.length > 0) return yield* new ValueOrderRefused({ problems })
      const others = values.filter(({ isCentrallyManaged }) => !isCentrallyManaged).map(({ id }) => id)
      const { now } = yield* stampOf(by)
      yield* sql`
        update variant_option_values v
        set sort_order = given.position - 1, updated_at = ${now}, updated_by = ${by}
        from unnest(${[...valueOrder, ...others]}::uuid[]) with ordinality as given (id, position)
        where v.id = given.id and v.sort_order <> given.position - 1`
      return yield* valuesOf(sql, optionId)
    },
    sql.withTransaction,
    orUnavailable
  )
