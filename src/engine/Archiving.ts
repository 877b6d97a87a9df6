/**
 * Archiving what has mechanisms below it. The mechanisms end first, each in its own actor; the record goes last, in a
 * transaction that finds none left. Cut off in the middle, the record is still there, and archiving it again goes on.
 */
import { Effect } from "effect"
import type { Tenant } from "../domain/Ids.ts"
import { isLiveKind } from "../domain/Mechanism.ts"
import type { Archival } from "../store/Experiences.ts"
import { Unavailable } from "../store/Journal.ts"
import type { MechanismName } from "../store/Mechanisms.ts"
import { Engine, type EngineError } from "./Engine.ts"

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
    yield* Effect.forEach(outcome.mechanisms, (mechanism) => archiveMechanism(tenant, by, mechanism), {
      concurrency,
      discard: true
    })
  }
  return yield* new Unavailable({ cause: "mechanisms are created faster than they are archived" })
})

/** Archives one mechanism; one that is archived already stays so. */
export const archiveMechanism = Effect.fnUntraced(function* (
  tenant: Tenant,
  by: string,
  { id, kind }: MechanismName
): Effect.fn.Return<void, Exclude<EngineError, { readonly _tag: "MechanismNotFound" }>, Engine> {
  if (!isLiveKind(kind)) return yield* Effect.die(new Error(`no rules for a ${kind}`))
  const engine = yield* Engine
  yield* engine.administer({ kind, id, tenant }, { _tag: "Archive", by }).pipe(
    Effect.catch((error) => {
      switch (error._tag) {
        case "MechanismNotFound":
          return Effect.void
        case "Unavailable":
        case "Overloaded":
        case "Parked":
          return Effect.fail(error)
        default:
          return Effect.die(error)
      }
    })
  )
})
