/**
 * Denies many places of a mechanism. Each denial goes through the engine, like a denial by a shop's server, so each
 * place has an event of its own with its author. A repeated request denies the remaining places.
 */
import { Effect } from "effect"
import type { AdminReason } from "../../../domain/mechanism/Denial.ts"
import { deniableKinds, type DeniableKind, type Kind, type MechanismRef } from "../../../domain/mechanism/Mechanism.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { Engine } from "../../../engine/Engine.ts"
import { Places } from "../../../store/mechanism/Places.ts"
import type { StoredMechanism } from "../../../store/mechanism/Mechanisms.ts"
import { NotFound } from "../../../api/Errors.ts"
import { orAnswer } from "../../errors/Refusals.ts"
import { denialsMax, type BulkDenial } from "../../../api/admin/SteeringApi.ts"
import * as Notes from "./Notes.ts"

/** Denials of one request that are in the engine at the same time. It records them together. */
const denialsAtOnce = 100

const isDeniable = (kind: Kind): kind is DeniableKind => (deniableKinds as ReadonlyArray<Kind>).includes(kind)

type Outcome = "denied" | "unchanged" | "refused"

export const make = Effect.gen(function* () {
  const engine = yield* Engine
  const places = yield* Places
  const keep = yield* Notes.make

  const deny = (mechanism: MechanismRef<DeniableKind>, consumerId: string, reason: AdminReason, by: string) =>
    Effect.flatMap(engine.view(mechanism, consumerId), ({ status }) =>
      status === "DENIED"
        ? Effect.succeed<Outcome>("unchanged")
        : engine.send(mechanism, { _tag: "Deny", consumerId, reason, by }).pipe(
            Effect.as<Outcome>("denied"),
            // The consumer has no place here, or its place has ended.
            Effect.catchTag("WrongStatus", () => Effect.succeed<Outcome>("refused"))
          )
    )

  /** Returns the consumers to deny, and whether there are more of them. */
  const named = Effect.fnUntraced(function* (tenant: Tenant, id: string, { consumerIds, minRiskScore }: BulkDenial) {
    if (typeof minRiskScore !== "number") return { consumerIds: [...new Set(consumerIds)], more: false }
    const found = yield* places.atRisk(tenant, id, minRiskScore, denialsMax + 1)
    return { consumerIds: found.slice(0, denialsMax), more: found.length > denialsMax }
  })

  return Effect.fnUntraced(function* ({ identity }: StoredMechanism, payload: BulkDenial, by: string) {
    const { kind, id, organizationId, mode } = identity
    if (!isDeniable(kind)) return yield* new NotFound({ error: "Not found" })
    const tenant = { organizationId, mode }
    const { consumerIds, more } = yield* named(tenant, id, payload)
    const outcomes = yield* orAnswer(kind)(
      Effect.forEach(consumerIds, (consumerId) => deny({ kind, id, tenant }, consumerId, payload.reason, by), {
        concurrency: denialsAtOnce
      })
    )
    const count = (outcome: Outcome): number => outcomes.filter((one) => one === outcome).length
    yield* keep(tenant, by, { ...payload, distributionId: id, action: "deny", consumers: count("denied") })
    return { denied: count("denied"), unchanged: count("unchanged"), refused: count("refused"), more }
  })
})
