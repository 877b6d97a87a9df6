/** The opening of the sequences of waitlists, and the addresses of their members. */
import { Context, Effect } from "effect"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { heldOpenAt } from "./MechanismLifecycle.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { ofSameTenant, ofTenant } from "../records/Tenancy.ts"

export interface SequenceRef extends Tenant {
  readonly sequenceId: string
}

/** A waitlist and the opening time of its sequence. */
export interface Opening extends SequenceRef {
  readonly waitlistId: string
  /** The earliest opening of the sequence's other mechanisms. Undefined if none of them is open or will open. */
  readonly opensAt: Millis | undefined
}

/** A member of a waitlist with its addresses. */
export interface Recipient {
  readonly consumerId: string
  readonly email: string | null
  readonly phone: string | null
  readonly experience: string
}

export class Waitlists extends Context.Service<
  Waitlists,
  {
    /** Returns the unfinished waitlists, of one sequence, of a tenant or of all. */
    openings(of?: Tenant | SequenceRef): Effect.Effect<ReadonlyArray<Opening>, Unavailable>
    /** Returns those of the consumers that belong to the waitlist's tenant. */
    recipients(
      tenant: Tenant,
      waitlistId: string,
      consumerIds: ReadonlyArray<string>
    ): Effect.Effect<ReadonlyArray<Recipient>, Unavailable>
  }
>()("usher/store/mechanism/Waitlists") {
  static readonly layer = onDatabase(Waitlists, (sql) => {
    // A mechanism without `openAt` opens at its creation, and none opens before its experience. A closed or ended one
    // does not open again.
    const openings = Effect.fn("Waitlists.openings")(function* (of?: Tenant | SequenceRef) {
      const ofSequence = of !== undefined && "sequenceId" in of ? sql`and w.sequence_id = ${of.sequenceId}` : sql``
      const within = of === undefined ? sql`true` : sql`${ofTenant(sql, of, "w")} ${ofSequence}`
      const rows = yield* sql<OpeningRow>`
        select w.id, w.organization_id, w.mode, w.sequence_id,
          min(coalesce(${heldOpenAt(sql)}, m.created_at)) as opens_at
        from mechanisms w
        left join mechanisms m on m.experience_id = w.experience_id and m.sequence_id = w.sequence_id
          and m.kind <> 'waitlist' and not m.archived and m.teardown_status is null
        where w.kind = 'waitlist' and not w.archived and w.teardown_status is distinct from 'completed' and ${within}
        group by w.id`
      return rows.map(toOpening)
    }, orUnavailable)

    const recipients = Effect.fn("Waitlists.recipients")(function* (
      tenant: Tenant,
      waitlistId: string,
      consumerIds: ReadonlyArray<string>
    ) {
      return yield* sql<Recipient>`
        select c.id as "consumerId", c.email, c.phone, e.name as experience
        from mechanisms w
        join experiences e on e.id = w.experience_id
        join consumers c on ${ofSameTenant(sql, "c", "w")}
        where w.id = ${waitlistId} and ${ofTenant(sql, tenant, "w")}
          and c.id = any(${consumerIds}::uuid[]) and not c.archived`
    }, orUnavailable)

    return { openings, recipients }
  })
}

interface OpeningRow {
  readonly id: string
  readonly organization_id: string
  readonly mode: Mode
  readonly sequence_id: string
  readonly opens_at: Date | null
}

const toOpening = (row: OpeningRow): Opening => ({
  waitlistId: row.id,
  organizationId: row.organization_id,
  mode: row.mode,
  sequenceId: row.sequence_id,
  opensAt: row.opens_at?.getTime()
})
