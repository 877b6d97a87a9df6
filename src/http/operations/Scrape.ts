/**
 * One reading of all series. Series that need the database are read at most every few seconds, except for the age of the
 * backup, which is one row. They are left out while the database does not answer; other series then report that.
 */
import { Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Engine } from "../../engine/Engine.ts"
import { Readiness } from "../../engine/lifecycle/Readiness.ts"
import { type Family, toText } from "../../measures/Family.ts"
import { Measures } from "../../measures/Measures.ts"
import * as EngineSeries from "./EngineSeries.ts"
import * as ProcessSeries from "./ProcessSeries.ts"
import * as ReadinessSeries from "./ReadinessSeries.ts"
import * as StoreSeries from "./StoreSeries.ts"

/** Time between two readings of the series that need the database. */
const storeInterval = Duration.seconds(5)

/** How long the database may take. */
const storeTimeout = Duration.seconds(3)

const none: ReadonlyArray<Family> = []

/** Makes the effect that reads all series as text, and the function that reads those of an organization. */
export const make = Effect.gen(function* () {
  const measures = yield* Measures
  const engine = yield* Engine
  const sql = yield* SqlClient.SqlClient
  const readiness = yield* Readiness
  const ofReadiness = yield* ReadinessSeries.make
  const ofProcess = yield* ProcessSeries.watch

  const orNone = <E>(families: Effect.Effect<ReadonlyArray<Family>, E>) =>
    families.pipe(
      Effect.timeout(storeTimeout),
      Effect.catchCause((cause) => Effect.as(Effect.logDebug("Some series cannot be read", cause), none))
    )
  const ofStore = Effect.provideService(SqlClient.SqlClient, sql)
  const stored = yield* Effect.cachedWithTTL(
    Effect.all([orNone(EngineSeries.ofWakeUps(engine)), orNone(ofStore(StoreSeries.read))], { concurrency: 2 }),
    storeInterval
  )

  return {
    all: Effect.gen(function* () {
      const mechanisms = yield* EngineSeries.ofAll(engine, measures.mechanisms)
      const report = yield* ofReadiness(yield* readiness.report)
      const [ofDatabase, backup] = yield* Effect.all([stored, orNone(ofStore(StoreSeries.readBackup))], {
        concurrency: 2
      })
      return toText([measures.families(), mechanisms, report, ...ofDatabase, backup, ofProcess()].flat())
    }),
    ofOrganization: (id: string) => toText(EngineSeries.ofOrganization(measures.mechanisms, id))
  }
})
