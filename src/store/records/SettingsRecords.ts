/**
 * Records that consist of one row with settings.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Declaration, InUse } from "./Declaration.ts"
import type { Filter } from "./Pagination.ts"
import { type Archivable, type Changeable, make, type Readable } from "./Records.ts"
import { type Columns, type SettingsRow, stampOf } from "./Rows.ts"

/** The operations of such a kind of record. */
export interface SettingsRecords<Settings, A, Sort extends string>
  extends Readable<A, Sort, Filter>, Changeable<A, Settings>, Archivable<A, InUse> {
  create(tenant: Tenant, by: string, settings: Settings): Effect.Effect<A, Unavailable>
}

/** The functions that convert the settings (`SettingsColumns.ts`). */
interface Converter<Settings> {
  columnsOf(sql: PgClient.PgClient, settings: Settings): Columns
  settingsOf(row: SettingsRow): Settings
}

/** Creates the operations from a declaration. */
export const makeSettingsRecords = <Settings, Row extends SettingsRow, A, Sort extends string>(
  declaration: Declaration<Row, A, Sort, InUse>,
  { settingsOf, columnsOf }: Converter<Settings>
) =>
  Effect.gen(function* () {
    const { sql, statements, change, ...operations } = yield* make(declaration)

    const create = Effect.fn(`${declaration.service}.create`)(function* (
      tenant: Tenant,
      by: string,
      settings: Settings
    ) {
      return yield* statements.show(
        yield* statements.insert(tenant, yield* stampOf(by), () => columnsOf(sql, settings))
      )
    }, orUnavailable)

    return {
      ...operations,
      create,
      change: (tenant: Tenant, id: string, by: string, revise: (settings: Settings) => Settings) =>
        change(tenant, id, by, (row) => Effect.sync(() => columnsOf(sql, revise(settingsOf(row)))))
    }
  })
