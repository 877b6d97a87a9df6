/**
 * The nodes on the Admin API, for operators that watch
 * a drop.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Id } from "../../domain/values/Ids.ts"
import { SentTimestamp } from "../../domain/values/Time.ts"
import { kinds } from "../../domain/mechanism/Mechanism.ts"

/** A process that runs mechanisms. */
export const Node = Schema.Struct({
  name: Schema.String,
  shards: Schema.NullOr(Schema.Int).annotate({
    description:
      "Number of shards that the process owns. All mechanisms are divided into shards. Null for a process that serves " +
      "its database alone."
  }),
  mechanisms: Schema.Int.annotate({
    description: "Number of the organization's unfinished mechanisms that the process owns."
  }),
  startedAt: SentTimestamp,
  heardAt: SentTimestamp
}).annotate({ identifier: "Node" })

/** The answer of `GET /nodes`. */
export const Nodes = Schema.Struct({
  data: Schema.Array(Node),
  parkedMechanisms: Schema.Array(
    Schema.Struct({
      distributionId: Id,
      type: Schema.Literals(kinds),
      experienceId: Id,
      name: Schema.String,
      node: Schema.String,
      parkedAt: SentTimestamp,
      restarts: Schema.Int
    })
  ).annotate({ description: "The organization's mechanisms that are parked because they failed repeatedly." }),
  oldestOverdueWakeUpAt: Schema.NullOr(SentTimestamp).annotate({
    description:
      "The earliest time at which one of the organization's mechanisms should have acted and has not. Null if none is " +
      "late."
  })
}).annotate({ identifier: "Nodes" })

export class NodeApi extends HttpApiGroup.make("nodes")
  .add(
    HttpApiEndpoint.get("listNodes", "/nodes", { success: Nodes }).annotateMerge(
      OpenApi.annotations({
        summary: "Show the nodes and the parked mechanisms",
        description:
          "The running processes, with the number of the organization's mechanisms that each owns (of the first 10,000), " +
          "the parked mechanisms, and the delay of timed actions."
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Nodes", description: "The processes that run the mechanisms." })) {}
