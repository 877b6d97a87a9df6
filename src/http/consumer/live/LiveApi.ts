/** The public facts of an experience as they are now: the declaration. They need no credential. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { declarations, type Kind, kinds } from "../../../domain/mechanism/Mechanism.ts"
import { Id } from "../../../domain/values/Ids.ts"
import { SentTimestamp } from "../../../domain/values/Time.ts"
import { Anyone } from "../../credentials/Anyone.ts"
import { NotFound } from "../../errors/Errors.ts"
import { kindSchemas } from "../mechanism/KindsApi.ts"
import { lineEndpoint } from "./LineApi.ts"
import { count, instant } from "./LiveFieldsApi.ts"

const commonFields = {
  sequenceId: Id,
  name: Schema.String,
  lifecycle: Schema.Literals(["scheduled", "open", "settling", "closed"]),
  openAt: instant,
  closeAt: instant.annotate({ description: "The present closing: late bids move an auction's." }),
  entries: count("Consumers that have entered or booked, and did not leave.")
}

type Live<K extends Kind> = Schema.Struct<
  { readonly id: typeof Id; readonly kind: Schema.Literal<K> } & typeof commonFields &
    Pick<(typeof kindSchemas)[K]["live"], keyof (typeof kindSchemas)[K]["live"]>
>

const liveOf = (kind: Kind) =>
  Schema.Struct({ id: Id, kind: Schema.Literal(kind), ...commonFields, ...kindSchemas[kind].live }).annotate({
    identifier: `Live${declarations[kind].name}`
  })

/** The facts of one mechanism. */
export const LiveMechanism = Schema.Union(
  kinds.map(liveOf) as ReadonlyArray<unknown> as ReadonlyArray<{ [K in Kind]: Live<K> }[Kind]>
).annotate({ identifier: "LiveMechanism" })

/** The facts without the instant at which they were read. */
export const LiveFacts = Schema.Struct({
  experienceId: Id,
  name: Schema.String,
  mechanisms: Schema.Array(LiveMechanism)
})

const Live = Schema.Struct({
  now: SentTimestamp.annotate({ description: "The server's instant." }),
  ...LiveFacts.fields
}).annotate({ identifier: "LiveExperience" })

const json = <S extends Schema.Constraint>(schema: S) => Schema.fromJsonString(Schema.toCodecJson(schema))

const streamed =
  "Server-Sent Events. `live`: the result of `…/live`, first as it is, then whenever a fact changes, at most once " +
  "a second. `id` names the facts: a caller that sends the present one as `Last-Event-ID` does not get them again. " +
  "`end`: no further event will come. Its reason is `CLOSED`: the experience is archived. After any other end of " +
  "the stream, connect again after the pause in `retry`. Every 15 seconds there is a comment."

const params = { experienceId: Id }

export class LiveGroup extends HttpApiGroup.make("live")
  .add(
    HttpApiEndpoint.get("live", "/experiences/:experienceId/live", { params, success: Live, error: NotFound })
      .middleware(Anyone)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get the live facts of an experience",
          description:
            "The public facts of its mechanisms. It covers sequences that are for all consumers, and so none of an " +
            "experience with an access code. The facts come from memory and are the same for every caller for a second, so " +
            "caches may keep them that long. The `ETag` names the facts without `now`: a 304 has the server's time in `Date` " +
            "only. Fields are null while a closed mechanism is not in memory. It needs no credential: the id, in live or in " +
            "test mode, is enough."
        })
      ),
    HttpApiEndpoint.get("liveEvents", "/experiences/:experienceId/live/events", {
      params,
      headers: { "last-event-id": Schema.optionalKey(Schema.String) },
      success: HttpApiSchema.StreamSse({
        events: Schema.Union([
          Schema.Struct({ id: Schema.String, event: Schema.Literal("live"), data: json(Live) }),
          Schema.Struct({
            event: Schema.Literal("end"),
            data: json(Schema.Struct({ reason: Schema.Literals(["CLOSED"]) }))
          })
        ]).annotate({ description: streamed })
      }),
      error: NotFound
    })
      .middleware(Anyone)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Follow the live facts of an experience",
          description: "The facts of `…/live` as a stream, the same for all callers."
        })
      )
  )
  .add(lineEndpoint)
  .annotateMerge(
    OpenApi.annotations({
      title: "Live facts",
      description: "The public facts of a running experience, without a credential."
    })
  ) {}
