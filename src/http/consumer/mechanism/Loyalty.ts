/** How loyal a consumer that enters is, for mechanisms that care; the others cost no look at the consumer. */
import { Effect } from "effect"
import { Consumers } from "../../../auth/sessions/Consumers.ts"
import type { MechanismRef } from "../../../domain/mechanism/Mechanism.ts"
import { Engine, type EngineError } from "../../../engine/Engine.ts"

/** 0 to 1; 0 where the mechanism has no loyalty bias. */
export type LoyaltyScore = (
  mechanism: MechanismRef<"queue" | "draw">,
  consumerId: string
) => Effect.Effect<number, EngineError>

export const make = Effect.gen(function* () {
  const engine = yield* Engine
  const consumers = yield* Consumers
  const score: LoyaltyScore = (mechanism, consumerId) =>
    Effect.flatMap(engine.configuration(mechanism), ({ loyaltyBiasEnabled }) =>
      loyaltyBiasEnabled ? consumers.loyaltyScore(mechanism.tenant, consumerId) : Effect.succeed(0)
    )
  return score
})
