/**
 * Lets a parked mechanism start again. It cannot record the action in its own journal, so the audit log keeps the
 * author and the reason, in the transaction of the request to all processes.
 */
import { Effect } from "effect"
import type { Kind, MechanismRef } from "../../../domain/mechanism/Mechanism.ts"
import { Engine } from "../../../engine/Engine.ts"
import type { StoredMechanism } from "../../../store/mechanism/Mechanisms.ts"
import { ParkedMechanisms } from "../../../store/mechanism/ParkedMechanisms.ts"
import { TenantEvents } from "../../../store/organization/TenantEvents.ts"
import { orAnswer } from "../../errors/Refusals.ts"
import type { Why } from "../../../api/admin/SteeringApi.ts"

/**
 * Makes the function that unparks the mechanism that `find` returns, and returns it as it is then. A mechanism that is
 * not parked stays as it is.
 */
export const make = Effect.gen(function* () {
  const engine = yield* Engine
  const parkedMechanisms = yield* ParkedMechanisms
  const events = yield* TenantEvents

  const isParked = (mechanism: MechanismRef<Kind>) =>
    engine.inspect(mechanism).pipe(
      Effect.as(false),
      Effect.catchTag("Parked", () => Effect.succeed(true)),
      orAnswer(mechanism.kind)
    )

  return Effect.fnUntraced(function* <E, R>(find: Effect.Effect<StoredMechanism, E, R>, by: string, why: Why | null) {
    // The engine does not know the tenant of a parked mechanism, so its record is found first.
    const {
      identity: { id, kind, organizationId, mode }
    } = yield* find
    const tenant = { organizationId, mode }
    const record = (yield* isParked({ kind, id, tenant })) ? events.note(tenant, by, id, actionOf(why)) : Effect.void
    yield* parkedMechanisms.unpark(id, record)
    // The other processes follow the notification. This call returns when the owner has tried to start it.
    yield* engine.unpark(id)
    return yield* find
  })
})

const actionOf = (why: Why | null) => ({
  action: "unpark" as const,
  ...(typeof why?.reason === "string" && { reason: why.reason }),
  ...(typeof why?.note === "string" && { note: why.note })
})
