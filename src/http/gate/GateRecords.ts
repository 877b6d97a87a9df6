/** The record of a gate as gates in the field see it. */
import { Effect } from "effect"
import type { GateRecord } from "../../api/consumer/GateApi.ts"
import { type Gate, queueIdsOf } from "../../domain/gate/Gate.ts"
import { sha256 } from "../../domain/values/Digest.ts"
import type { StatusFields } from "../../domain/mechanism/Decider.ts"
import type { MechanismIdentity } from "../../domain/mechanism/Mechanism.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { Engine, type EngineError } from "../../engine/Engine.ts"
import { Mechanisms } from "../../store/mechanism/Mechanisms.ts"
import * as PublicUrl from "../server/PublicUrl.ts"

type GateQueue = GateRecord["queues"][string]

/** Queues that are asked at the same time. */
const queuesAtOnce = 8

/** Makes the function that returns the record of a gate. */
export const make = Effect.gen(function* () {
  const engine = yield* Engine
  const mechanisms = yield* Mechanisms
  const { keysUrl, roomUrl } = yield* PublicUrl.make

  const shown = ({ id, experienceId }: MechanismIdentity, seen: Omit<GateQueue, "experienceId" | "roomUrl">) => [
    [id, { experienceId, roomUrl: roomUrl(experienceId), ...seen }] as const
  ]

  /** A queue that no actor serves, if it has ended: archived ones are put away once their last grant is over. */
  const endedOf = (tenant: Tenant, id: string) =>
    Effect.map(mechanisms.find(tenant, id), (stored) =>
      stored?.identity.kind === "queue" && hasEnded(stored.status)
        ? shown(stored.identity, { state: "ended", engaged: true, admissionRenewal: null })
        : []
    )

  const queueOf = (tenant: Tenant, id: string) => {
    const queue = { kind: "queue", id, tenant, includesArchived: true } as const
    return Effect.all([engine.inspect(queue), engine.facts(queue)]).pipe(
      Effect.map(([{ identity, configuration, lifecycle }, { isEngaged: engaged }]) => {
        const { admissionRenewal = null } = configuration
        const state = lifecycle === "scheduled" || lifecycle === "open" ? lifecycle : "ended"
        return shown(identity, { state, engaged, admissionRenewal })
      }),
      Effect.catchTag(["MechanismNotFound", "Parked"], () => endedOf(tenant, id))
    )
  }

  return Effect.fnUntraced(function* (tenant: Tenant, gate: Gate): Effect.fn.Return<GateRecord, EngineError> {
    const { id, organizationId, hosts, rules, failMode, cookie, returnPath } = gate
    const settings = { hosts, rules, failMode, cookie, returnPath }
    const queues = yield* Effect.forEach(queueIdsOf(rules), (queueId) => queueOf(tenant, queueId), {
      concurrency: queuesAtOnce
    })
    return {
      id,
      organizationId,
      mode: tenant.mode,
      version: sha256(JSON.stringify(settings)).slice(0, 22),
      ...settings,
      keysUrl,
      queues: Object.fromEntries(queues.flat())
    }
  })
})

const hasEnded = ({ archived, statusOverride, teardownStatus }: StatusFields): boolean =>
  archived || statusOverride !== null || teardownStatus !== null
