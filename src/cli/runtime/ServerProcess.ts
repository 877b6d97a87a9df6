/**
 * Runs `usher serve`: both APIs, the engine and the database, until the process is asked to stop.
 *
 * The layers start from the database upwards and stop in the reverse order, which makes the shutdown graceful. The
 * listeners refuse new connections and finish requests in flight, the actors write what they hold, the database
 * connections close, and the embedded server stops.
 */
import { Effect, Layer } from "effect"
import { createHmac } from "node:crypto"
import * as Auth from "../../auth/Auth.ts"
import { Beacon } from "../../beacon/Beacon.ts"
import { Delivery } from "../../delivery/Delivery.ts"
import { actorDeciders } from "../../domain/mechanism/Mechanism.ts"
import { Engine } from "../../engine/Engine.ts"
import * as TracedEngine from "../../engine/TracedEngine.ts"
import * as AdminRoutes from "../../http/admin/Routes.ts"
import * as ConsumerRoutes from "../../http/consumer/Routes.ts"
import { Readiness } from "../../engine/lifecycle/Readiness.ts"
import * as Operations from "../../http/operations/Operations.ts"
import * as PageRoutes from "../../pages/Routes.ts"
import * as Server from "../../http/server/Server.ts"
import * as Measures from "../../measures/Measures.ts"
import { Settings, StartRefused } from "../../settings/Settings.ts"
import { Heartbeat } from "../../store/coordination/Heartbeat.ts"
import * as JournalCodec from "../../store/journal/JournalCodec.ts"
import * as JournalSql from "../../store/journal/JournalSql.ts"
import { CurrentRelease } from "../../store/coordination/CurrentRelease.ts"
import * as InstallationState from "../../store/coordination/Installation.ts"
import { Installation } from "../../store/coordination/Installation.ts"
import * as FormatVersion from "../../store/coordination/FormatVersion.ts"
import { serverSecret } from "../../store/coordination/ServerSecrets.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import * as TestClocks from "../../store/testClock/TestClocks.ts"
import { isTransient } from "../../store/postgres/BoundedClient.ts"
import * as Supervision from "./Supervision.ts"
import * as Environment from "./Environment.ts"
import { notListening } from "./ListenFailure.ts"
import * as TraceExport from "./TraceExport.ts"
import * as GrantMessages from "../../workers/GrantMessages.ts"
import * as NodeReport from "../../workers/NodeReport.ts"
import * as ParkedMechanisms from "../../workers/ParkedMechanisms.ts"
import * as PeriodicJobs from "../../workers/PeriodicJobs.ts"
import { stopRequested } from "./Signals.ts"
import * as ReceivedEvents from "../../workers/ReceivedEvents.ts"
import * as Alerts from "../../workers/Alerts.ts"
import * as DrawBeacons from "../../workers/DrawBeacons.ts"
import * as RehearsalThread from "../../load/rehearsal/RehearsalThread.ts"
import * as Rehearsals from "../../workers/Rehearsals.ts"
import { StockMessages } from "../../store/stock/StockMessages.ts"
import { Stocks } from "../../store/stock/Stocks.ts"
import * as StockRecords from "../../workers/StockRecords.ts"
import * as StockTransfers from "../../workers/StockTransfers.ts"
import * as TestClockAdvances from "../../workers/TestClockAdvances.ts"
import * as WaitlistNotices from "../../workers/WaitlistNotices.ts"
import * as WantedPlaces from "../../workers/WantedPlaces.ts"
import * as WebhookDeliveries from "../../workers/WebhookDeliveries.ts"
import { welcome } from "./Welcome.ts"

const journal = JournalSql.layer({ codecs: JournalCodec.codecs(actorDeciders) })

/** The engine of a single process, or of one node in a cluster. */
const engine = Layer.unwrap(
  Effect.gen(function* () {
    const { cluster, clusterRole, nodeName, clusterHost, clusterPort, clusterLockSeconds } = yield* Settings
    const { timeline, heldAt } = yield* Installation
    // On hold no process owns a mechanism, and each reads all of them.
    if (!cluster || heldAt !== undefined) return Engine.layer({ node: nodeName })
    const Cluster = yield* Effect.promise(() => import("../../engine/cluster/Cluster.ts"))
    return Cluster.layer({
      node: nodeName,
      host: clusterHost,
      port: clusterPort,
      lockSeconds: clusterLockSeconds,
      ownsMechanisms: clusterRole !== "front",
      secret: createHmac("sha256", yield* serverSecret("nodes"))
        .update(timeline)
        .digest(),
      release: yield* CurrentRelease
    })
  })
)

/** Delivers webhooks, unless other processes do. */
const webhookDeliveries = Layer.unwrap(
  Effect.map(Settings, ({ webhookDelivery }) => (webhookDelivery ? WebhookDeliveries.layer : Layer.empty))
)

/** The lowest layer above the database: prevents other programs from changing the schema while this process runs. */
const heartbeat = Layer.unwrap(Effect.map(Settings, ({ nodeName }) => Heartbeat.layer({ name: nodeName })))

const http = Layer.merge(
  Server.layer({
    consumer: Layer.merge(ConsumerRoutes.layer, PageRoutes.consumer),
    admin: Layer.merge(AdminRoutes.layer, PageRoutes.admin)
  }),
  Operations.layer
).pipe(
  Layer.provideMerge(Supervision.layer),
  Layer.provide(Readiness.layerConditions),
  Layer.provide(NodeReport.layer),
  Layer.provide(Readiness.layer)
)

const stockRecords = StockRecords.layer.pipe(Layer.provide(Layer.merge(Stocks.layer, StockMessages.layer)))

/**
 * Serves the actors of this process: draws that wait for randomness, waitlists with members to notify, stocks. A front has
 * none. The other workers need none of this process: they work from the database, and leases or claims divide the work.
 * `ParkedMechanisms` runs on a front to clear what a former process of its name recorded.
 */
const mechanismWorkers = Layer.unwrap(
  Effect.map(Settings, ({ clusterRole }) =>
    clusterRole === "front"
      ? Layer.empty
      : Layer.mergeAll(
          Layer.provide(DrawBeacons.layer, Beacon.layer),
          WaitlistNotices.layer,
          StockTransfers.layer,
          stockRecords
        )
  )
)

/** Starts the work without a caller: none while the database is on hold. */
const workers = Layer.unwrap(
  Effect.map(Installation, ({ heldAt }) =>
    heldAt !== undefined
      ? Layer.empty
      : Layer.mergeAll(
          mechanismWorkers,
          GrantMessages.layer,
          Alerts.layer,
          webhookDeliveries,
          ReceivedEvents.layer,
          ParkedMechanisms.layer,
          WantedPlaces.layer,
          PeriodicJobs.layer,
          TestClockAdvances.layer
        )
  )
)

/** Runs rehearsals, by requests to its own listeners. An engine's fronts have those of the Consumer API. */
const rehearsals = Layer.unwrap(
  Effect.gen(function* () {
    const { heldAt } = yield* Installation
    const { clusterRole } = yield* Settings
    const listeners = yield* Server.Listeners
    return heldAt !== undefined || clusterRole === "engine"
      ? Layer.empty
      : Rehearsals.layer(RehearsalThread.on(listeners))
  })
)

/** The layers above the database. */
const serving = Layer.merge(Layer.provideMerge(rehearsals, http), workers).pipe(
  Layer.provideMerge(Layer.merge(Auth.layer, Delivery.layer)),
  Layer.provide(TracedEngine.layer.pipe(Layer.provide(engine), Layer.provideMerge(journal))),
  Layer.provideMerge(TestClocks.layer),
  Layer.provideMerge(Invalidations.layer),
  Layer.provideMerge(heartbeat),
  Layer.provideMerge(Layer.merge(InstallationState.layer, FormatVersion.layer))
)

const environment = Environment.withMigratedDatabase.pipe(
  Layer.provideMerge(Measures.layer),
  Layer.provideMerge(TraceExport.layer)
)

/** All layers of a serving process. */
export const layer = serving.pipe(Layer.provideMerge(environment))

/** Serves until the installation changes. After the end of a hold, the held services are built. */
const serveInstallation = Effect.gen(function* () {
  if (yield* (yield* Supervision.Supervision).allReady) yield* welcome
  const { changed } = yield* Heartbeat
  if ((yield* changed) === "resumed") return yield* Effect.logInfo("The hold has ended: serving everything")
  return yield* new StartRefused({
    message:
      "The database was restored from a backup while this process served its former state. The process has ended, so that " +
      "the two do not mix. Start it again."
  })
}).pipe(Effect.provide(serving, { local: true }))

/** How often a process starts while the database is too slow, or away. Each start waits for seconds before it fails. */
const startsMax = 10

/** Serves until the process is asked to stop. */
export const serve = Effect.forever(serveInstallation).pipe(
  Effect.provide(environment),
  Effect.catchTags({
    SqlError: (error) => refusedBy(error),
    Unavailable: (error) => refusedBy(error)
  }),
  // What the libraries take for a defect is one only if the database has answered.
  Effect.catchDefect((defect) => (isTransient(defect) ? refusedBy(defect as Error) : Effect.die(defect))),
  Effect.tapErrorTag("StartRefused", (error) =>
    error.isTransient === true ? Effect.logWarning(`${error.message}; trying again`) : Effect.void
  ),
  // On a slow machine the thread of a process that starts is busy for seconds, so it takes an answer for late.
  Effect.retry({ while: (error) => error._tag === "StartRefused" && error.isTransient === true, times: startsMax - 1 }),
  (served) => Effect.andThen(Supervision.mayServe, served),
  Effect.raceFirst(stopRequested),
  Effect.catchTag("ServeError", notListening),
  Effect.provide(Environment.base)
)

const refusedBy = (error: Error) => {
  const reason = error.cause instanceof Error ? error.cause.message : error.message
  const message = `The database failed during the start: ${reason}`
  return Effect.fail(new StartRefused({ message, isTransient: isTransient(error) }))
}
