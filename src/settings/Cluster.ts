/** The settings of a process that is one node of several. */
import { Option } from "effect"
import { choice, flag, port, text, whole } from "./Shapes.ts"

export const clusterDefinitions = {
  cluster: flag(
    "CLUSTER",
    false,
    "Whether this process shares its database's mechanisms with other processes, as one node of several. Needs `DATABASE_URL`."
  ),
  clusterRole: choice("CLUSTER_ROLE", {
    fallback: "all",
    choices: { all: "all", front: "front", engine: "engine" },
    meaning:
      "With `CLUSTER`: what this node does. A `front` serves both APIs and owns no mechanism; an `engine` owns mechanisms and " +
      "serves the Admin API alone; `all` does both."
  } as const),
  clusterHost: text("CLUSTER_HOST", {
    unit: "address",
    shape: "an IP address or host name",
    pattern: /^[\w.:-]+$/,
    fallback: "127.0.0.1",
    meaning: "With `CLUSTER`: the address on which this node listens, and at which the other nodes reach it."
  }),
  clusterPort: port("CLUSTER_PORT", 34_431, "With `CLUSTER`: the port for the other nodes."),
  clusterLockSeconds: whole("CLUSTER_LOCK_SECONDS", {
    unit: "seconds",
    fallback: 3,
    least: 2,
    most: 60,
    meaning:
      "With `CLUSTER`: seconds after which a silent node loses its mechanisms to the others. Must be the same on all " +
      "nodes."
  }),
  supervised: {
    ...flag(
      "SUPERVISED",
      false,
      "Whether `usher serve --processes` started this process, which then shares ports and perhaps the embedded Postgres."
    ),
    isInternal: true
  }
}

/** Returns a complaint about a node without a database that the others can reach. */
export const withoutDatabase = (values: {
  readonly cluster: boolean
  readonly supervised: boolean
  readonly databaseUrl: Option.Option<unknown>
}): ReadonlyArray<string> =>
  values.cluster && !values.supervised && Option.isNone(values.databaseUrl)
    ? ["CLUSTER is true, and needs DATABASE_URL: the database that all nodes share. Set it, or unset CLUSTER."]
    : []

/** Returns a complaint about a role without a cluster. */
export const withoutCluster = (values: {
  readonly cluster: boolean
  readonly clusterRole: string
}): ReadonlyArray<string> =>
  values.cluster || values.clusterRole === "all"
    ? []
    : [`CLUSTER_ROLE is ${values.clusterRole}, and needs CLUSTER=true. Set it, or unset CLUSTER_ROLE.`]
