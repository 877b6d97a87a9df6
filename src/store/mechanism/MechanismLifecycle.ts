/**
 * The lifecycle of mechanisms according to their records, as a function and as SQL.
 */
import { Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { bounded, ExperienceWindow } from "../../domain/experience/ExperienceWindow.ts"
import type { Lifecycle, StatusFields } from "../../domain/mechanism/Decider.ts"
import { type Millis, Timestamp } from "../../domain/values/Time.ts"

/** The configuration of a mechanism, not decoded. */
type Configuration = { readonly [name: string]: unknown }

/** The lifecycle of a mechanism, according to its record. */
export const lifecycleOf = (
  {
    configuration,
    status
  }: { readonly configuration: Configuration; readonly status: Pick<StatusFields, "teardownStatus"> },
  now: Millis
): Lifecycle => {
  const { openAt, closeAt } = heldTimes(configuration)
  if (status.teardownStatus === "completed") return "closed"
  if (status.teardownStatus === "pending" || (closeAt ?? Infinity) <= now) return "settling"
  return (openAt ?? 0) > now ? "scheduled" : "open"
}

/** Returns the effective opening and closing: those that were set, limited by the window of the experience. */
export const heldTimes = (configuration: Configuration) => bounded(decodeTimes(configuration))

const times = { openAt: Schema.optionalKey(Timestamp), closeAt: Schema.optionalKey(Timestamp) }
const decodeTimes = Schema.decodeUnknownSync(
  Schema.Struct({ ...times, experienceWindow: Schema.optionalKey(ExperienceWindow) })
)

/** The effective opening of a mechanism `m`. Null if it is open from its creation. */
export const heldOpenAt = (sql: SqlClient.SqlClient): Fragment => sql`
  greatest(
    (m.configuration ->> 'openAt')::timestamptz, (m.configuration #>> '{experienceWindow,openAt}')::timestamptz
  )`

/** The effective closing of a mechanism `m`. Null if there is none. */
export const heldCloseAt = (sql: SqlClient.SqlClient): Fragment => sql`
  least(
    (m.configuration ->> 'closeAt')::timestamptz, (m.configuration #>> '{experienceWindow,closeAt}')::timestamptz
  )`

/** The lifecycle of a mechanism `m`, as SQL. */
export const lifecycleAt = (sql: SqlClient.SqlClient, now: Millis): Fragment => {
  const at = sql`${new Date(now)}::timestamptz`
  return sql`
    case
      when m.teardown_status = 'completed' then 'closed'
      when m.teardown_status = 'pending' or ${heldCloseAt(sql)} <= ${at} then 'settling'
      when ${heldOpenAt(sql)} > ${at} then 'scheduled'
      else 'open'
    end`
}
