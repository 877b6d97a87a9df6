/**
 * Visits of rooms: loads of a room's page that this installation answered, by the minute. They are counted in memory and
 * added to the database every few seconds and at the end of the process, so no page waits for a write. What a process
 * has counted since its last write is lost if it is killed.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import * as Time from "../coordination/Time.ts"

/** Between two writes. */
export const writeMillis = 10_000

/** Minutes of rooms that are counted at once. Visits beyond them are not counted until the next write. */
export const countedMax = 20_000

/** Days after which counts are removed: more than a query of analytics can cover. */
export const keptDays = 400

const minute = 60_000

/** The visits of one room in one minute. */
interface Counted {
  readonly tenant: Tenant
  readonly experienceId: string
  readonly at: Millis
  visits: number
}

/** The room of a visit. */
type Visited = Pick<Counted, "tenant" | "experienceId">

export class RoomVisits extends Context.Service<
  RoomVisits,
  {
    /** Counts a visit in memory. */
    count(room: Visited): Effect.Effect<void>
  }
>()("usher/store/experience/RoomVisits") {
  static readonly layer = Layer.effect(RoomVisits)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      let counted = new Map<string, Counted>()

      const add = (key: string, { visits, ...of }: Counted): void => {
        const known = counted.get(key)
        if (known !== undefined) known.visits += visits
        else if (counted.size < countedMax) counted.set(key, { ...of, visits })
      }

      const write = Effect.gen(function* () {
        if (counted.size === 0) return
        const written = counted
        counted = new Map()
        yield* insert(sql, [...written.values()]).pipe(
          orUnavailable,
          Effect.tapError(() =>
            Effect.sync(() => {
              for (const [key, one] of written) add(key, one)
            })
          )
        )
      }).pipe(
        Effect.uninterruptible,
        Effect.catchTag("Unavailable", () => Effect.logDebug("Visits of rooms could not be written; trying again")),
        Effect.catchCause((cause) => Effect.logError("Visits of rooms could not be written", cause))
      )

      yield* Effect.addFinalizer(() => write)
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(writeMillis), write)))

      return {
        count: ({ tenant, experienceId }) =>
          Effect.map(Time.now, (now) => {
            const at = now - (now % minute)
            add(`${experienceId} ${at}`, { tenant, experienceId, at, visits: 1 })
          })
      }
    })
  )
}

/** Adds the counts to those of other processes. */
const insert = (sql: PgClient.PgClient, all: ReadonlyArray<Counted>) => sql`
  insert into room_visits (organization_id, mode, experience_id, at, visits)
  select * from unnest(
    ${all.map(({ tenant }) => tenant.organizationId)}::uuid[],
    ${all.map(({ tenant }) => tenant.mode)}::text[],
    ${all.map(({ experienceId }) => experienceId)}::uuid[],
    ${all.map(({ at }) => new Date(at).toISOString())}::timestamptz[],
    ${all.map(({ visits }) => visits)}::int[]
  )
  on conflict (organization_id, mode, experience_id, at)
  do update set visits = room_visits.visits + excluded.visits`

/** Removes the counts that no query of analytics can cover any more. */
export const removeOldVisits = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const before = new Date((yield* Time.serverNow) - keptDays * 86_400_000)
  yield* sql`delete from room_visits where at < ${before}::timestamptz`
})
