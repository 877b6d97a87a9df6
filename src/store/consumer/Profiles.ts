/**
 * The profile of a consumer, with its recorded active places in mechanisms of every kind.
 */
import { Context, Effect } from "effect"
import type { Kind } from "../../domain/mechanism/Mechanism.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { currentPlaces, atWork } from "../journal/CurrentPlaces.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { ofSameTenant, unarchivedOf } from "../records/Tenancy.ts"
import { endStatuses, type OwnFields, type PlaceStatus } from "../../domain/mechanism/PlaceFields.ts"

/** The maximum of places in a profile. The latest entries are shown. */
const shownPlacesMax = 100

/** A mechanism in which a consumer waits, takes part or holds something. */
export interface ActivePlace {
  readonly distributionId: string
  readonly type: Kind
  readonly experienceId: string
  readonly sequenceId: string
  readonly name: string
  readonly status: PlaceStatus
  readonly enteredAt: Millis
  readonly updatedAt: Millis
  /** The fields of the status, as the API shows them. */
  readonly fields: OwnFields
}

export interface Profile {
  readonly id: string
  readonly type: "guest" | "authenticated"
  readonly email: string | null
  readonly phone: string | null
  readonly name: string | null
  readonly fullName: string | null
  readonly createdAt: Millis
  readonly places: ReadonlyArray<ActivePlace>
}

export class Profiles extends Context.Service<
  Profiles,
  {
    find(tenant: Tenant, consumerId: string): Effect.Effect<Profile, RecordNotFound | Unavailable>
  }
>()("usher/store/consumer/Profiles") {
  static readonly layer = onDatabase(Profiles, (sql) => {
    const find = Effect.fn("Profiles.find")(function* (tenant: Tenant, consumerId: string) {
      yield* currentPlaces(sql, atWork(sql, tenant))
      // Places are looked up by key in each unfinished mechanism. An index by consumer would slow down every entry.
      const rows = yield* sql<Row>`
        select c.*, (
          select json_agg(p) from (
            select m.id as "distributionId", m.kind as type, m.experience_id as "experienceId",
              m.sequence_id as "sequenceId", m.configuration ->> 'name' as name, p.status,
              (extract(epoch from p.entered_at) * 1000)::bigint as "enteredAt",
              (extract(epoch from p.updated_at) * 1000)::bigint as "updatedAt",
              coalesce(p.fields, '{}') as fields
            from mechanisms m join places p on p.mechanism_id = m.id and p.consumer_id = c.id
            where ${ofSameTenant(sql, "m", "c")} and not m.archived
              and m.teardown_status is distinct from 'completed' and p.status <> all(${endStatuses}::text[])
            order by p.entered_at desc, m.id limit ${shownPlacesMax}
          ) p
        ) as places
        from consumers c
        where c.id = ${consumerId} and ${unarchivedOf(sql, tenant, "c")}`
      return rows[0] === undefined ? yield* new RecordNotFound({ record: "Consumer" }) : toProfile(rows[0])
    }, orUnavailable)

    return { find }
  })
}

interface Row {
  readonly id: string
  readonly type: "guest" | "authenticated"
  readonly email: string | null
  readonly phone: string | null
  readonly name: string | null
  readonly full_name: string | null
  readonly created_at: Date
  readonly places: ReadonlyArray<ActivePlace> | null
}

const toProfile = (row: Row): Profile => ({
  id: row.id,
  type: row.type,
  email: row.email,
  phone: row.phone,
  name: row.name,
  fullName: row.full_name,
  createdAt: row.created_at.getTime(),
  places: row.places ?? []
})
