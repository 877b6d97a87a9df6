/**
 * Commands to mechanisms that the store has named, as parts of a change of what they belong to.
 */
import { Effect } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import { type AdminCommand, isLiveKind, type LiveKind } from "../../domain/mechanism/Mechanism.ts"
import type { MechanismName } from "../../store/mechanism/Mechanisms.ts"
import { Engine, type EngineError } from "../Engine.ts"

/** A command that no mechanism refuses. */
type Accepted = Extract<AdminCommand<LiveKind>, { readonly _tag: "Archive" | "SetExperienceWindow" }>

/** Runs a command; a mechanism that is archived meanwhile is passed over. */
export const administerNamed = Effect.fnUntraced(function* (
  tenant: Tenant,
  { id, kind }: MechanismName,
  command: Accepted
): Effect.fn.Return<void, Exclude<EngineError, { readonly _tag: "MechanismNotFound" }>, Engine> {
  if (!isLiveKind(kind)) return yield* Effect.die(new Error(`no rules for a ${kind}`))
  const engine = yield* Engine
  yield* engine.administer({ kind, id, tenant }, command).pipe(
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
