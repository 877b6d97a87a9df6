/**
 * Queues on the Admin API: the contract (interface document 2.8; completions 4, "Mechanisms").
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Id } from "../../domain/Ids.ts"
import * as QueueRules from "../../domain/Queue.ts"
import * as Mechanisms from "../../store/Mechanisms.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { listAnnotations, listQuery, pageOf, searchQuery } from "./Lists.ts"
import { mechanismFields, settingsOf } from "./MechanismRecord.ts"
import { changeFields, createFields } from "./Payloads.ts"

/** What can be set on a queue. */
export const settings = settingsOf(QueueRules.Configuration.fields)

/** A queue as it goes out. */
export const Queue = Schema.Struct(mechanismFields(settings)).annotate({ identifier: "Queue" })

/** The body of `POST /queues`. */
export const CreateQueue = Schema.Struct({
  sequenceId: Id,
  ...createFields(settings, ["name", "admitRate"])
}).annotate({ identifier: "CreateQueue" })

/** The body of `PUT /queues/{id}`. */
export const ChangeQueue = Schema.Struct(changeFields(settings, ["name", "admitRate"])).annotate({
  identifier: "ChangeQueue"
})

export class QueueApi extends HttpApiGroup.make("queues")
  .add(
    HttpApiEndpoint.post("createQueue", "/queues", {
      payload: CreateQueue,
      success: Queue.pipe(HttpApiSchema.status(201)),
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Create a queue",
        description:
          "`admitRate` is consumers per minute; 0 admits by hand only. Without `openAt` it is open at once, without `closeAt` until it is ended. `timeZone` defaults to the experience's, `supportsGuest` to true, `recycleExpiredAdmissions` and `loyaltyBiasEnabled` to false, `loyaltyHeadStartSeconds` to 60."
      })
    ),
    HttpApiEndpoint.get("listQueues", "/queues", {
      query: {
        ...listQuery(Mechanisms.shape),
        ...searchQuery("the name"),
        experienceId: Schema.optionalKey(Id.annotate({ description: "Only those of this experience." })),
        sequenceId: Schema.optionalKey(Id.annotate({ description: "Only those of this sequence." }))
      },
      success: pageOf(Queue).annotate({ identifier: "QueuePage" })
    }).annotateMerge(
      listAnnotations({
        summary: "List queues",
        description: "All that are not archived. Sorted by `openAt`, those without one come first."
      })
    ),
    HttpApiEndpoint.get("getQueue", "/queues/:id", {
      params: { id: Id },
      success: Queue,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Get a queue",
        description: "The record; `GET /distributions/{id}` adds what happens in it at this moment."
      })
    ),
    HttpApiEndpoint.put("changeQueue", "/queues/:id", {
      params: { id: Id },
      payload: ChangeQueue,
      success: Queue,
      error: [NotFound, Conflict]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Change a queue",
        description:
          "Send the fields to change: one that is absent keeps its value, null takes an optional one back to its default. A queue that has closed cannot be changed (409 `CLOSED`); `openAt` and `lobbyOpenAt` cannot once it has opened (409 `CONFIGURATION_FIXED`)."
      })
    ),
    HttpApiEndpoint.delete("archiveQueue", "/queues/:id", {
      params: { id: Id },
      success: Queue,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Archive a queue",
        description:
          "Ends it, if it has not ended, and answers the archived record. It is not found any more afterwards, on either API."
      })
    ),
    HttpApiEndpoint.post("endQueue", "/queues/:id/end", {
      params: { id: Id },
      success: Queue,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "End a queue",
        description:
          "Closes it at once: who waits is denied with `QUEUE_CLOSED`, admissions already granted stay valid until they expire. Ending a queue that has ended changes nothing."
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Queues" })) {}
