/** Sequences on the Admin API, also with their mechanisms in one body. */
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { Id } from "../../domain/values/Ids.ts"
import { Sequence, Settings, sequenceSorts, NewAccessCode } from "../../domain/experience/Sequence.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { changeFields, createFields } from "./Payloads.ts"
import { operationsOn } from "./RecordApi.ts"
import {
  declarations,
  type FieldOf,
  fieldOf,
  isSingle,
  type Kind,
  kinds,
  type SingleKind
} from "../../domain/mechanism/Mechanism.ts"
import { kindSchemas } from "./KindsApi.ts"

/** Mechanisms that one request can create, in all of its sequences together. */
export const mechanismsMax = 200

/** The access code of a sequence in a body. */
export const sequenceAccessCode = Schema.optionalKey(
  Schema.NullOr(
    NewAccessCode.annotate({
      description:
        "Consumers who send this code when they enter the experience can see the sequence. Blanks in it count for nothing, and the case of letters counts. The code is never returned. " +
        "Only the rate limits bound guessing, so choose one that cannot be guessed."
    })
  )
)

/** The schema of a kind for the field of a sequence that holds its mechanisms: a list, or the only one. */
type Held<K extends Kind, S extends Schema.Constraint> = K extends SingleKind ? S : Schema.$Array<S>

/** The fields of a sequence that hold its mechanisms. */
const mechanismFields = <Fields>(held: (kind: Kind) => Schema.Constraint) =>
  Object.fromEntries(kinds.map((kind) => [fieldOf[kind], held(kind)])) as object as Fields

type CreatedWithin = {
  readonly [K in Kind as FieldOf<K>]: Schema.optionalKey<
    Schema.NullOr<Held<K, (typeof kindSchemas)[K]["CreateWithin"]>>
  >
}

/** A sequence that is created with its experience, and its mechanisms. */
export const CreateSequenceWithin = Schema.Struct({
  ...createFields(Settings.fields, ["name"]),
  accessCode: sequenceAccessCode,
  ...mechanismFields<CreatedWithin>((kind) => {
    const { CreateWithin } = kindSchemas[kind]
    const held = isSingle(kind) ? CreateWithin : Schema.Array(CreateWithin).check(Schema.isMaxLength(mechanismsMax))
    return Schema.optionalKey(Schema.NullOr(held))
  })
}).annotate({ identifier: "CreateSequenceWithin" })

type Holder = { readonly [K in Kind as FieldOf<K>]?: unknown }

/** True if the sequences hold at most as many mechanisms as one request can create. */
const isWithinMax = (sequences: ReadonlyArray<Holder>): boolean => {
  const held = sequences.flatMap((sequence) => kinds.map((kind) => sequence[fieldOf[kind]]))
  return held.flatMap((value) => value ?? []).length <= mechanismsMax
}

const tooMany = {
  expected: `at most ${mechanismsMax} mechanisms in all`,
  representation: { id: "usher/max_length", payload: null },
  toJsonSchema: () => ({})
}

/** Sequences that together hold at most as many mechanisms as one request can create. */
export const heldTogether = Schema.makeFilter(isWithinMax, tooMany)

/** The body of `POST /sequences`. */
export const CreateSequence = Schema.Struct({ experienceId: Id, ...CreateSequenceWithin.fields })
  .check(Schema.makeFilter((sequence: Holder) => isWithinMax([sequence]), tooMany))
  .annotate({ identifier: "CreateSequence" })

type Shown<K extends Kind> = K extends SingleKind
  ? Schema.NullOr<(typeof kindSchemas)[K]["Record"]>
  : Schema.$Array<(typeof kindSchemas)[K]["Record"]>

/** A sequence with its mechanisms, each kind in the order of creation. */
export const SequenceWithMechanisms = Schema.Struct({
  ...Sequence.fields,
  ...mechanismFields<{ readonly [K in Kind as FieldOf<K>]: Shown<K> }>((kind) => {
    const { Record } = kindSchemas[kind]
    const { noun } = declarations[kind]
    return isSingle(kind)
      ? Schema.NullOr(Record).annotate({ description: `Its ${noun}; null if it has none.` })
      : Schema.Array(Record)
  })
}).annotate({ identifier: "SequenceWithMechanisms" })

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
