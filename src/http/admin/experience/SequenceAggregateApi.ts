/**
 * The schemas of a sequence with its mechanisms in one body: to create it, alone or with its experience, and to show
 * it.
 */
import { Schema } from "effect"
import { Id } from "../../../domain/values/Ids.ts"
import {
  declarations,
  type FieldOf,
  fieldOf,
  isSingle,
  type Kind,
  kinds,
  type SingleKind
} from "../../../domain/mechanism/Mechanism.ts"
import { NewAccessCode, Sequence, Settings } from "../../../domain/experience/Sequence.ts"
import { kindSchemas } from "../mechanism/KindsApi.ts"
import { createFields } from "../records/Payloads.ts"

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
