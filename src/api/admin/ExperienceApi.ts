/** Experiences on the Admin API: the declaration. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Settings, experienceSorts } from "../../domain/experience/Experience.ts"
import { Id } from "../../domain/values/Ids.ts"
import { Name } from "../../domain/values/Text.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { changeFields } from "./Payloads.ts"
import { StreamKey } from "../Credentials.ts"
import { operationsOn } from "./RecordApi.ts"
import {
  CreateExperience,
  experienceAccessCode,
  ListedExperience,
  offeredProducts,
  sequencesMax,
  ExperienceAggregate
} from "./ExperienceAggregateApi.ts"
import { Distribution } from "./DistributionApi.ts"
import { watchOfExperience } from "./WatchApi.ts"
import { mechanismsMax } from "./SequenceAggregateApi.ts"

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
        `experience's products and its sequences with their mechanisms: at most ${sequencesMax} sequences and ` +
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
