/** Sends admin commands to mechanisms that the store has listed, as part of a change to their parent record. */
import { Effect } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { AdminCommand, Kind, RefusalOf } from "../../domain/mechanism/Mechanism.ts"
import type { MechanismName } from "../../store/mechanism/Mechanisms.ts"
import { Engine, type EngineError } from "../Engine.ts"

/** A command that no mechanism refuses. */
type Accepted = Extract<AdminCommand<Kind>, { readonly _tag: "Archive" | "SetExperienceWindow" }>

/** Runs a command. Succeeds without effect if the mechanism has been archived meanwhile. */
export const sendAdminTo = Effect.fnUntraced(function* (
  tenant: Tenant,
  { id, kind }: MechanismName,
  command: Accepted
): Effect.fn.Return<void, Exclude<EngineError, { readonly _tag: "MechanismNotFound" }>, Engine> {
  const engine = yield* Engine
  yield* unlessGone(engine.sendAdmin({ kind, id, tenant }, command))
})

/** Succeeds if the mechanism has been archived meanwhile. A refusal is a defect: no mechanism refuses the command. */
export const unlessGone = <A, R>(
  sent: Effect.Effect<A, RefusalOf<Kind> | EngineError, R>
): Effect.Effect<A | void, Exclude<EngineError, { readonly _tag: "MechanismNotFound" }>, R> =>
  Effect.catch(sent, (error) => {
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
