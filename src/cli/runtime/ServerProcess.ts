/**
 * Runs `usher serve`: both APIs, the engine and the database, until the process is asked to stop.
 *
 * The layers start from the database upwards and stop in the reverse order, which makes the shutdown graceful. The
 * listeners refuse new connections and finish requests in flight, the actors write what they hold, the database
 * connections close, and the embedded server stops.
 */
import { Effect, Layer } from "effect"
import * as Auth from "../../auth/Auth.ts"
import { Beacon } from "../../beacon/Beacon.ts"
import { Delivery } from "../../delivery/Delivery.ts"
import { deciders } from "../../domain/mechanism/Mechanism.ts"
import { Engine } from "../../engine/Engine.ts"
import * as AdminRoutes from "../../http/admin/Routes.ts"
import * as ConsumerRoutes from "../../http/consumer/Routes.ts"
import { Readiness } from "../../engine/lifecycle/Readiness.ts"
import * as Server from "../../http/server/Server.ts"
import { Settings, StartRefused } from "../../settings/Settings.ts"
import { Heartbeat } from "../../store/coordination/Heartbeat.ts"
import * as JournalCodec from "../../store/journal/JournalCodec.ts"
import * as JournalSql from "../../store/journal/JournalSql.ts"
import * as Migrations from "../../store/postgres/Migrations.ts"
import { serverSecret } from "../../store/coordination/ServerSecrets.ts"
import * as Environment from "./Environment.ts"
import * as GrantMessages from "../../workers/GrantMessages.ts"
import * as IdleGuests from "../../workers/IdleGuests.ts"
import * as NodeReport from "../../workers/NodeReport.ts"
import * as ParkedMechanisms from "../../workers/ParkedMechanisms.ts"
import { stopRequested } from "./Signals.ts"
import * as DrawBeacons from "../../workers/DrawBeacons.ts"
import * as WaitlistNotices from "../../workers/WaitlistNotices.ts"
import * as WebhookDeliveries from "../../workers/WebhookDeliveries.ts"
import { welcome } from "./Welcome.ts"

const journal = JournalSql.layer({ codecs: JournalCodec.codecs(deciders) })

/** The engine of a single process, or of one node in a cluster. */
const engine = Layer.unwrap(
  Effect.gen(function* () {
    const { cluster, nodeName, clusterHost, clusterPort, clusterLockSeconds } = yield* Settings
    if (!cluster) return Engine.layer({ node: nodeName })
    const Cluster = yield* Effect.promise(() => import("../../engine/cluster/Cluster.ts"))
    return Cluster.layer({
      node: nodeName,
      host: clusterHost,
      port: clusterPort,
      lockSeconds: clusterLockSeconds,
      secret: yield* serverSecret("nodes"),
      schemaStep: Migrations.latest
    })
  })
)

/** The lowest layer above the database: prevents other programs from changing the schema while this process runs. */
const heartbeat = Layer.unwrap(Effect.map(Settings, ({ nodeName }) => Heartbeat.layer({ name: nodeName })))

const http = Server.layer({ consumer: ConsumerRoutes.layer, admin: AdminRoutes.layer }).pipe(
  Layer.provide(Readiness.layerConditions),
  Layer.provide(NodeReport.layer),
  Layer.provide(Readiness.layer)
)

/** All layers of a serving process. */
export const layer = Layer.mergeAll(
  http,
  Layer.provide(DrawBeacons.layer, Beacon.layer),
  WaitlistNotices.layer,
  GrantMessages.layer,
  WebhookDeliveries.layer,
  IdleGuests.layer,
  ParkedMechanisms.layer
).pipe(
  Layer.provideMerge(Layer.merge(Auth.layer, Delivery.layer)),
  Layer.provide(engine.pipe(Layer.provideMerge(journal))),
  Layer.provideMerge(heartbeat),
  Layer.provideMerge(Environment.withMigratedDatabase)
)

/** Serves until the process is asked to stop. */
export const serve = Effect.andThen(welcome, Effect.never).pipe(
  Effect.provide(layer),
  Effect.raceFirst(stopRequested),
  Effect.catchTags({
    ServeError: ({ cause }) => notListening(cause as ListenFailure),
    SqlError: (error) => databaseFailed(error),
    Unavailable: (error) => databaseFailed(error)
  })
)

interface ListenFailure {
  readonly code?: string
  readonly port?: number
  /** The address, or the host name that does not resolve. */
  readonly address?: string
  readonly hostname?: string
  readonly message: string
}

/** Explains why a port cannot be listened on, and how to fix it. */
const notListening = Effect.fnUntraced(function* ({ code, port, address, hostname, message }: ListenFailure) {
  const settings = yield* Effect.provide(Settings, Settings.layer)
  const isAdminHost = settings.adminHost !== settings.host && (address ?? hostname) === settings.adminHost
  const isAdminPort = port === settings.adminPort && (port !== settings.consumerPort || isAdminHost)
  const [hostVariable, host] = isAdminHost ? ["ADMIN_HOST", settings.adminHost] : ["HOST", settings.host]
  const variable = isAdminPort ? "ADMIN_PORT" : "CONSUMER_PORT"
  const problems: { readonly [code: string]: string } = {
    EADDRINUSE: `${variable}: port ${port} of ${host} is taken by another process. End it, or set ${variable} to another port.`,
    EACCES: `${variable}: this user may not listen on port ${port}. Set ${variable} to a port above 1023.`,
    EADDRNOTAVAIL: `${hostVariable}: ${host} is not an address of this machine. Set ${hostVariable} to 127.0.0.1, 0.0.0.0 or one of its addresses.`,
    ENOTFOUND: `${hostVariable}: the name ${host} is unknown. Set ${hostVariable} to 127.0.0.1, 0.0.0.0 or one of this machine's addresses.`
  }
  return yield* new StartRefused({
    message: problems[code ?? ""] ?? `Cannot listen on ${host}, port ${port}: ${message}`
  })
})

const databaseFailed = (error: { readonly message: string; readonly cause?: unknown }) =>
  Effect.fail(
    new StartRefused({
      message: `The database failed during the start: ${error.cause instanceof Error ? error.cause.message : error.message}`
    })
  )
