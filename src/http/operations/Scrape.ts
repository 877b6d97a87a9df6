/**
 * One reading of all series. What needs the database is read at most every few seconds, and is left out while the
 * database does not answer: then the other series say so.
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

/** Time between two readings of what needs the database. */
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
  const stored = yield* Effect.cachedWithTTL(
    Effect.all(
      [
        orNone(EngineSeries.ofWakeUps(engine)),
        orNone(Effect.provideService(StoreSeries.read, SqlClient.SqlClient, sql))
      ],
      { concurrency: 2 }
    ),
    storeInterval
  )

  return {
    all: Effect.gen(function* () {
      const mechanisms = yield* EngineSeries.ofAll(engine, measures.mechanisms)
      const report = yield* ofReadiness(yield* readiness.report)
      return toText([measures.families(), mechanisms, report, ...(yield* stored), ofProcess()].flat())
    }),
    ofOrganization: (id: string) => toText(EngineSeries.ofOrganization(measures.mechanisms, id))
  }
})
