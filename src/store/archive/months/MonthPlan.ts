/** Which months can go to archives: those in which every mechanism is over, and nothing waits for its events. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { ofSameTenant } from "../../records/Tenancy.ts"
import { boundsOf, type Month } from "./Month.ts"

/** The stored data of a month, and the reasons that keep it in the database. */
export interface MonthState {
  readonly month: Month
  readonly mechanisms: number
  /** As the heads say. */
  readonly events: number
  /** Mechanisms that are not archived and torn down, or whose places are not written up to the last event. */
  readonly live: number
  /** Mechanisms with events that a webhook has yet to deliver. */
  readonly unread: number
  /** The first of both, at most three. */
  readonly keeping: ReadonlyArray<string>
}

/** The mechanisms `m` of a month whose journals are in the database, as SQL. */
export const stored = (month: Month): string => {
  const { from, to } = boundsOf(month)
  return `m.created_at >= ${from} and m.created_at < ${to}
    and not exists (select from archived_journals a where a.mechanism_id = m.id)`
}

/** Returns the months before another one that have journals in the database, the oldest first. */
export const months = (sql: SqlClient.SqlClient, before: Month) =>
  Effect.map(
    sql<{ readonly month: Month }>`
      select distinct to_char(m.created_at at time zone 'UTC', 'YYYY-MM') as month from mechanisms m
      where m.created_at < ${sql.literal(boundsOf(before).from)}
        and not exists (select from archived_journals a where a.mechanism_id = m.id)
      order by 1`,
    (rows) => rows.map(({ month }) => month)
  )

export const stateOf = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, month: Month) {
  const [row] = yield* sql<Omit<MonthState, "month">>`
    select count(*)::int4 as mechanisms, coalesce(sum(sequence), 0)::float8 as events,
      count(*) filter (where live)::int4 as live, count(*) filter (where unread and not live)::int4 as unread,
      coalesce((array_agg(id::text order by id) filter (where live or unread))[1:3], '{}') as keeping
    from (
      select m.id, h.sequence,
        not (m.archived and m.teardown_status is not distinct from 'completed') or p.sequence < h.sequence as live,
        exists (
          select from webhooks w left join webhook_cursors c on c.webhook_id = w.id and c.subject_id = m.id
          where ${ofSameTenant(sql, "m", "w")} and not w.archived and h.sequence > coalesce(c.sequence, 0)
        )
        or exists (
          select from webhook_held held join webhooks w on w.id = held.webhook_id
          where held.subject_id = m.id and not w.archived
        ) as unread
      from mechanisms m join mechanism_heads h on h.mechanism_id = m.id
        join place_projections p on p.mechanism_id = m.id where ${sql.literal(stored(month))}
    ) found`
  return { month, ...row! } satisfies MonthState
})

/** Returns why a month stays; undefined if it can go. */
export const hindranceOf = ({ live, unread, keeping, mechanisms }: MonthState): string | undefined => {
  const such = `${keeping.join(", ")}${live + unread > keeping.length ? ", …" : ""}`
  if (live > 0) {
    return `${live} of its ${mechanisms} mechanisms are not over: ${such}. Archive them (DELETE /api/<kind>/{id}); they are over when their last grant has ended.`
  }
  if (unread === 0) return undefined
  return `${unread} of its ${mechanisms} mechanisms have events that wait for a webhook: ${such}. Enable or remove the webhook.`
}
