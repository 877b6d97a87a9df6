/** The state of all webhooks for operators: the greatest delay, and the disabled ones. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Millis } from "../../domain/values/Time.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"

export interface Backlog {
  /** When the oldest notification that waits for another attempt was first tried; undefined if none waits. */
  readonly oldestAt: Millis | undefined
  /** Webhooks that are disabled, by reason. */
  readonly disabled: ReadonlyArray<readonly [reason: string, count: number]>
}

/** Reads the backlog of all organizations. Disabled webhooks have none: nothing is delivered to them. */
export const backlog = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [oldest] = yield* sql<{ readonly at: Date | null }>`
    select min(d.created_at) as at from webhooks w
      join webhook_held h on h.webhook_id = w.id and h.retry_at is not null
      join webhook_deliveries d on d.webhook_id = h.webhook_id and d.event_id = h.event_id
    where not w.archived and w.disabled_reason is null`
  const disabled = yield* sql<{ readonly reason: string; readonly count: number }>`
    select disabled_reason as reason, count(*)::int4 as count from webhooks
    where not archived and disabled_reason is not null group by disabled_reason`
  const found: Backlog = {
    oldestAt: oldest?.at?.getTime(),
    disabled: disabled.map(({ reason, count }) => [reason, count])
  }
  return found
}).pipe(orUnavailable)
