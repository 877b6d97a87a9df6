/**
 * What the database knows around waitlists: when the sequences they belong to open, and where their members can be
 * reached (completions 3, "Waitlist").
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { heldOpenAt } from "./Mechanisms.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"

/** A sequence, for its tenant. */
export interface SequenceRef extends Tenant {
  readonly sequenceId: string
}

/** A waitlist, and when its sequence opens. */
export interface Opening extends SequenceRef {
  readonly waitlistId: string
  /** The earliest opening of the sequence's other mechanisms; undefined if none of them is going to open, or open. */
  readonly opensAt: Millis | undefined
}

/** A waitlist's member, and where it can be reached. */
export interface Recipient {
  readonly consumerId: string
  readonly email: string | null
  readonly phone: string | null
  /** The name of what it waits for. */
  readonly experience: string
}

export class Waitlists extends Context.Service<
  Waitlists,
  {
    /** The waitlists whose work is not over, of one sequence or of all. */
    openings(sequence?: SequenceRef): Effect.Effect<ReadonlyArray<Opening>, Unavailable>
    /** Those of the consumers that the waitlist's tenant has. */
    recipients(
      tenant: Tenant,
      waitlistId: string,
      consumerIds: ReadonlyArray<string>
    ): Effect.Effect<ReadonlyArray<Recipient>, Unavailable>
  }
>()("usher/store/mechanism/Waitlists") {
  static readonly layer = Layer.effect(
    Waitlists,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      // A mechanism without `openAt` opens with its creation, and none before its experience. One that has closed or was
      // ended does not open any more.
      const openings = Effect.fn("Waitlists.openings")(function* (sequence?: SequenceRef) {
        const within =
          sequence === undefined
            ? sql`true`
            : sql`w.organization_id = ${sequence.organizationId} and w.mode = ${sequence.mode}
                and w.sequence_id = ${sequence.sequenceId}`
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
        { organizationId, mode }: Tenant,
        waitlistId: string,
        consumerIds: ReadonlyArray<string>
      ) {
        return yield* sql<Recipient>`
          select c.id as "consumerId", c.email, c.phone, e.name as experience
          from mechanisms w
          join experiences e on e.id = w.experience_id
          join consumers c on c.organization_id = w.organization_id and c.mode = w.mode
          where w.id = ${waitlistId} and w.organization_id = ${organizationId} and w.mode = ${mode}
            and c.id = any(${consumerIds}::uuid[]) and not c.archived`
      }, orUnavailable)

      return { openings, recipients }
    })
  )
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
