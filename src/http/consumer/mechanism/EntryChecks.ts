/**
 * The checks before every entry: whether the mechanism's sequence is for the consumer (completions 1), and whether the
 * sequence's limit of orders leaves the consumer any (completions 4).
 */
import { Effect } from "effect"
import { Protection } from "../../../auth/sessions/Protection.ts"
import type { Kind, MechanismIdentity } from "../../../domain/mechanism/Decider.ts"
import type { MechanismRef } from "../../../domain/mechanism/Mechanism.ts"
import { NotInvited, OrderLimitReached } from "../../../domain/mechanism/Refusals.ts"
import { Engine } from "../../../engine/Engine.ts"

export const make = Effect.gen(function* () {
  const engine = yield* Engine
  const protection = yield* Protection

  /** Runs the entry if the consumer may enter. The check costs no SQL where the sequence is for everybody. */
  return <A, E, R>(
    mechanism: MechanismRef<Kind>,
    consumerId: string,
    entry: (identity: MechanismIdentity) => Effect.Effect<A, E, R>
  ) =>
    Effect.flatMap(engine.identity(mechanism), (identity) =>
      Effect.flatMap(
        protection.admission(identity, consumerId),
        (admission): Effect.Effect<A, E | NotInvited | OrderLimitReached, R> => {
          switch (admission) {
            case "admitted":
            case "admitted for now":
              return entry(identity)
            case "not invited":
              return Effect.fail(new NotInvited())
            case "order limit reached":
              return Effect.fail(new OrderLimitReached())
          }
        }
      )
    )
})
