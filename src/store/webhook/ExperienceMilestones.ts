/**
 * When experiences open and close, as webhooks tell it: once each, at the `openAt` and the `closeAt` that the Admin API
 * shows. An experience without such a time has no milestone.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Millis } from "../../domain/values/Time.ts"
import { withWindow } from "../experience/Experiences.ts"

/** Experiences that one statement marks. */
const markedAtOnce = 500

/** Marks what has passed by now. The database notes an event for each mark. Returns how many there are. */
export const markMilestones = Effect.fnUntraced(function* (now: Millis) {
  const sql = yield* SqlClient.SqlClient
  const at = new Date(now)
  const mark = (
    column: "activated_at" | "completed_at",
    field: "openAt" | "closeAt",
    derived: "open_at" | "close_at"
  ) =>
    sql`
      update experiences set ${sql(column)} = ${at}
      where ${sql(column)} is null and id = any(array(
        select e.id from experiences e ${withWindow(sql)}
        where not e.archived and (e.activated_at is null or e.completed_at is null) and e.${sql(column)} is null
          and coalesce((e.record ->> ${field})::timestamptz, w.${sql(derived)}) <= ${at}
        order by e.id limit ${markedAtOnce}
      )) returning 1`
  const opened = yield* mark("activated_at", "openAt", "open_at")
  const closed = yield* mark("completed_at", "closeAt", "close_at")
  return opened.length + closed.length
})
