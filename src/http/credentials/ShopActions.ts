/**
 * Actions of a shop's server on the place of a consumer that it names. The consumer must be one of the tenant's: an
 * unknown, archived or foreign one is a 404. A cached consumer costs no SQL.
 */
import { Effect } from "effect"
import { Consumers } from "../../auth/sessions/Consumers.ts"
import type { Kind, MechanismRef } from "../../domain/mechanism/Mechanism.ts"
import { UnknownConsumer } from "../../domain/mechanism/Refusals.ts"
import { Engine, type EngineError } from "../../engine/Engine.ts"
import { CurrentTenant } from "../../api/Credentials.ts"
import { orAnswer, type Refusal } from "../errors/Refusals.ts"

/** A consumer's place, as a server names it. */
interface NamedPlace {
  readonly mechanismId: string
  readonly consumerId: string
}

/** Runs the shop's actions on mechanisms of a kind. */
export const make = Effect.fnUntraced(function* <K extends Kind>(kind: K) {
  const engine = yield* Engine
  const consumers = yield* Consumers

  const on =
    (reached: Pick<MechanismRef<K>, "includesArchived">) =>
    /** Runs the action; `by` names the API key. */
    <A, E extends Refusal | EngineError, R>(
      { mechanismId, consumerId }: NamedPlace,
      action: (mechanism: MechanismRef<K>, by: string) => Effect.Effect<A, E, R>
    ) =>
      Effect.flatMap(CurrentTenant, ({ tenant, by }) => {
        const mechanism = { kind, id: mechanismId, tenant, ...reached }
        const known = Effect.andThen(engine.identity(mechanism), consumers.find(tenant, consumerId))
        return orAnswer(kind)(
          Effect.flatMap(known, (consumer): Effect.Effect<A, E | UnknownConsumer, R> =>
            consumer === undefined ? Effect.fail(new UnknownConsumer()) : action(mechanism, by)
          )
        )
      })

  return {
    /** Acts on a mechanism that is not archived. */
    onPlace: on({}),
    /** Acts on grants. An archived mechanism has them until the last of them has ended. */
    onGrant: on({ includesArchived: true })
  }
})
