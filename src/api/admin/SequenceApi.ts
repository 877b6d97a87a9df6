/** Sequences on the Admin API: the declaration. */
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { Id } from "../../domain/values/Ids.ts"
import { Sequence, Settings, sequenceSorts } from "../../domain/experience/Sequence.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { changeFields } from "./Payloads.ts"
import { operationsOn } from "./RecordApi.ts"
import { CreateSequence, mechanismsMax, sequenceAccessCode, SequenceWithMechanisms } from "./SequenceAggregateApi.ts"

/** The body of `PUT /sequences/{id}`. */
export const ChangeSequence = Schema.Struct({
  ...changeFields(Settings.fields, ["name"]),
  accessCode: sequenceAccessCode
}).annotate({ identifier: "ChangeSequence" })

const sequence = operationsOn(SequenceWithMechanisms, { name: "Sequence", aNoun: "a sequence", path: "sequences" })

export class SequenceApi extends HttpApiGroup.make("sequences")
  .add(
    sequence.create({
      payload: CreateSequence,
      error: NotFound,
      description:
        `Creates the sequence with its mechanisms, at most ${mechanismsMax}. It creates all or nothing; a 400 names ` +
        "every problem by its path. Each mechanism takes the fields of its own operation. `priority` defaults to 0; a " +
        "sequence of higher priority comes first.\n\nWith an `audienceId` the sequence is only for the audience's members. " +
        "With an `accessCode` it is only for consumers who have sent the code once. With both it is for members who have " +
        "sent the code. Other consumers do not see it, and get a 403 when they enter one of its mechanisms. A consumer " +
        "with `orderLimitPerConsumer` orders in the sequence, without cancelled ones, gets a 409 " +
        "`DISTRIBUTION_ORDER_LIMIT` there. It keeps the places and grants it has.\n\nWith the `productSelectionMode` " +
        "`SYSTEM_ASSIGNED`, each consumer is assigned one of the `sequenceProducts`, by weight and always the same. A " +
        "change of the products moves only consumers whose product it removes, or whose pick falls on a product that it " +
        "adds. Archived products are not assigned. Without any product none is assigned."
    }),
    sequence.list({
      sorts: sequenceSorts,
      search: "the name",
      only: { experienceId: Schema.optionalKey(Id.annotate({ description: "Only those of this experience." })) },
      item: Sequence,
      description: "Lists sequences that are not archived, or with `archived=true` only archived ones."
    }),
    sequence.get("Includes its mechanisms that are not archived: at most 1,000, the oldest ones."),
    sequence.change({
      payload: ChangeSequence,
      description:
        "Send only the fields to change. An absent field keeps its value; null resets an optional one to its default. " +
        "`sequenceProducts` are replaced as a whole; products that were archived since they were named may stay. " +
        "Mechanisms have operations of their own and are ignored here. Consumers who have sent an earlier access code " +
        "need not send a new one."
    }),
    sequence.archive({
      description:
        "Ends and archives its mechanisms and then itself. Returns the archived record with the mechanisms that were " +
        "archived with it. The sequence is then not found until it is restored."
    }),
    sequence.restore({
      error: [NotFound, Conflict],
      description:
        "Its mechanisms have ended permanently and stay archived; new ones can be created. It is refused if its experience " +
        "is archived (409 `PARENT_ARCHIVED`), or if its audience is (409 `REFERENCE_ARCHIVED`)."
    })
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Sequences",
      description:
        "The parts of an experience in which mechanisms run. Each sequence is for all consumers or for an audience."
    })
  ) {}
