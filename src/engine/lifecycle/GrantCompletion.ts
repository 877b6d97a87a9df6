/** The completion of a grant for its order. An order follows the redemption of its grant, under any redemption id. */
import { Effect } from "effect"
import type { Complete, CompleteRefusal } from "../../domain/mechanism/Grants.ts"
import type { MechanismRef, OrderableKind } from "../../domain/mechanism/Mechanism.ts"
import type { InvalidGrant, WrongStatus } from "../../domain/mechanism/Refusals.ts"
import type { Engine, EngineError } from "../Engine.ts"

/**
 * Completes the grant, or the booking, of a consumer. Returns the sequence of the grant, also if it was completed
 * before; undefined for a booking.
 */
export const completeGrant = (
  engine: Engine["Service"],
  mechanism: MechanismRef<OrderableKind>,
  completion: Omit<Complete, "_tag">
): Effect.Effect<number | undefined, WrongStatus | InvalidGrant | EngineError> => {
  const sent = engine.send<OrderableKind>(mechanism, { _tag: "Complete", ...completion })
  return Effect.map(
    sent as Effect.Effect<Completed, CompleteRefusal | EngineError>,
    ({ completedGrant }) => completedGrant
  ).pipe(Effect.catchTag(["AlreadyCompleted", "AlreadyRedeemed"], ({ grantSequence }) => Effect.succeed(grantSequence)))
}

/** A consumer's view after its grant, or its booking, was completed. */
interface Completed {
  readonly completedGrant?: number
}
