/** An experience with its products, sequences and mechanisms in one body: the schemas that create it and show it. */
import { Schema } from "effect"
import { Experience, Settings } from "../../domain/experience/Experience.ts"
import {
  ExperienceProduct,
  ExperienceProductRef,
  OfferedProduct,
  productsMax
} from "../../domain/experience/ExperienceProduct.ts"
import { NewAccessCode } from "../../domain/experience/Sequence.ts"
import { createFields } from "./Payloads.ts"
import { CreateSequenceWithin, heldTogether, SequenceWithMechanisms } from "./SequenceAggregateApi.ts"

/** Sequences that one request can create with an experience. */
export const sequencesMax = 50

const SequencesWithin = Schema.Array(CreateSequenceWithin).check(Schema.isMaxLength(sequencesMax), heldTogether)

/** The products of an experience in a body. */
export const offeredProducts = Schema.optionalKey(
  Schema.NullOr(
    Schema.Array(OfferedProduct)
      .check(Schema.isMaxLength(productsMax))
      .annotate({ description: "Each product once, or once for each offered variant." })
  )
)

/** The access code of an experience in a body. */
export const experienceAccessCode = Schema.optionalKey(
  Schema.NullOr(
    NewAccessCode.annotate({
      description:
        "Consumers who send this code when they enter can see the experience and all its sequences. A sequence with a " +
        "code of its own requires both codes. Blanks in it count for nothing, and the case of letters counts. The code is never returned. Only the rate limits bound guessing, so choose " +
        "one that cannot be guessed."
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

/** An experience in a list, with the names of its products. */
export const ListedExperience = Schema.Struct({
  ...Experience.fields,
  products: Schema.Array(ExperienceProductRef)
}).annotate({ identifier: "ListedExperience" })

/** An experience with its products and its sequences, higher priority first. */
export const ExperienceAggregate = Schema.Struct({
  ...Experience.fields,
  products: Schema.Array(ExperienceProduct),
  sequences: Schema.Array(SequenceWithMechanisms)
}).annotate({ identifier: "WholeExperience" })
