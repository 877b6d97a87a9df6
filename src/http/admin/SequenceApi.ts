/**
 * Sequences on the Admin API: the contract (completions 4, "Sequences").
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Id } from "../../domain/Ids.ts"
import { Sequence, Settings } from "../../domain/Sequence.ts"
import * as Sequences from "../../store/Sequences.ts"
import { NotFound } from "../Errors.ts"
import { listAnnotations, listQuery, pageOf, searchQuery } from "./Lists.ts"
import { changeFields, createFields, notAvailableYet } from "./Payloads.ts"

const later = notAvailableYet([
  "accessCode",
  "audienceId",
  "orderLimitPerConsumer",
  "sequenceProducts",
  "queues",
  "draws",
  "auctions",
  "appointments",
  "timedReleases",
  "waitlist"
])

/** The body of `POST /sequences`. */
export const CreateSequence = Schema.Struct({
  experienceId: Id,
  ...createFields(Settings.fields, ["name"]),
  ...later
}).annotate({ identifier: "CreateSequence" })

/** The body of `PUT /sequences/{id}`. */
export const ChangeSequence = Schema.Struct({ ...changeFields(Settings.fields, ["name"]), ...later }).annotate({
  identifier: "ChangeSequence"
})

export class SequenceApi extends HttpApiGroup.make("sequences")
  .add(
    HttpApiEndpoint.post("createSequence", "/sequences", {
      payload: CreateSequence,
      success: Sequence.pipe(HttpApiSchema.status(201)),
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Create a sequence",
        description: "`priority` defaults to 0; a sequence of higher priority comes first."
      })
    ),
    HttpApiEndpoint.get("listSequences", "/sequences", {
      query: {
        ...listQuery(Sequences.shape),
        ...searchQuery("the name"),
        experienceId: Schema.optionalKey(Id.annotate({ description: "Only those of this experience." }))
      },
      success: pageOf(Sequence).annotate({ identifier: "SequencePage" })
    }).annotateMerge(listAnnotations({ summary: "List sequences", description: "All that are not archived." })),
    HttpApiEndpoint.get("getSequence", "/sequences/:id", {
      params: { id: Id },
      success: Sequence,
      error: NotFound
    }).annotateMerge(OpenApi.annotations({ summary: "Get a sequence" })),
    HttpApiEndpoint.put("changeSequence", "/sequences/:id", {
      params: { id: Id },
      payload: ChangeSequence,
      success: Sequence,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Change a sequence",
        description:
          "Send the fields to change: one that is absent keeps its value, null takes an optional one back to its default."
      })
    ),
    HttpApiEndpoint.delete("archiveSequence", "/sequences/:id", {
      params: { id: Id },
      success: Sequence,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Archive a sequence",
        description:
          "Ends and archives its mechanisms and then itself, and answers the archived record. It is not found any more afterwards."
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Sequences" })) {}
