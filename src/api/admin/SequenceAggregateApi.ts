/**
 * The schemas of a sequence with its mechanisms in one body: to create it, alone or with its experience, and to show
 * it.
 */
import { Schema } from "effect"
import { Id } from "../../domain/values/Ids.ts"
import type { Kind } from "../../domain/mechanism/Decider.ts"
import { NewAccessCode, Sequence, Settings } from "../../domain/experience/Sequence.ts"
import { appointmentSchemas } from "./AppointmentApi.ts"
import { auctionSchemas } from "./AuctionApi.ts"
import { drawSchemas } from "./DrawApi.ts"
import { createFields } from "./Payloads.ts"
import { queueSchemas } from "./QueueApi.ts"
import { timedReleaseSchemas } from "./TimedReleaseApi.ts"
import { waitlistSchemas } from "./WaitlistApi.ts"

/** Mechanisms that one request can create, in all of its sequences together. */
export const mechanismsMax = 200

/** The fields of a sequence that hold its mechanisms. A sequence has one waitlist and lists of the others. */
export const kindOfField = {
  queues: "queue",
  draws: "draw",
  auctions: "auction",
  appointments: "appointment",
  timedReleases: "timed_release",
  waitlist: "waitlist"
} as const satisfies { readonly [field: string]: Kind }
export type MechanismField = keyof typeof kindOfField

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

const some = <S extends Schema.Constraint>(item: S) =>
  Schema.optionalKey(Schema.NullOr(Schema.Array(item).check(Schema.isMaxLength(mechanismsMax))))

/** A sequence that is created with its experience, and its mechanisms. */
export const CreateSequenceWithin = Schema.Struct({
  ...createFields(Settings.fields, ["name"]),
  accessCode: sequenceAccessCode,
  queues: some(queueSchemas.CreateWithin),
  draws: some(drawSchemas.CreateWithin),
  auctions: some(auctionSchemas.CreateWithin),
  appointments: some(appointmentSchemas.CreateWithin),
  timedReleases: some(timedReleaseSchemas.CreateWithin),
  waitlist: Schema.optionalKey(Schema.NullOr(waitlistSchemas.CreateWithin))
}).annotate({ identifier: "CreateSequenceWithin" })

type Holder = { readonly [F in MechanismField]?: unknown }

/** True if the sequences hold at most as many mechanisms as one request can create. */
const isWithinMax = (sequences: ReadonlyArray<Holder>): boolean => {
  const held = sequences.flatMap((sequence) =>
    Object.keys(kindOfField).map((field) => sequence[field as MechanismField])
  )
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

/** A sequence with its mechanisms, each kind in the order of creation. */
export const SequenceWithMechanisms = Schema.Struct({
  ...Sequence.fields,
  queues: Schema.Array(queueSchemas.Record),
  draws: Schema.Array(drawSchemas.Record),
  auctions: Schema.Array(auctionSchemas.Record),
  appointments: Schema.Array(appointmentSchemas.Record),
  timedReleases: Schema.Array(timedReleaseSchemas.Record),
  waitlist: Schema.NullOr(waitlistSchemas.Record).annotate({ description: "Its waitlist; null if it has none." })
}).annotate({ identifier: "SequenceWithMechanisms" })
