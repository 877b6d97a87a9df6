/**
 * Waits for the places that follow from the journal (`PlaceProjector.ts`). A list, an export or a search of places waits
 * first, so that no caller reads behind its own write.
 */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { Tenant } from "../../domain/values/Ids.ts"
import { ofTenant, unarchivedOf } from "../records/Tenancy.ts"
import { notification } from "../coordination/Invalidations.ts"
import { Unavailable } from "../postgres/Unavailable.ts"

/** What makes this process's own writer write everything that waits, by the configuration of its database client. */
export const PlaceWriters = Context.Reference<WeakMap<object, Effect.Effect<void>>>(
  "usher/store/journal/PlaceWriters",
  { defaultValue: () => new WeakMap() }
)

/** The mechanism `h`, and those of a tenant; `atWork`: without archived ones and those that are torn down. */
export const ofMechanism = (sql: PgClient.PgClient, mechanismId: string): Fragment =>
  sql`h.mechanism_id = ${mechanismId}`
export const ofMechanisms = (sql: PgClient.PgClient, tenant: Tenant): Fragment =>
  sql`h.mechanism_id in (select m.id from mechanisms m where ${ofTenant(sql, tenant, "m")})`
export const atWork = (sql: PgClient.PgClient, tenant: Tenant): Fragment =>
  sql`h.mechanism_id in (
    select m.id from mechanisms m
    where ${unarchivedOf(sql, tenant, "m")} and m.teardown_status is distinct from 'completed'
  )`

/** The pause between two looks, and how long a reader waits at most. */
const lookMillis = 20
const readMillisMax = 10_000

/**
 * Returns when the stored places of the selected mechanisms `h` follow from all events that are stored now. Do not call it
 * in a transaction that sees one moment. A parked mechanism is not waited for: its places are those before it failed.
 */
export const currentPlaces = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  selected: Fragment
): Effect.fn.Return<void, SqlError | Unavailable> {
  const behind = yield* sql<{ readonly id: string; readonly sequence: bigint }>`
    select h.mechanism_id as id, h.sequence from mechanism_heads h join place_projections p using (mechanism_id)
    where p.sequence < h.sequence and ${selected}
      and not exists (select from parked_mechanisms k where k.mechanism_id = h.mechanism_id)`
  if (behind.length === 0) return
  const isBehind = Effect.map(
    sql`
      select from unnest(${behind.map(({ id }) => id)}::uuid[], ${behind.map(({ sequence }) => `${sequence}`)}::bigint[])
        as wanted (mechanism_id, sequence)
      join place_projections p using (mechanism_id) where p.sequence < wanted.sequence limit 1`,
    (rows) => rows.length > 0
  )
  const own = (yield* PlaceWriters).get(sql.config)
  if (own !== undefined) yield* Effect.timeoutOption(own, readMillisMax)
  if (!(yield* isBehind)) return
  yield* sql`select ${notification(sql, "places", sql`''::text`)}`
  for (let waited = 0; waited < readMillisMax; waited += lookMillis) {
    yield* Effect.sleep(lookMillis)
    if (!(yield* isBehind)) return
  }
  return yield* new Unavailable({ cause: new Error(`the places of ${behind.length} mechanism(s) are not written yet`) })
})
