/**
 * Finds the tenant of an experience by its id alone, for pages that visitors open without a key. Only this lookup has
 * no condition on the tenant; the page's data is read as that tenant.
 */
import { Cache, Context, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import * as Time from "../coordination/Time.ts"

/** The experience of a page, and the name of its organization. */
export interface Room {
  readonly experienceId: string
  readonly tenant: Tenant
  readonly organizationName: string
  /** True if consumers with an address get a message at their turn. */
  readonly sendsTurns?: boolean
  /** The hosts of gates that lead visitors to this room. */
  readonly gateHosts?: ReadonlyArray<string>
}

/** Rooms that are cached. The least recently used is evicted first. */
const cachedMax = 10_000

/** How long a page shows a former name of its organization, or an experience that was archived. */
const cachedSeconds = 5

export class Rooms extends Context.Service<
  Rooms,
  {
    /** Returns the room of an experience; undefined if there is none, or it is archived. */
    find(experienceId: string): Effect.Effect<Room | undefined, Unavailable>
  }
>()("usher/store/organization/Rooms") {
  static readonly layer = Layer.effect(Rooms)(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = Effect.fnUntraced(function* (experienceId: string) {
        const rows = yield* sql<Row>`
          select e.organization_id, e.mode, o.name,
            coalesce(o.settings ->> 'grantMessages' in ('email', 'email_or_sms'), false) as sends_turns,
            array(
              select distinct jsonb_array_elements_text(g.record -> 'hosts') from gates g
              where not g.archived and g.queue_ids && array(select m.id::text from mechanisms m where m.experience_id = e.id)
            ) as gate_hosts
          from experiences e join organizations o on o.id = e.organization_id
          where e.id = ${experienceId} and not e.archived`
        const row = rows[0]
        if (row === undefined) return undefined
        const { organization_id: organizationId, mode, name, sends_turns: sendsTurns, gate_hosts: gateHosts } = row
        return { experienceId, tenant: { organizationId, mode }, organizationName: name, sendsTurns, gateHosts }
      }, orUnavailable)

      // Concurrent visitors share one query.
      const cached = yield* Cache.makeWith(read, {
        capacity: cachedMax,
        timeToLive: (exit) => (Exit.isSuccess(exit) ? `${cachedSeconds} seconds` : 0)
      })
      return { find: (experienceId) => Time.inServerTime(Cache.get(cached, experienceId)) }
    })
  )
}

interface Row {
  readonly organization_id: string
  readonly mode: Mode
  readonly name: string
  readonly sends_turns: boolean
  readonly gate_hosts: ReadonlyArray<string>
}
