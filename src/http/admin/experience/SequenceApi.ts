/** Sequences on the Admin API: the declaration (completions 4, "Sequences"). */
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { Id } from "../../../domain/values/Ids.ts"
import { Sequence, Settings } from "../../../domain/experience/Sequence.ts"
import * as Sequences from "../../../store/experience/Sequences.ts"
import { Conflict, NotFound } from "../../errors/Errors.ts"
import { changeFields } from "../records/Payloads.ts"
import { operationsOn } from "../records/RecordApi.ts"
import { CreateSequence, mechanismsMax, sequenceAccessCode, SequenceWithMechanisms } from "./SequenceAggregateApi.ts"

/** The body of `PUT /sequences/{id}`. */
export const ChangeSequence = Schema.Struct({
  ...changeFields(Settings.fields, ["name"]),
  accessCode: sequenceAccessCode
}).annotate({ identifier: "ChangeSequence" })

const { create, list, get, change, archive, restore } = operationsOn({
  name: "Sequence",
  aNoun: "a sequence",
  path: "sequences",
  record: SequenceWithMechanisms
})

export class SequenceApi extends HttpApiGroup.make("sequences")
  .add(
    create({
      payload: CreateSequence,
      error: NotFound,
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
    }),
    list({
      shape: Sequences.shape,
      search: "the name",
      only: { experienceId: Schema.optionalKey(Id.annotate({ description: "Only those of this experience." })) },
      item: Sequence,
      description: "All that are not archived, or with `archived=true` those that are."
    }),
    get("With its mechanisms that are not archived: at most 1,000, the oldest."),
    change({
      payload: ChangeSequence,
      description:
        "Send the fields to change: one that is absent keeps its value, null takes an optional one back to its default. `sequenceProducts` are replaced as a whole; those that were archived since they were named may stay. Mechanisms are changed by themselves, and ignored here. Consumers who have shown an earlier access code need not show a new one."
    }),
    archive({
      description:
        "Ends and archives its mechanisms and then itself, and answers the archived record with the mechanisms that were archived with it. It is not found any more afterwards, until it is restored."
    }),
    restore({
      error: [NotFound, Conflict],
      description:
        "Its mechanisms have ended for good and stay archived; new ones can be created. If its experience is archived it is refused (409 `PARENT_ARCHIVED`), and so it is if the audience is that it is for (409 `REFERENCE_ARCHIVED`)."
    })
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Sequences",
      description: "The parts of an experience, each for everybody or for an audience, in which mechanisms run."
    })
  ) {}
