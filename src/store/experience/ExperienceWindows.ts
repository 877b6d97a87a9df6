/**
 * The windows that experiences set for their mechanisms, and the mechanisms that do not have the current window yet.
 */
import { Context, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { type ExperienceWindow, windowOf } from "../../domain/experience/ExperienceWindow.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import type { MechanismName } from "../mechanism/Mechanisms.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { ofTenant } from "../records/Tenancy.ts"

/** The columns that {@link windowColumns} reads. */
export interface WindowRow {
  readonly window_open_at: string | null
  readonly window_close_at: string | null
  readonly window_revision: number
}

/** The columns that define the window of an experience `e`. */
export const windowColumns = (sql: SqlClient.SqlClient): Fragment => sql`
  e.record ->> 'openAt' as window_open_at, e.record ->> 'closeAt' as window_close_at, e.window_revision`

export const toWindow = (row: WindowRow): ExperienceWindow | undefined =>
  windowOf(
    {
      ...(row.window_open_at !== null && { openAt: Date.parse(row.window_open_at) }),
      ...(row.window_close_at !== null && { closeAt: Date.parse(row.window_close_at) })
    },
    row.window_revision
  )

/** A mechanism that does not have its experience's current window. */
export interface Untold extends MechanismName {
  readonly sequenceId: string
  readonly window: ExperienceWindow
}

export class ExperienceWindows extends Context.Service<
  ExperienceWindows,
  {
    /** Returns the experience's mechanisms that have not closed and have an older window, with the current one. */
    untold(tenant: Tenant, experienceId: string): Effect.Effect<ReadonlyArray<Untold>, Unavailable>
  }
>()("usher/store/experience/ExperienceWindows") {
  static readonly layer = onDatabase(ExperienceWindows, (sql) => {
    const untold = Effect.fn("ExperienceWindows.untold")(function* (tenant: Tenant, experienceId: string) {
      const rows = yield* sql<UntoldRow>`
        select m.id, m.kind, m.sequence_id, ${windowColumns(sql)}
        from experiences e join mechanisms m on m.experience_id = e.id
        where e.id = ${experienceId} and ${ofTenant(sql, tenant, "e")}
          and not m.archived and m.teardown_status is null
          and coalesce((m.configuration #>> '{experienceWindow,revision}')::int, 0) < e.window_revision
        order by m.id`
      return rows.flatMap((row) => {
        const window = toWindow(row)
        return window === undefined ? [] : [{ id: row.id, kind: row.kind, sequenceId: row.sequence_id, window }]
      })
    }, orUnavailable)

    return { untold }
  })
}

interface UntoldRow extends MechanismName, WindowRow {
  readonly sequence_id: string
}
