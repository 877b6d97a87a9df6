/**
 * The records that products and variants reference. They are locked until the transaction ends, so they cannot be
 * archived before it commits. The caller receives each identifier that names no record.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { OptionChoice } from "../../domain/catalogue/Variant.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { hold } from "../records/Statements.ts"

const Reference = Schema.Struct({
  /** The path of the identifier in the body. */
  path: Schema.Array(Schema.Union([Schema.String, Schema.Finite])),
  expected: Schema.String
})
/** An identifier in a body that names no record. */
export type Reference = typeof Reference.Type

/** Some identifiers of a body are unknown, archived or another tenant's. Nothing has changed. */
export class UnknownReferences extends Schema.TaggedError<UnknownReferences>()("UnknownReferences", {
  references: Schema.Array(Reference)
}) {}

/** The references of a part of a body, as those of the whole body. `path` leads to the part. */
export const unknownWithin = (path: Reference["path"], { references }: UnknownReferences): UnknownReferences =>
  new UnknownReferences({ references: references.map((one) => ({ ...one, path: [...path, ...one.path] })) })

/** Fails if any reference is wrong. */
export const refuseUnknown = (references: ReadonlyArray<Reference>) =>
  references.length === 0 ? Effect.void : Effect.fail(new UnknownReferences({ references }))

/** An identifier and its path in the body. */
interface Named {
  readonly path: Reference["path"]
  readonly id: string | undefined
}

/** The options of one variant and their path in the body. */
interface Chosen {
  readonly path: Reference["path"]
  readonly choices: ReadonlyArray<OptionChoice>
}

interface ValueRow {
  readonly id: string
  readonly option_id: string
}

/** Looks up the references of a body within a transaction. Each function returns the wrong identifiers. */
export const makeReferences = (sql: PgClient.PgClient) => {
  const unknownIn = (table: string, expected: string) =>
    Effect.fnUntraced(function* (tenant: Tenant, named: ReadonlyArray<Named>) {
      const ids = named.flatMap(({ id }) => id ?? [])
      const known = new Set((yield* hold(sql, tenant, table, ids)).map(({ id }) => id))
      return named.flatMap(({ path, id }): ReadonlyArray<Reference> =>
        id === undefined || known.has(id) ? [] : [{ path, expected }]
      )
    })

  const options = Effect.fnUntraced(function* (tenant: Tenant, chosen: ReadonlyArray<Chosen>) {
    const all = chosen.flatMap(({ choices }) => choices)
    const optionIds = all.map(({ optionId }) => optionId)
    const known = new Set((yield* hold(sql, tenant, "variant_options", optionIds)).map(({ id }) => id))
    const valueIds = all.map(({ valueId }) => valueId)
    const values = yield* hold<ValueRow>(sql, tenant, "variant_option_values", valueIds, "id, option_id")
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
