/**
 * Reports the load of this process to the database. A cluster node also shows itself and the other nodes at `/ready`,
 * for operators.
 */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Engine } from "../engine/Engine.ts"
import { Readiness } from "../engine/lifecycle/Readiness.ts"
import { Settings } from "../settings/Settings.ts"
import { Heartbeat } from "../store/coordination/Heartbeat.ts"
import * as Nodes from "../store/coordination/Nodes.ts"
import { start } from "./WorkerLoop.ts"
import * as Time from "../store/coordination/Time.ts"

const reportIntervalMillis = 2_000

/** Starts the reporting fiber. Outside a cluster nothing is added to `/ready`. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { cluster, nodeName } = yield* Settings
    const engine = yield* Engine
    const readiness = yield* Readiness
    const sql = yield* SqlClient.SqlClient
    const { id } = yield* Heartbeat

    yield* start({
      round: Effect.flatMap(engine.size, (size) => Nodes.report(id, size)),
      pauseMillis: reportIntervalMillis,
      failureMessage: "The number of mechanisms could not be reported"
    })
    if (!cluster) return
    yield* readiness.show(
      "node",
      Effect.gen(function* () {
        const now = yield* Time.serverNow
        const overdue = yield* engine.overdue(now)
        const nodes = yield* Effect.provideService(Nodes.alive, SqlClient.SqlClient, sql)
        return {
          name: nodeName,
          mechanisms: yield* engine.size,
          parkedMechanisms: (yield* engine.parked).length,
          oldestOverdueWakeUpMillis: overdue === undefined ? 0 : now - overdue,
          nodes: nodes.map(({ name, address, shards, mechanisms }) => ({ name, address, shards, mechanisms }))
        }
      })
    )
  })
)
