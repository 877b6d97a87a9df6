/** Experiences on the Admin API: the declaration (completions 4, "Experiences"). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Settings } from "../../../domain/experience/Experience.ts"
import { Id } from "../../../domain/values/Ids.ts"
import { Name } from "../../../domain/values/Text.ts"
import * as Experiences from "../../../store/experience/Experiences.ts"
import { Conflict, NotFound } from "../../errors/Errors.ts"
import { changeFields } from "../records/Payloads.ts"
import { operationsOn } from "../records/RecordApi.ts"
import {
  CreateExperience,
  experienceAccessCode,
  ListedExperience,
  offeredProducts,
  sequencesMax,
  ExperienceAggregate
} from "./ExperienceAggregateApi.ts"
import { Distribution } from "../mechanism/DistributionApi.ts"
import { watchOfExperience } from "../mechanism/WatchApi.ts"
import { StreamKey } from "../organization/LastingKey.ts"
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
  name: Schema.optionalKey(Schema.NullOr(Name.annotate({ description: "Default: the original's, marked as a copy." }))),
  shiftSeconds: Schema.optionalKey(
    Schema.NullOr(
      Schema.Int.check(Schema.isBetween({ minimum: -shiftSecondsMax, maximum: shiftSecondsMax })).annotate({
        description: "Every time of the copy is so many seconds after the original's. Default 0."
      })
    )
  )
}).annotate({ identifier: "DuplicateExperience" })

const { create, list, get, change, archive, restore } = operationsOn({
  name: "Experience",
  aNoun: "an experience",
  path: "experiences",
  record: ExperienceAggregate
})

export class ExperienceApi extends HttpApiGroup.make("experiences")
  .add(
    create({
      payload: CreateExperience,
      error: NotFound,
      description: `Time zone and currency default to the organization's, else UTC and USD. An \`openAt\` and a \`closeAt\` that are set bound its mechanisms: the later opening and the earlier closing hold. Where one is not set, the earliest opening or the latest closing of the mechanisms that have one is shown, waitlists aside. With it come its products and its sequences with their mechanisms, at most ${sequencesMax} sequences and ${mechanismsMax} mechanisms, all or nothing: every problem is named by its path, and then nothing is created. Each sequence and mechanism takes what its own operation takes.`
    }),
    list({
      shape: Experiences.shape,
      search: "the name",
      item: ListedExperience,
      page: "ExperienceList",
      description:
        "All that are not archived, or with `archived=true` those that are. Sorted by `openAt`, those without one come last. Products are only named here, and sequences are not shown."
    }),
    get(
      "With what it offers and its sequences: at most 200 of these, those of highest priority, with 1,000 mechanisms, the oldest. Products and variants that are archived are not shown."
    ),
    change({
      payload: ChangeExperience,
      description:
        "Send the fields to change: one that is absent keeps its value, null takes an optional one back to its default. A change of `openAt` or `closeAt` is answered when all its mechanisms have it; the same request completes one that was cut off. What has opened stays open, and what has closed stays closed. Null lifts the bound. `products` replaces what it offers; what it offered before and timed releases name stays theirs. Sequences are changed by themselves, and ignored here. Consumers who have shown an earlier access code need not show a new one."
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
          "A copy with the same settings, products, sequences and mechanisms, all or nothing; nobody has entered any of it, and draws have seeds of their own. Every time is moved by `shiftSeconds`, and must then lie in the future, or the copy would be open or over at once: a 400 says how many seconds are needed. An access code is not known to the server and not copied: what has one in the original is closed to everybody in the copy until it is given one. Archived products are left out. An experience that is larger than one that can be created at once is a 409 `TOO_LARGE`."
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
          description: "One stream of all its mechanisms, as they change."
        })
      ),
    archive({
      description:
        "Ends and archives its mechanisms, archives its sequences, its pages and then itself, and answers the archived record with what was archived with it. It is not found any more afterwards, until it is restored."
    }),
    restore({
      description:
        "What was archived with it stays archived: its sequences and its pages are restored one by one, and its mechanisms have ended for good. Products that were archived since are not shown."
    })
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Experiences",
      description:
        "A release: what it is called and how it looks. Its sequences say which consumers it is for, its mechanisms how they take part."
    })
  ) {}
