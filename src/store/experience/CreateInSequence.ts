/**
 * Creates records below a sequence. Until they are written, the sequence and its experience cannot be archived or
 * changed.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { Kind } from "../../domain/mechanism/Mechanism.ts"
import type { ExperienceWindow } from "../../domain/experience/ExperienceWindow.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { RegionalDefaults } from "../../domain/values/Locale.ts"
import { toWindow, windowColumns, type WindowRow } from "./ExperienceWindows.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { unarchivedOf } from "../records/Tenancy.ts"

/** The values that a mechanism inherits from its sequence and its experience. */
export interface Parents extends RegionalDefaults {
  readonly experienceId: string
  readonly sequenceId: string
  readonly experienceWindow: ExperienceWindow | undefined
}

/** The sequence has a waitlist that is not archived. 409 `WAITLIST_EXISTS` */
export class WaitlistExists extends Schema.TaggedError<WaitlistExists>()("WaitlistExists", {}) {}

/** `Sequences.createIn`. */
export const createInSequence = (sql: PgClient.PgClient) =>
  Effect.fnUntraced(
    function* <A, E, R>(
      tenant: Tenant,
      sequenceId: string,
      kind: Kind,
      create: (parents: Parents) => Effect.Effect<A, E, R>
    ) {
      // The experience is locked first, as in archiving. Another lock order could deadlock. A request that
      // creates a waitlist waits for a concurrent request that creates one, and sees it afterwards.
      const lock = kind === "waitlist" ? sql`for share of e for no key update of s` : sql`for share`
      const rows = yield* sql<ParentsRow>`
        select s.experience_id, e.record ->> 'timeZone' as time_zone, e.record ->> 'currencyCode' as currency_code,
          ${windowColumns(sql)}
        from experiences e join sequences s on s.experience_id = e.id
        where s.id = ${sequenceId} and ${unarchivedOf(sql, tenant, "s")} and not e.archived
        ${lock}`
      const row = rows[0]
      if (row === undefined) return yield* new RecordNotFound({ record: "Sequence" })
      const created = yield* create({
        experienceId: row.experience_id,
        sequenceId,
        timeZone: row.time_zone,
        currencyCode: row.currency_code,
        experienceWindow: toWindow(row)
      })
      if (kind === "waitlist") {
        const waitlists = yield* sql`
          select id from mechanisms where sequence_id = ${sequenceId} and kind = 'waitlist' and not archived limit 2`
        if (waitlists.length > 1) return yield* new WaitlistExists()
      }
      return created
    },
    sql.withTransaction,
    orUnavailable
  )

interface ParentsRow extends WindowRow {
  readonly experience_id: string
  readonly time_zone: string
  readonly currency_code: string
}
