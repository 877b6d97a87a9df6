/**
 * The next drop of an organization: the experience that opens next, of those that it has announced. An experience is
 * announced by a published page; without one, and behind an access code, it is nobody's business yet.
 */
import { Context, Effect } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { heldOpenAt } from "../mechanism/MechanismLifecycle.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { ofTenant, unarchivedOf } from "../records/Tenancy.ts"
import { isFor } from "./SequenceAccess.ts"
import * as Time from "../coordination/Time.ts"

/** An announced experience that opens later. */
export interface NextDrop {
  readonly id: string
  readonly name: string
  readonly openAt: Millis
}

export class NextDrops extends Context.Service<
  NextDrops,
  {
    /** Returns the announced experience that opens next, apart from this one; undefined if there is none. */
    after(tenant: Tenant, experienceId: string): Effect.Effect<NextDrop | undefined, RecordNotFound | Unavailable>
  }
>()("usher/store/experience/NextDrops") {
  static readonly layer = onDatabase(NextDrops, (sql) => ({
    after: Effect.fn("NextDrops.after")(function* (tenant: Tenant, experienceId: string) {
      const now = new Date(yield* Time.now)
      const [row] = yield* sql<Row>`
        select next.* from experiences e
        left join lateral (
          select n.id, n.name, min(${heldOpenAt(sql)}) as open_at
          from experience_pages p
          join experiences n on n.id = p.experience_id and n.id <> e.id and not n.archived
          join sequences s on s.experience_id = n.id and not s.archived and ${isFor(sql, undefined)}
          join mechanisms m on m.sequence_id = s.id and m.kind <> 'waitlist' and not m.archived
            and m.teardown_status is null and ${heldOpenAt(sql)} > ${now}
          where ${unarchivedOf(sql, tenant, "p")} and p.status = 'PUBLISHED'
            and p.creative_document ->> 'kind' = 'experience-page'
          group by n.id, n.name
          order by open_at, n.id limit 1
        ) next on true
        where e.id = ${experienceId} and not e.archived and ${ofTenant(sql, tenant, "e")}`
      if (row === undefined) return yield* new RecordNotFound({ record: "Experience" })
      const { id, name, open_at } = row
      return id === null ? undefined : { id, name: name!, openAt: open_at!.getTime() }
    }, orUnavailable)
  }))
}

interface Row {
  readonly id: string | null
  readonly name: string | null
  readonly open_at: Date | null
}
