/**
 * The nodes on the Admin API: the declaration. The interface document does not have it; it is for operators that watch
 * a drop.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Id } from "../../../domain/values/Ids.ts"
import { deciders } from "../../../domain/mechanism/Mechanism.ts"
import type { Kind } from "../../../domain/mechanism/Decider.ts"
import { SentTimestamp } from "../../../domain/values/Time.ts"

/** A process that runs mechanisms. */
export const Node = Schema.Struct({
  name: Schema.String,
  shards: Schema.NullOr(Schema.Int).annotate({
    description:
      "How many of the shards, into which all mechanisms fall, it owns. Null where it has the database to itself."
  }),
  mechanisms: Schema.Int.annotate({
    description: "How many of the organization's mechanisms whose work is not over it owns."
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
      type: Schema.Literals(Object.keys(deciders) as Array<Kind>),
      node: Schema.String,
      parkedAt: SentTimestamp,
      restarts: Schema.Int
    })
  ).annotate({ description: "The organization's mechanisms that are parked because they kept failing." }),
  oldestOverdueWakeUpAt: Schema.NullOr(SentTimestamp).annotate({
    description:
      "When the organization's mechanism that is most behind should have done something by itself; null if none is."
  })
}).annotate({ identifier: "Nodes" })

export class NodeApi extends HttpApiGroup.make("nodes")
  .add(
    HttpApiEndpoint.get("listNodes", "/nodes", { success: Nodes }).annotateMerge(
      OpenApi.annotations({
        summary: "Show the nodes and the parked mechanisms",
        description:
          "The processes that are there, with how many of the organization's mechanisms each of them owns (of the first 10,000), " +
          "the parked mechanisms, and how far time is behind."
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Nodes", description: "Where the mechanisms live." })) {}
