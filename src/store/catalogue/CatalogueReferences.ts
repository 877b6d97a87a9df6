/**
 * What products and variants refer to. Whoever refers to a record keeps it from being archived until the transaction
 * ends, and is told of each record that is not there.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { OptionChoice } from "../../domain/catalogue/Variant.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { unarchivedOf } from "../records/Tenancy.ts"

const Reference = Schema.Struct({
  /** Where in the body the identifier stands. */
  path: Schema.Array(Schema.Union([Schema.String, Schema.Finite])),
  expected: Schema.String
})
/** An identifier in a body that names nothing there is. */
export type Reference = typeof Reference.Type

/** Some of what a body refers to is unknown, archived or another tenant's. Nothing has changed. */
export class UnknownReferences extends Schema.TaggedError<UnknownReferences>()("UnknownReferences", {
  references: Schema.Array(Reference)
}) {}

/** Fails if any reference is wrong. */
export const refuseUnknown = (references: ReadonlyArray<Reference>) =>
  references.length === 0 ? Effect.void : Effect.fail(new UnknownReferences({ references }))

/** An identifier, and where in the body it stands. */
interface Named {
  readonly path: Reference["path"]
  readonly id: string | undefined
}

/** The options of one variant, and where in the body they stand. */
interface Chosen {
  readonly path: Reference["path"]
  readonly choices: ReadonlyArray<OptionChoice>
}

/** The ways to look up what a body refers to; each answers what of it is wrong, and is for use within a transaction. */
export const makeReferences = (sql: PgClient.PgClient) => {
  /** The tenant's records among those named, kept to this transaction in an order that is always the same. */
  const held = (table: string, tenant: Tenant, ids: ReadonlyArray<string>, columns = "id") =>
    ids.length === 0
      ? Effect.succeed([])
      : sql<{ readonly id: string; readonly option_id: string }>`
          select ${sql.literal(columns)} from ${sql(table)}
          where id = any(${ids}::uuid[]) and ${unarchivedOf(sql, tenant)}
          order by id for share`

  const unknownIn = (table: string, expected: string) =>
    Effect.fnUntraced(function* (tenant: Tenant, named: ReadonlyArray<Named>) {
      const ids = named.flatMap(({ id }) => id ?? [])
      const known = new Set((yield* held(table, tenant, ids)).map(({ id }) => id))
      return named.flatMap(({ path, id }): ReadonlyArray<Reference> =>
        id === undefined || known.has(id) ? [] : [{ path, expected }]
      )
    })

  const options = Effect.fnUntraced(function* (tenant: Tenant, chosen: ReadonlyArray<Chosen>) {
    const all = chosen.flatMap(({ choices }) => choices)
    const optionIds = all.map(({ optionId }) => optionId)
    const known = new Set((yield* held("variant_options", tenant, optionIds)).map(({ id }) => id))
    const valueIds = all.map(({ valueId }) => valueId)
    const values = yield* held("variant_option_values", tenant, valueIds, "id, option_id")
    const optionOf = new Map(values.map((value) => [value.id, value.option_id]))
    return chosen.flatMap(({ path, choices }) =>
      choices.flatMap(({ optionId, valueId }, index): ReadonlyArray<Reference> => {
        const isFirst = choices.findIndex((choice) => choice.optionId === optionId) === index
        const at = [...path, index]
        return [
          ...(known.has(optionId)
            ? []
            : [{ path: [...at, "optionId"], expected: "a variant option of this organization" }]),
          ...(isFirst ? [] : [{ path: [...at, "optionId"], expected: "an option that is given once" }]),
          ...(optionOf.get(valueId) === optionId
            ? []
            : [{ path: [...at, "valueId"], expected: "a value of the option" }])
        ]
      })
    )
  })

  return {
    syncSources: unknownIn("sync_sources", "a sync source of this organization"),
    mediaAssets: unknownIn("media_assets", "a media asset of this organization"),
    options
  }
}
