/** Experiences on the Admin API, also with their products, sequences and mechanisms in one body. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Settings, experienceSorts, Experience } from "../../domain/experience/Experience.ts"
import { Id } from "../../domain/values/Ids.ts"
import { Name } from "../../domain/values/Text.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { changeFields, createFields } from "./Payloads.ts"
import { CreateProduct } from "./ProductApi.ts"
import { StreamKey } from "../Credentials.ts"
import { operationsOn } from "./RecordApi.ts"
import { Distribution } from "./DistributionApi.ts"
import { watchOfExperience } from "./WatchApi.ts"
import { mechanismsMax, CreateSequenceWithin, heldTogether, SequenceWithMechanisms } from "./SequenceApi.ts"
import { Finding } from "../../domain/rehearsal/Finding.ts"
import {
  ExperienceProduct,
  ExperienceProductRef,
  OfferedProduct,
  productsMax
} from "../../domain/experience/ExperienceProduct.ts"
import { Timestamp } from "../../domain/values/Time.ts"
import { NewAccessCode } from "../../domain/experience/Sequence.ts"

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

/** Products that one request can create with their experience. */
const newProductsMax = 20

/** The body of `POST /experiences`. */
export const CreateExperience = Schema.Struct({
  ...createFields(Settings.fields, ["name"]),
  accessCode: experienceAccessCode,
  products: offeredProducts,
  newProducts: Schema.optionalKey(
    Schema.NullOr(
      Schema.Array(CreateProduct)
        .check(Schema.isMaxLength(newProductsMax))
        .annotate({ description: "Products that are created too. The experience offers them after `products`." })
    )
  ),
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

/** The body of `PUT /experiences/{id}`. */
export const ChangeExperience = Schema.Struct({
  ...changeFields(Settings.fields, ["name"]),
  accessCode: experienceAccessCode,
  products: offeredProducts
}).annotate({ identifier: "ChangeExperience" })

/** Ten years. */
const shiftSecondsMax = 315_360_000

/** The body of `POST /experiences/{id}/duplicate`, which may be absent. */
export const DuplicateExperience = Schema.Struct({
  name: Schema.optionalKey(
    Schema.NullOr(Name.annotate({ description: "Default: the original's name, marked as a copy." }))
  ),
  shiftSeconds: Schema.optionalKey(
    Schema.NullOr(
      Schema.Int.check(Schema.isBetween({ minimum: -shiftSecondsMax, maximum: shiftSecondsMax })).annotate({
        description: "Moves every time of the copy by this many seconds. Default 0."
      })
    )
  )
}).annotate({ identifier: "DuplicateExperience" })

/** What looks wrong with an experience. */
export const ExperienceCheck = Schema.Struct({
  findings: Schema.Array(Finding).annotate({ description: "Errors first. Empty if nothing looks wrong." })
}).annotate({ identifier: "ExperienceCheck" })

const experience = operationsOn(ExperienceAggregate, {
  name: "Experience",
  aNoun: "an experience",
  path: "experiences"
})

export class ExperienceApi extends HttpApiGroup.make("experiences")
  .add(
    experience.create({
      payload: CreateExperience,
      error: NotFound,
      description:
        "Time zone and currency default to the organization's, else UTC and USD. `openAt` and `closeAt` bound the " +
        "mechanisms: the later opening and the earlier closing apply. An unset `openAt` or `closeAt` is returned as the " +
        "earliest opening or the latest closing of the mechanisms, without waitlists.\n\nThe request also creates the " +
        `experience's \`newProducts\` and its sequences with their mechanisms: at most ${sequencesMax} sequences and ` +
        `${mechanismsMax} mechanisms. It creates all or nothing; a 400 names every problem by its path. Each sequence ` +
        "and mechanism takes the fields of its own operation."
    }),
    experience.list({
      sorts: experienceSorts,
      search: "the name",
      item: ListedExperience,
      page: "ExperienceList",
      description:
        "Lists experiences that are not archived, or with `archived=true` only archived ones. In the order of `openAt`, " +
        "those without one come last. Products are returned by name only; sequences are left out."
    }),
    experience.get(
      "Includes its offered products and at most 200 sequences, those of highest priority. They have at most 1,000 " +
        "mechanisms, the oldest ones. Archived products and variants are left out."
    ),
    experience.change({
      payload: ChangeExperience,
      description:
        "Send only the fields to change. An absent field keeps its value; null resets an optional one to its default. A " +
        "change of `openAt` or `closeAt` is answered when all mechanisms have it. If the request is cut off, the same " +
        "request completes it. Open mechanisms stay open, and closed ones stay closed. Null removes the " +
        "bound.\n\n`products` replaces the offered products. Products that a timed release names stay available there. " +
        "Sequences have operations of their own and are ignored here. Consumers who have sent an earlier access code " +
        "need not send a new one."
    }),
    HttpApiEndpoint.post("duplicateExperience", "/experiences/:id/duplicate", {
      params: { id: Id },
      payload: [DuplicateExperience, Schema.Null],
      success: ExperienceAggregate.pipe(HttpApiSchema.status(201)),
      error: [NotFound, Conflict]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Duplicate an experience",
        description:
          "Copies settings, products, sequences and mechanisms, all or nothing. The copy has no entries, and its draws " +
          "have new seeds. Every time moves by `shiftSeconds` and must then lie in the future; otherwise a 400 says how " +
          "many seconds are needed.\n\nAccess codes are not copied, because the server stores only their hashes. In the " +
          "copy, an experience or sequence with a code stays closed to all consumers until it gets a new code. Archived " +
          "products are left out. An experience larger than one request can create is a 409 `TOO_LARGE`."
      })
    ),
    HttpApiEndpoint.get("watchExperience", "/experiences/:id/events", {
      params: { id: Id },
      headers: { "last-event-id": Schema.optionalKey(Schema.String) },
      success: watchOfExperience(Distribution),
      error: NotFound
    })
      .middleware(StreamKey)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Follow an experience",
          description: "One stream of all changes of its mechanisms."
        })
      ),
    HttpApiEndpoint.get("checkExperience", "/experiences/:id/check", {
      params: { id: Id },
      query: {
        at: Schema.optionalKey(
          Timestamp.annotate({
            description:
              "Checks as of this instant, as if nothing were over and nobody had ended anything. Default: now."
          })
        )
      },
      success: ExperienceCheck,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Check an experience",
        description:
          "Says what looks wrong before it opens, and in which record it is mended: a mechanism that opens after its " +
          "experience closes, a rate at which the last would wait until Thursday, more units than stock, a language " +
          "without a text, no webhook for orders, a draw without beacon, and more. It reads settings alone and changes " +
          "nothing. Mechanisms that an admin has ended are left out. Words of messages may change, codes do not."
      })
    ),
    experience.archive({
      description:
        "Ends and archives its mechanisms, then archives its sequences, its pages and itself. Returns the archived " +
        "record with everything that was archived with it. The experience is then not found until it is restored."
    }),
    experience.restore({
      description:
        "Sequences and pages that were archived with it stay archived; restore them one by one. Its mechanisms have " +
        "ended permanently. Products that were archived since are left out."
    })
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Experiences",
      description:
        "A release: its name and its look. Its sequences say for which consumers it is; its mechanisms say how they take " +
        "part."
    })
  ) {}
