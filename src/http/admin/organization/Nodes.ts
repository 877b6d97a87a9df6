/** The handler of nodes on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Engine } from "../../../engine/Engine.ts"
import { Operations } from "../../../store/mechanism/Operations.ts"
import { CurrentTenant } from "../../../api/Credentials.ts"
import { orServiceUnavailable } from "../../errors/Refusals.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import * as Time from "../../../store/coordination/Time.ts"

export const NodeHandlers = HttpApiBuilder.group(AdminApi, "nodes", (handlers) =>
  Effect.gen(function* () {
    const engine = yield* Engine
    const operations = yield* Operations

    return handlers.handleAll({
      listNodes: Effect.fnUntraced(function* () {
        const { tenant } = yield* CurrentTenant
        const now = yield* Time.now
        const parked = yield* operations.parked(tenant)
        const overdue = yield* operations.overdue(tenant, now)
        return {
          data: yield* engine.nodes(yield* operations.unfinished(tenant)),
          parkedMechanisms: parked.map(({ mechanismId, kind, ...rest }) => ({
            distributionId: mechanismId,
            type: kind,
            ...rest
          })),
          oldestOverdueWakeUpAt: overdue ?? null
        }
      }, orServiceUnavailable)
    })
  })
)
