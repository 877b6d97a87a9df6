/** The record of a gate as gates in the field see it. */
import { Effect } from "effect"
import type { GateRecord } from "../../api/consumer/GateApi.ts"
import { type Gate, queueIdsOf } from "../../domain/gate/Gate.ts"
import { sha256 } from "../../domain/values/Digest.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { Engine, type EngineError } from "../../engine/Engine.ts"
import * as PublicUrl from "../server/PublicUrl.ts"

/** Queues that are asked at the same time. */
const queuesAtOnce = 8

const settingsOf = ({ hosts, rules, failMode, cookie, returnPath }: Gate) => ({
  hosts,
  rules,
  failMode,
  cookie,
  returnPath
})

/** Another one as soon as a setting has changed that gates in the field read. */
export const versionOf = (gate: Gate): string => sha256(JSON.stringify(settingsOf(gate))).slice(0, 22)

/** Makes the function that returns the record of a gate. */
export const make = Effect.gen(function* () {
  const engine = yield* Engine
  const { keysUrl, roomUrl } = yield* PublicUrl.make

  const queueOf = (tenant: Tenant, id: string) => {
    const queue = { kind: "queue", id, tenant } as const
    return Effect.all([engine.definition(queue), engine.facts(queue)]).pipe(
      Effect.map(([{ identity, configuration }, { isEngaged: engaged }]) => {
        const { experienceId } = identity
        const { admissionRenewal = null } = configuration
        return [[id, { experienceId, engaged, roomUrl: roomUrl(experienceId), admissionRenewal }] as const]
      }),
      Effect.catchTag(["MechanismNotFound", "Parked"], () => Effect.succeed([]))
    )
  }

  return Effect.fnUntraced(function* (tenant: Tenant, gate: Gate): Effect.fn.Return<GateRecord, EngineError> {
    const { id, organizationId, rules } = gate
    const queues = yield* Effect.forEach(queueIdsOf(rules), (queueId) => queueOf(tenant, queueId), {
      concurrency: queuesAtOnce
    })
    return {
      id,
      organizationId,
      mode: tenant.mode,
      version: versionOf(gate),
      ...settingsOf(gate),
      keysUrl,
      queues: Object.fromEntries(queues.flat())
    }
  })
})
