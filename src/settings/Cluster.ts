/** The settings of a process that is one node of several. */
import { Option } from "effect"
import { flag, port, text, whole } from "./Shapes.ts"

export const clusterDefinitions = {
  cluster: flag(
    "CLUSTER",
    false,
    "Whether this process shares its database's mechanisms with other processes, as one node of several. Needs `DATABASE_URL`."
  ),
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
  })
}

/** Returns a complaint about a node without a database that the others can reach. */
export const withoutDatabase = (values: {
  readonly cluster: boolean
  readonly databaseUrl: Option.Option<unknown>
}): ReadonlyArray<string> =>
  values.cluster && Option.isNone(values.databaseUrl)
    ? ["CLUSTER is true, and needs DATABASE_URL: the database that all nodes share. Set it, or unset CLUSTER."]
    : []
