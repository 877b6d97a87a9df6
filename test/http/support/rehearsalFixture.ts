/** Rehearsals in the database, which nobody runs. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"

/** Writes a rehearsal of a live experience. One that is under way is written only if there is none. Returns its id. */
export const aRehearsal = Effect.fnUntraced(function* (experienceId: string, status: "FAILED" | "RUNNING" = "FAILED") {
  const sql = yield* SqlClient.SqlClient
  const id = randomUUID()
  yield* Effect.orDie(sql`
    insert into rehearsals (id, organization_id, mode, experience_id, status, crowd, seed, created_at, created_by,
      updated_at, updated_by, problem)
    select ${id}, organization_id, mode, id, ${status}, '{"people": 5}', 1, now(), 'test', now(), 'test', 'It was cancelled.'
    from experiences where id = ${experienceId}
    on conflict do nothing`)
  return id
})
