/**
 * What stands before every entry: a mechanism is for whom its sequence is for (completions 1), and for nobody beyond the
 * sequence's limit of orders (completions 4).
 */
import { Effect } from "effect"
import { Protection } from "../../../auth/sessions/Protection.ts"
import type { MechanismRef } from "../../../domain/mechanism/Mechanism.ts"
import type { Kind } from "../../../domain/mechanism/Decider.ts"
import { NotInvited, OrderLimitReached } from "../../../domain/mechanism/Refusals.ts"
import { Engine } from "../../../engine/Engine.ts"

export const make = Effect.gen(function* () {
  const engine = yield* Engine
  const protection = yield* Protection

  /** Runs the entry if the mechanism's sequence is for the consumer. Where it is for everybody this costs no SQL. */
  return <A, E, R>(mechanism: MechanismRef<Kind>, consumerId: string, entry: Effect.Effect<A, E, R>) =>
    Effect.flatMap(engine.identity(mechanism), (identity) =>
      Effect.flatMap(
        protection.admission(identity, consumerId),
        (admission): Effect.Effect<A, E | NotInvited | OrderLimitReached, R> => {
          switch (admission) {
            case "admitted":
            case "admitted for now":
              return entry
            case "not invited":
              return Effect.fail(new NotInvited())
            case "order limit reached":
              return Effect.fail(new OrderLimitReached())
          }
        }
      )
    )
})
