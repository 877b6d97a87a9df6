/** What stands before every entry: a mechanism is for whom its sequence is for (completions 1). */
import { Effect } from "effect"
import { Protection } from "../../auth/Protection.ts"
import type { LiveKind, MechanismRef } from "../../domain/Mechanism.ts"
import { NotInvited } from "../../domain/Refusals.ts"
import { Engine } from "../../engine/Engine.ts"

export const make = Effect.gen(function* () {
  const engine = yield* Engine
  const protection = yield* Protection

  /** Runs the entry if the mechanism's sequence is for the consumer. Where it is for everybody this costs no SQL. */
  return <A, E, R>(mechanism: MechanismRef<LiveKind>, consumerId: string, entry: Effect.Effect<A, E, R>) =>
    Effect.flatMap(engine.identity(mechanism), (identity) =>
      Effect.flatMap(protection.mayEnter(identity, consumerId), (mayEnter): Effect.Effect<A, E | NotInvited, R> =>
        mayEnter ? entry : Effect.fail(new NotInvited())
      )
    )
})
