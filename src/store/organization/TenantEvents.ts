/**
 * The journal of a tenant, which is its audit log. The database writes it: triggers note each change of a row, in the
 * transaction of the change (`migrations/baseline/auditLog.sql`). The sequence of a tenant has no gaps, and a reader never
 * sees an event before those with lower numbers.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { type Change, type TenantEventType, type Values, auditLogSorts } from "../../domain/organization/TenantEvent.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { makeEventList } from "../records/Lists.ts"
import { listShape, type Page, type PageQuery, type PageRefused, type Period } from "../records/Pagination.ts"

export interface TenantEvent extends Change {
  readonly sequence: number
  readonly at: Millis
  readonly type: TenantEventType
  /** `api_key:<id>`, `consumer:<id>`, `receiver:<id>`, `gate:<id>`, `rehearsal:<id>`, `operator:<id>`, `operator` or `system`. */
  readonly actor: string
  readonly subjectId: string
}

/** An action of staff on a mechanism, with its reason and its note if they were given. */
export interface StaffAction extends Values {
  readonly action: "admit" | "change" | "deny" | "pause" | "resume" | "end" | "unpark"
}

export interface TenantEventFilter extends Period {
  readonly type?: TenantEventType | undefined
  readonly actor?: string | undefined
  readonly subjectId?: string | undefined
}

export const shape = listShape(
  "audit-log",
  "t",
  auditLogSorts,
  { sequence: "bigint" },
  { id: { expression: "t.sequence", type: "bigint" } }
)

export class TenantEvents extends Context.Service<
  TenantEvents,
  {
    /** Returns a page of the tenant's events. */
    list(
      tenant: Tenant,
      query: PageQuery<"sequence"> & TenantEventFilter
    ): Effect.Effect<Page<TenantEvent>, PageRefused | Unavailable>
    /** Records what staff did to a mechanism. Takes part in the surrounding transaction, if any. */
    note(tenant: Tenant, by: string, distributionId: string, noted: StaffAction): Effect.Effect<void, Unavailable>
  }
>()("usher/store/organization/TenantEvents") {
  static readonly layer = Layer.effect(TenantEvents)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const list = yield* makeEventList(shape, toEvent, {
        service: "TenantEvents",
        table: "tenant_events",
        alias: "t",
        fields: "t.*, t.sequence::float8 as number",
        columns: { type: "t.type", actor: "t.actor", subjectId: "t.subject_id" },
        at: "t.at"
      })

      // The trigger of the table numbers the event at the commit.
      const note = Effect.fn("TenantEvents.note")(function* (
        { organizationId, mode }: Tenant,
        by: string,
        distributionId: string,
        noted: StaffAction
      ) {
        const data = { changed: [], before: {}, after: noted } satisfies Change
        yield* sql`
          insert into noted_events (organization_id, mode, at, type, actor, subject_id, data)
          values (${organizationId}, ${mode}, clock_timestamp(), ${"distribution.noted" satisfies TenantEventType}, ${by},
            ${distributionId}, ${sql.json(data)})`
      }, orUnavailable)

      return { list, note }
    })
  )
}

/** Names the author of the transaction's changes of rows that do not name one. Part of a statement of the transaction. */
export const actingAs = (sql: SqlClient.SqlClient, by: string): Fragment => sql`set_config('usher.actor', ${by}, true)`

interface Row {
  readonly number: number
  readonly at: Date
  readonly type: TenantEventType
  readonly actor: string
  readonly subject_id: string
  readonly data: Change
}

const toEvent = ({ number, at, type, actor, subject_id, data }: Row): TenantEvent => ({
  sequence: number,
  at: at.getTime(),
  type,
  actor,
  subjectId: subject_id,
  changed: data.changed,
  before: data.before,
  after: data.after
})
