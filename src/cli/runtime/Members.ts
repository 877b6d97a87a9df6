/** Which processes `usher serve --processes N` starts, and what each gets in its environment. */
import { Effect, Option, Schedule } from "effect"
import * as Accepting from "../../http/connections/Accepting.ts"
import { Settings, StartRefused } from "../../settings/Settings.ts"
import { isTaken } from "./ListenFailure.ts"
import * as Orphans from "./Orphans.ts"
import { connectionsMax } from "../../store/postgres/embedded/ServerProcess.ts"

/** Characters of the node's name that the names of the processes keep. A name may have 100. */
const nameLengthMax = 80

/** Connections of a process beside `DATABASE_CONNECTIONS`: its heartbeat, its presence, notifications, and one to spare. */
const otherConnections = 4

/** Processes of a killed supervisor may learn of it late. */
const portTriesMax = 50
const portPauseMillis = 100

interface Address {
  readonly host: string
  readonly port: number
}

/** One of the processes. */
export interface Member {
  /** `engine`, `front-1` and so on. */
  readonly name: string
  /** What each line of its log begins with. */
  readonly prefix: string
  /** Its settings, as far as they differ. Evaluated at each start. */
  readonly environment: Effect.Effect<Record<string, string>>
}

/**
 * Returns the processes: an engine and fronts, or only fronts if that is this machine's `CLUSTER_ROLE`. Fails if they cannot
 * share ports.
 */
export const plan = Effect.fnUntraced(function* (count: number) {
  const settings = yield* Settings
  const { host, adminHost, clusterRole, clusterHost, cluster, nodeName, shutdownTimeoutSeconds } = settings
  if (clusterRole === "engine") return yield* engineAlone
  const consumerPort = yield* fixedPort({ host, port: settings.consumerPort })
  const adminPort = yield* fixedPort({ host: adminHost, port: settings.adminPort })
  if (!(yield* Accepting.canShare(host))) return yield* cannotShare
  yield* refuseHighPorts(settings, count)
  yield* refuseConnections(settings, count)

  return Array.from({ length: count }, (_, index): Member => {
    const isEngine = index === 0 && clusterRole !== "front"
    const name = isEngine ? "engine" : `front-${clusterRole === "front" ? index + 1 : index}`
    const { operationsPort } = settings
    // Only processes of this machine need to find each other if the operator has named no cluster.
    const clusterPort = cluster
      ? Effect.succeed(settings.clusterPort + index)
      : Effect.orDie(Accepting.tryPort({ host: clusterHost, port: 0 }))
    return {
      name,
      prefix: settings.logFormat === "logfmt" ? `process=${name} ` : `${name} | `,
      environment: Effect.map(clusterPort, (port) => ({
        SUPERVISED: "true",
        NODE_NAME: `${nodeName.slice(0, nameLengthMax)}-${name}`,
        CLUSTER: "true",
        CLUSTER_ROLE: isEngine ? "engine" : "front",
        CLUSTER_PORT: `${port}`,
        CONSUMER_PORT: `${consumerPort}`,
        ADMIN_PORT: `${adminPort}`,
        ...(operationsPort !== undefined && { OPERATIONS_PORT: `${operationsPort && operationsPort + index}` }),
        // The fronts stop first, and then the engine.
        SHUTDOWN_TIMEOUT_SECONDS: `${Math.max(1, Math.floor(shutdownTimeoutSeconds / 2))}`
      }))
    }
  })
})

/** Returns the port itself, or any free one for 0. */
const fixedPort = (options: Address) => (options.port === 0 ? Accepting.tryPort(options) : Effect.succeed(options.port))

/**
 * Waits until the ports of both APIs can be listened on. Processes without a supervisor give them up once those of this one
 * are `loaded`. Fails if the ports cannot be had after some seconds more.
 */
export const portsFree = (loaded: Effect.Effect<void, StartRefused>) =>
  Effect.flatMap(Settings, ({ host, consumerPort, adminHost, adminPort }) => {
    const addresses = [
      { host, port: consumerPort },
      { host: adminHost, port: adminPort }
    ]
    const tried = Effect.forEach(addresses, (address) => Accepting.tryPort(address), { discard: true })
    const freed = Effect.andThen(Orphans.end, tried).pipe(
      Effect.retry({ while: isTaken, schedule: Schedule.spaced(portPauseMillis), times: portTriesMax })
    )
    return Effect.catchIf(tried, isTaken, () => Effect.andThen(loaded, freed))
  })

const engineAlone = new StartRefused({
  message:
    "--processes: CLUSTER_ROLE is engine, and fronts would start beside it. Unset CLUSTER_ROLE for an engine and fronts, set " +
    "it to front for fronts alone, or start this engine without --processes."
})

const cannotShare = new StartRefused({
  message:
    "--processes: this system does not let several processes listen on one port (SO_REUSEPORT). Start one process, or run " +
    "Usher on Linux."
})

/** Each process has a port of its own for operators and for the other nodes, counted from the one of the settings. */
const refuseHighPorts = ({ operationsPort, cluster, clusterPort }: Settings["Service"], count: number) => {
  const last = 65_536 - count
  const tooHigh = [
    ...((operationsPort ?? 0) > last ? [["OPERATIONS_PORT", operationsPort]] : []),
    ...(cluster && clusterPort > last ? [["CLUSTER_PORT", clusterPort]] : [])
  ]
  return tooHigh.length === 0
    ? Effect.void
    : new StartRefused({
        message: tooHigh
          .map(
            ([variable, port]) =>
              `${variable} is ${port}, and ${count} processes need as many ports from there on. Set it to ${last} at most.`
          )
          .join("\n")
      })
}

/** The embedded server takes a fixed number of connections. */
const refuseConnections = ({ databaseUrl, databaseConnections }: Settings["Service"], count: number) => {
  const needed = count * (databaseConnections + otherConnections)
  return Option.isSome(databaseUrl) || needed <= connectionsMax
    ? Effect.void
    : new StartRefused({
        message:
          `--processes: ${count} processes need up to ${needed} connections, and the embedded Postgres takes ` +
          `${connectionsMax}. Set DATABASE_URL, a smaller DATABASE_CONNECTIONS, or start fewer processes.`
      })
}
