/**
 * The settings of records as columns. A setting that is searched, sorted or joined has its own column. The others are
 * one JSON value, `record`.
 */
import type { PgClient } from "@effect/sql-pg"
import { Schema } from "effect"
import type { Columns } from "./Rows.ts"

/** Settings as a record shows them. Null stands for an unset one. */
export type Shown<S> = { readonly [K in keyof S]-?: object extends Pick<S, K> ? S[K] | null : S[K] }

/** Creates the functions that convert settings. `own` names the columns of the settings that have one. */
export const makeSettingsColumns = <S extends object>(
  schema: Schema.Codec<S, object> & { readonly fields: { readonly [K in keyof S]: unknown } },
  own: { readonly [K in keyof S]?: string }
) => {
  const encode = Schema.encodeSync(schema)
  const decode = Schema.decodeUnknownSync(schema)
  const columns = Object.entries<string>(own as { readonly [name: string]: string })
  const names = new Set(columns.map(([name]) => name))
  const unset = Object.fromEntries(Object.keys(schema.fields).map((name) => [name, null]))

  const columnsOf = (sql: PgClient.PgClient, settings: S): Columns => {
    const encoded = encode(settings) as { readonly [name: string]: unknown }
    const others = Object.entries(encoded).filter(([name]) => !names.has(name))
    return {
      ...Object.fromEntries(columns.map(([name, column]) => [column, encoded[name] ?? null])),
      record: sql.json(Object.fromEntries(others))
    }
  }

  const settingsOf = (row: { readonly record: object }): S => {
    const values = row as { readonly record: object } & Columns
    const set = columns.filter(([, column]) => values[column] !== null)
    return decode({ ...row.record, ...Object.fromEntries(set.map(([name, column]) => [name, values[column]])) })
  }

  /** Returns the settings of a row as its record shows them. */
  const shownOf = (row: { readonly record: object }): Shown<S> => ({ ...unset, ...settingsOf(row) }) as Shown<S>

  return { columnsOf, settingsOf, shownOf }
}
