/**
 * The grants that ended before their tokens expire: left, denied or completed, or expired because they were not
 * renewed. They come from the journal. An index over the
 * events that end grants finds them, so ending a grant writes nothing more.
 *
 * A page goes through the tenant's mechanisms in the order of their ids, and through the events of each in the order of
 * their times. A mechanism that was torn down before `since` is passed over.
 */
import { Context, Effect } from "effect"
import { grantingKinds } from "../../domain/mechanism/Mechanism.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { ofTenant } from "../records/Tenancy.ts"
import * as Time from "../coordination/Time.ts"

/** The maximum of events that one page reads. */
export const revokedPageMax = 1_000

/**
 * How far before a page's reading its `until` is. An event is dated before it is written, by the clock of its node. It
 * is written within `appendTimeoutMillis` (5 s); the rest is for clocks that differ.
 */
export const revokedOverlapMillis = 15_000

/** A grant that ended before its time. */
export interface RevokedGrant {
  readonly mechanismId: string
  /** The sequence of the event that made it. */
  readonly grantSequence: number
  readonly grantedAt: Millis
  readonly status: "LEFT" | "DENIED" | "COMPLETED" | "EXPIRED"
  readonly endedAt: Millis
  /** When its token expires; absent: never. */
  readonly expiresAt?: Millis
}

/** The event after which a page begins. */
export interface PagePosition {
  /** The `until` of the first page. */
  readonly until: Millis
  readonly mechanismId: string
  readonly at: Millis
  readonly sequence: number
}

export interface RevokedPage {
  /** Leaves out grants that have expired by now. A page may be empty although more follow. */
  readonly data: ReadonlyArray<RevokedGrant>
  /** All that ended before this instant are in this list; the next one begins here. */
  readonly until: Millis
  /** The end of this page; undefined if it is the last. */
  readonly next: PagePosition | undefined
}

export class RevokedGrants extends Context.Service<
  RevokedGrants,
  {
    /**
     * Returns a page of the tenant's grants that ended at or after `since`, or of those in some mechanisms alone. Reads at
     * most `revokedPageMax` events.
     */
    page(
      tenant: Tenant,
      since: Millis,
      after: PagePosition | undefined,
      mechanismIds?: ReadonlyArray<string>
    ): Effect.Effect<RevokedPage, Unavailable>
  }
>()("usher/store/mechanism/RevokedGrants") {
  static readonly layer = onDatabase(RevokedGrants, (sql) => {
    const page = Effect.fn("RevokedGrants.page")(function* (
      tenant: Tenant,
      since: Millis,
      after: PagePosition | undefined,
      mechanismIds?: ReadonlyArray<string>
    ) {
      const now = yield* Time.now
      const { mechanismId, at, sequence } = after ?? first
      const rows = yield* sql<Row>`
        with sources as materialized (
          select m.id from mechanisms m
          where ${ofTenant(sql, tenant, "m")} and m.kind = any(${grantingKinds}::text[])
            and m.id >= ${mechanismId}
            and ${mechanismIds === undefined ? sql`true` : sql`m.id = any(${mechanismIds}::uuid[])`}
            and (m.teardown_status is distinct from 'completed' or m.updated_at >= ${new Date(since)})
          order by m.id
        )
        select m.id, ended.*, coalesce((
          select made.at from journal made
          where made.mechanism_id = m.id and made.sequence = (ended.ended ->> 'sequence')::bigint
        ), ended.at) as granted_at
        from sources m
        cross join lateral (
          select j.sequence, j.at, j.type, j.data -> 'grant' as ended from journal j
          where j.mechanism_id = m.id and j.type in ('Left', 'Denied', 'Completed', 'Expired')
            and (j.data -> 'grant') is not null
            and j.at >= ${new Date(since)}
            and (m.id > ${mechanismId} or (j.at, j.sequence) > (${new Date(at)}, ${sequence}))
          order by j.at, j.sequence limit ${revokedPageMax}
        ) ended
        order by m.id, ended.at, ended.sequence limit ${revokedPageMax}`
      const until = after?.until ?? Math.max(0, now - revokedOverlapMillis)
      const last = rows.length === revokedPageMax ? rows.at(-1) : undefined
      return {
        data: rows.map(toRevoked).filter(({ expiresAt = Infinity }) => expiresAt > now),
        until,
        next: last && {
          until,
          mechanismId: last.id,
          at: last.at.getTime(),
          sequence: Number(last.sequence)
        }
      }
    }, orUnavailable)

    return { page }
  })
}

/** Before the first event. */
const first = { mechanismId: "00000000-0000-0000-0000-000000000000", at: 0, sequence: 0 }

interface Row {
  readonly id: string
  readonly sequence: bigint
  readonly at: Date
  readonly type: keyof typeof statuses
  readonly granted_at: Date
  readonly ended: { readonly sequence: number; readonly expiresAt?: Millis }
}

const statuses = { Left: "LEFT", Denied: "DENIED", Completed: "COMPLETED", Expired: "EXPIRED" } as const

const toRevoked = ({ id, at, type, granted_at, ended: { sequence, expiresAt } }: Row): RevokedGrant => ({
  mechanismId: id,
  grantSequence: sequence,
  grantedAt: granted_at.getTime(),
  status: statuses[type],
  endedAt: at.getTime(),
  ...(expiresAt !== undefined && { expiresAt })
})
