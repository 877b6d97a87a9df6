/**
 * Archives a record that has mechanisms below it. Each mechanism is archived first, by its own actor. The record
 * follows in a transaction that finds no mechanism left. If the work is interrupted, the record remains, and
 * archiving it again continues.
 */
import { Effect } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { HasMechanisms } from "../../store/mechanism/HasMechanisms.ts"
import type { Archival } from "../../store/records/Records.ts"
import { Unavailable } from "../../store/postgres/Unavailable.ts"
import { sendAdminTo } from "./NamedMechanisms.ts"

/** Rounds before the archive fails, in case callers keep creating mechanisms below the record. */
const roundsMax = 10

/** Mechanisms that are archived at the same time. */
const concurrency = 8

/** Archives the record of `attempt` after the mechanisms below it. */
export const archiveWithMechanisms = Effect.fn("archiveWithMechanisms")(function* <A, E>(
  tenant: Tenant,
  by: string,
  attempt: Effect.Effect<Archival<A, HasMechanisms>, E>
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
