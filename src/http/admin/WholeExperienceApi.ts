/**
 * An experience with everything below it, in one body: what creates it, and what it is shown as (interface document 2.6 to
 * 2.8; completions 4, "Create").
 */
import { Schema } from "effect"
import { Experience, Settings } from "../../domain/Experience.ts"
import { ExperienceProduct, ExperienceProductRef, OfferedProduct, productsMax } from "../../domain/ExperienceProduct.ts"
import type { LiveKind } from "../../domain/Mechanism.ts"
import { AccessCode, Sequence, Settings as SequenceSettings } from "../../domain/Sequence.ts"
import { appointmentSchemas } from "./AppointmentApi.ts"
import { auctionSchemas } from "./AuctionApi.ts"
import { drawSchemas } from "./DrawApi.ts"
import { createFields, notAvailableYet } from "./Payloads.ts"
import { queueSchemas } from "./QueueApi.ts"
import { timedReleaseSchemas } from "./TimedReleaseApi.ts"
import { waitlistSchemas } from "./WaitlistApi.ts"

/** Sequences that can be created with an experience. */
export const sequencesMax = 50

/** Mechanisms that can be created with an experience, in all of its sequences. */
export const mechanismsMax = 200

/** The fields of a sequence that hold its mechanisms; a waitlist stands alone, the others in lists. */
export const kindOfField = {
  queues: "queue",
  draws: "draw",
  auctions: "auction",
  appointments: "appointment",
  timedReleases: "timed_release",
  waitlist: "waitlist"
} as const satisfies { readonly [field: string]: LiveKind }
export type MechanismField = keyof typeof kindOfField

const some = <S extends Schema.Constraint>(item: S) =>
  Schema.optionalKey(Schema.NullOr(Schema.Array(item).check(Schema.isMaxLength(mechanismsMax))))

/** A sequence that is created with its experience, and the mechanisms that are created with it. */
export const CreateSequenceWithin = Schema.Struct({
  ...createFields(SequenceSettings.fields, ["name"]),
  accessCode: Schema.optionalKey(Schema.NullOr(AccessCode)),
  queues: some(queueSchemas.CreateWithin),
  draws: some(drawSchemas.CreateWithin),
  auctions: some(auctionSchemas.CreateWithin),
  appointments: some(appointmentSchemas.CreateWithin),
  timedReleases: some(timedReleaseSchemas.CreateWithin),
  waitlist: Schema.optionalKey(Schema.NullOr(waitlistSchemas.CreateWithin)),
  ...notAvailableYet(["sequenceProducts"])
}).annotate({ identifier: "CreateSequenceWithin" })

type Sequences = ReadonlyArray<{ readonly [F in MechanismField]?: unknown }>

/** How many mechanisms the sequences hold. */
const mechanismCount = (sequences: Sequences): number =>
  sequences.reduce((sum, sequence) => {
    const held = Object.keys(kindOfField).map((field) => sequence[field as MechanismField] ?? [])
    return sum + held.reduce((count: number, value) => count + (Array.isArray(value) ? value.length : 1), 0)
  }, 0)

const SequencesWithin = Schema.Array(CreateSequenceWithin).check(
  Schema.isMaxLength(sequencesMax),
  Schema.makeFilter((sequences: Sequences) => mechanismCount(sequences) <= mechanismsMax, {
    expected: `at most ${mechanismsMax} mechanisms in all`,
    representation: { id: "usher/max_length", payload: null },
    toJsonSchema: () => ({})
  })
)

/** What an experience offers, as a body names it. */
export const offeredProducts = Schema.optionalKey(
  Schema.NullOr(
    Schema.Array(OfferedProduct)
      .check(Schema.isMaxLength(productsMax))
      .annotate({ description: "Each product once; or once for each of its variants that is offered." })
  )
)

/** The body's access code of an experience. */
export const experienceAccessCode = Schema.optionalKey(
  Schema.NullOr(
    AccessCode.annotate({
      description:
        "Opens the experience, and all of its sequences, to consumers who show it when they enter the experience. A sequence that has one of its own asks for both. Never shown again. How often one may be tried, the rate limits alone say: choose one that cannot be guessed."
    })
  )
)

/** The body of `POST /experiences`. */
export const CreateExperience = Schema.Struct({
  ...createFields(Settings.fields, ["name"]),
  accessCode: experienceAccessCode,
  products: offeredProducts,
  sequences: Schema.optionalKey(Schema.NullOr(SequencesWithin))
}).annotate({ identifier: "CreateExperience" })

/** A sequence with its mechanisms, each kind in the order of creation. */
const SequenceWithMechanisms = Schema.Struct({
  ...Sequence.fields,
  queues: Schema.Array(queueSchemas.Record),
  draws: Schema.Array(drawSchemas.Record),
  auctions: Schema.Array(auctionSchemas.Record),
  appointments: Schema.Array(appointmentSchemas.Record),
  timedReleases: Schema.Array(timedReleaseSchemas.Record),
  waitlist: Schema.NullOr(waitlistSchemas.Record).annotate({ description: "The first of its waitlists." })
}).annotate({ identifier: "SequenceWithMechanisms" })

/** An experience with what it offers. */
export const ExperienceWithProducts = Schema.Struct({
  ...Experience.fields,
  products: Schema.Array(ExperienceProduct)
}).annotate({ identifier: "ExperienceWithProducts" })

/** An experience in a list, with what it offers by name alone. */
export const ListedExperience = Schema.Struct({
  ...Experience.fields,
  products: Schema.Array(ExperienceProductRef)
}).annotate({ identifier: "ListedExperience" })

/** An experience with what it offers and its sequences, higher priority first. */
export const WholeExperience = Schema.Struct({
  ...ExperienceWithProducts.fields,
  sequences: Schema.Array(SequenceWithMechanisms)
}).annotate({ identifier: "WholeExperience" })
