/**
 * Archiving what has mechanisms below it. The mechanisms end first, each in its own actor; the record goes last, in a
 * transaction that finds none left. Cut off in the middle, the record is still there, and archiving it again goes on.
 */
import { Effect } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Archival } from "../../store/experience/Experiences.ts"
import { Unavailable } from "../../store/postgres/Unavailable.ts"
import { sendAdminTo } from "./NamedMechanisms.ts"

/** Rounds before giving up on a record below which someone keeps creating mechanisms. */
const roundsMax = 10

/** Mechanisms that are archived at the same time. */
const concurrency = 8

/** Archives what `attempt` archives, after the mechanisms it finds in the way. */
export const archiveWithMechanisms = Effect.fn("archiveWithMechanisms")(function* <A, E>(
  tenant: Tenant,
  by: string,
  attempt: Effect.Effect<Archival<A>, E>
) {
  for (let round = 0; round < roundsMax; round++) {
    const outcome = yield* attempt
    if (outcome._tag === "Archived") return outcome.record
    yield* Effect.forEach(outcome.mechanisms, (mechanism) => sendAdminTo(tenant, mechanism, { _tag: "Archive", by }), {
      concurrency,
      discard: true
    })
  }
  return yield* new Unavailable({ cause: "mechanisms are created faster than they are archived" })
})
