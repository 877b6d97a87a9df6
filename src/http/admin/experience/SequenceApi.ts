/** Sequences on the Admin API: the declaration (completions 4, "Sequences"). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Id } from "../../../domain/values/Ids.ts"
import { Sequence, Settings } from "../../../domain/experience/Sequence.ts"
import * as Sequences from "../../../store/experience/Sequences.ts"
import { Conflict, NotFound } from "../../errors/Errors.ts"
import { listAnnotations, listQuery, pageOf, searchQuery } from "../records/Lists.ts"
import { changeFields } from "../records/Payloads.ts"
import { archivedQuery, restores } from "../records/Restoring.ts"
import { CreateSequence, mechanismsMax, sequenceAccessCode, SequenceWithMechanisms } from "./SequenceAggregateApi.ts"

/** The body of `PUT /sequences/{id}`. */
export const ChangeSequence = Schema.Struct({
  ...changeFields(Settings.fields, ["name"]),
  accessCode: sequenceAccessCode
}).annotate({ identifier: "ChangeSequence" })

export class SequenceApi extends HttpApiGroup.make("sequences")
  .add(
    HttpApiEndpoint.post("createSequence", "/sequences", {
      payload: CreateSequence,
      success: SequenceWithMechanisms.pipe(HttpApiSchema.status(201)),
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Create a sequence",
        description:
          `With it come its mechanisms, at most ${mechanismsMax}, all or nothing: every problem is named by its path, and ` +
          "then nothing is created. Each mechanism takes what its own operation takes. `priority` defaults to 0; a " +
          "sequence of higher priority comes first. With an `audienceId` it is for the audience's members alone, with an " +
          "`accessCode` for consumers who have shown it once; with both, for members who have. Others do not see it, and " +
          "get a 403 when they enter one of its mechanisms. A consumer with `orderLimitPerConsumer` orders in the " +
          "sequence, cancelled ones aside, gets a 409 `DISTRIBUTION_ORDER_LIMIT` there; places and grants it has already " +
          "stay its own. With the `productSelectionMode` `SYSTEM_ASSIGNED` one of the `sequenceProducts` is picked for " +
          "each consumer, by weight and always the same; a change of the products moves only those consumers whose product " +
          "it takes away, or whose pick falls on a product that it adds. Archived products are not picked, and none is where there are none."
      })
    ),
    HttpApiEndpoint.get("listSequences", "/sequences", {
      query: {
        ...listQuery(Sequences.shape),
        ...searchQuery("the name"),
        ...archivedQuery,
        experienceId: Schema.optionalKey(Id.annotate({ description: "Only those of this experience." }))
      },
      success: pageOf(Sequence).annotate({ identifier: "SequencePage" })
    }).annotateMerge(
      listAnnotations({
        summary: "List sequences",
        description: "All that are not archived, or with `archived=true` those that are."
      })
    ),
    HttpApiEndpoint.get("getSequence", "/sequences/:id", {
      params: { id: Id },
      success: SequenceWithMechanisms,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Get a sequence",
        description: "With its mechanisms that are not archived: at most 1,000, the oldest."
      })
    ),
    HttpApiEndpoint.put("changeSequence", "/sequences/:id", {
      params: { id: Id },
      payload: ChangeSequence,
      success: SequenceWithMechanisms,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Change a sequence",
        description:
          "Send the fields to change: one that is absent keeps its value, null takes an optional one back to its default. `sequenceProducts` are replaced as a whole; those that were archived since they were named may stay. Mechanisms are changed by themselves, and ignored here. Consumers who have shown an earlier access code need not show a new one."
      })
    ),
    HttpApiEndpoint.delete("archiveSequence", "/sequences/:id", {
      params: { id: Id },
      success: SequenceWithMechanisms,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Archive a sequence",
        description:
          "Ends and archives its mechanisms and then itself, and answers the archived record with the mechanisms that were archived with it. It is not found any more afterwards, until it is restored."
      })
    ),
    HttpApiEndpoint.post("restoreSequence", "/sequences/:id/restore", {
      params: { id: Id },
      success: SequenceWithMechanisms,
      error: [NotFound, Conflict]
    }).annotateMerge(
      restores({
        aNoun: "a sequence",
        description:
          "Its mechanisms have ended for good and stay archived; new ones can be created. If its experience is archived it is refused (409 `PARENT_ARCHIVED`), and so it is if the audience is that it is for (409 `REFERENCE_ARCHIVED`)."
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Sequences",
      description: "The parts of an experience, each for everybody or for an audience, in which mechanisms run."
    })
  ) {}
