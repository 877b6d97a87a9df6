/**
 * Removes guests that have nothing: no place, no order, no session, no audience and no address. Such a guest can never
 * return, because no valid token for it exists.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Mode, type Tenant } from "../../domain/values/Ids.ts"
import { withoutBounds } from "../postgres/BoundedClient.ts"
import { ofSameTenant, ofTenant } from "../records/Tenancy.ts"
import * as Time from "../coordination/Time.ts"

/** Days after which a guest counts as idle. */
export const idleDays = 30

/** Guests that one transaction looks at. Bounds how long it holds locks. */
const batchMax = 5_000

/** The key of the advisory lock: of several processes one does the work. Any fixed number works. */
const removalLock = 0x69_64_6c_65n

/** The last guest that a batch looked at, in the order of creation. */
interface Cursor {
  readonly created_at: Date
  readonly id: string
}

const start: Cursor = { created_at: new Date(0), id: "00000000-0000-0000-0000-000000000000" }

interface Batch {
  readonly removed: number
  /** Absent if there are no further guests. */
  readonly last: Cursor | undefined
}

/** Looks at all idle guests once. Returns the number of removed ones. Another process that does the same ends it. */
export const removeIdleGuests = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const before = new Date((yield* Time.serverNow) - idleDays * 86_400_000)
  const organizations = yield* sql<{ readonly id: string }>`select id from organizations order by id`
  let removed = 0
  for (const { id: organizationId } of organizations) {
    for (const mode of Mode.literals) {
      let cursor: Cursor | undefined = start
      while (cursor !== undefined) {
        const batch: Batch | undefined = yield* removeAfter(sql, { organizationId, mode }, before, cursor)
        if (batch === undefined) return removed
        removed += batch.removed
        cursor = batch.last
      }
    }
  }
  return removed
})

/** Removes the idle ones of the next guests. Undefined if another process has the lock. */
const removeAfter = (
  sql: PgClient.PgClient,
  tenant: Tenant,
  before: Date,
  { created_at, id }: Cursor
): Effect.Effect<Batch | undefined, SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const locks = yield* sql<{
      readonly locked: boolean
    }>`select pg_try_advisory_xact_lock(${removalLock}::bigint) as locked`
    if (!locks[0]!.locked) return undefined
    const guests = yield* sql<Cursor>`
      select c.created_at, c.id from consumers c
      where ${ofTenant(sql, tenant, "c")} and c.anonymous and not c.archived
        and c.created_at < ${before} and (c.created_at, c.id) > (${created_at}::timestamptz, ${id}::uuid)
      order by c.created_at, c.id limit ${batchMax} for update skip locked`
    // The planner chooses between a look into each mechanism and one pass over all places.
    const gone = yield* sql`
      delete from consumers c
      where c.id = any(${guests.map((guest) => guest.id)}::uuid[]) and c.type = 'guest'
        and not exists (select from sessions s where s.consumer_id = c.id)
        and not exists (select from orders o where o.consumer_id = c.id)
        and not exists (select from audience_members a where a.consumer_id = c.id)
        and not exists (
          select from places p join mechanisms m on m.id = p.mechanism_id
          where p.consumer_id = c.id and ${ofSameTenant(sql, "m", "c")}
        )
      returning c.id`
    return { removed: gone.length, last: guests.length < batchMax ? undefined : guests.at(-1) }
  }).pipe(withoutBounds)
