/** The public facts of an experience as they are now. The line of a queue is among them. They need no credential. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { declarations, type Kind, kinds } from "../../domain/mechanism/Mechanism.ts"
import { StaffReason } from "../../domain/mechanism/Author.ts"
import { Id } from "../../domain/values/Ids.ts"
import { SentTimestamp } from "../../domain/values/Time.ts"
import { Anyone } from "../Credentials.ts"
import { NotFound } from "../Errors.ts"
import { kindSchemas } from "./KindsApi.ts"
import { count, instant } from "./LiveFields.ts"

const Count = Schema.Int

/** Something that staff did to a queue. */
export const LineAct = Schema.Struct({
  at: SentTimestamp,
  act: Schema.Literals(["admitted", "removed", "paused", "resumed", "rate"]),
  reason: Schema.optionalKey(StaffReason),
  count: Schema.optionalKey(Count.annotate({ description: "Number of consumers that were admitted or removed." })),
  outOfOrder: Schema.optionalKey(
    Count.annotate({ description: "Of those admitted: the number that were not first in line." })
  ),
  admitRate: Schema.optionalKey(Count.annotate({ description: "The new rate per minute." }))
}).annotate({ identifier: "LineAct" })

const Line = Schema.Struct({
  order: Schema.Literals(["arrival", "drawn", "lobby", "loyalty"]).annotate({
    description:
      "How tickets were given: by arrival, or first to the lobby by lot. `lobby`: no place has a ticket yet. " +
      "`loyalty`: head starts have moved places, so no ticket gives a position."
  }),
  issued: Count.annotate({ description: "The last ticket." }),
  waiting: Count,
  next: Count.annotate({ description: "The first waiting ticket, or the number after the last ticket if none waits." }),
  runs: Schema.Array(Count).annotate({
    description: "Numbers of tickets from `next` on, alternating: waiting, gone, waiting, and so on."
  }),
  isComplete: Schema.Boolean.annotate({ description: "False if tickets are left out of `runs`." }),
  tally: Schema.Struct({
    byRate: Count,
    byHand: Count,
    outOfOrder: Count.annotate({ description: "Of those by hand: the number that were not first in line." }),
    left: Count,
    removed: Count.annotate({ description: "Denied by staff, at the closing, or by archiving the consumer." })
  }).annotate({ description: "Numbers of tickets that no longer wait, by cause." }),
  acts: Schema.Array(LineAct).annotate({ description: "The last 100 actions of staff, the oldest first." })
}).annotate({ identifier: "Line" })

/** The line without the instant at which it was read. */
export const QueueLine = Schema.Struct({
  queueId: Id,
  lifecycle: Schema.Literals(["scheduled", "open", "settling", "closed"]),
  admitRate: Schema.NullOr(Count),
  paused: Schema.NullOr(Schema.Boolean),
  pauseReason: Schema.NullOr(StaffReason),
  line: Schema.NullOr(Line).annotate({ description: "Null while a queue that has closed is not in memory." })
})

export const lineEndpoint = HttpApiEndpoint.get("line", "/queues/:queueId/line", {
  params: { queueId: Id },
  success: Schema.Struct({
    now: SentTimestamp.annotate({ description: "The server's instant." }),
    ...QueueLine.fields
  }).annotate({ identifier: "QueueLine" }),
  error: NotFound
})
  .middleware(Anyone)
  .annotateMerge(
    OpenApi.annotations({
      summary: "The line of a queue, to be checked",
      description:
        "A waiting consumer has a `ticket` in its standing. Its position is 1 plus the number of waiting tickets between " +
        "`next` and its own, so a page can compute it. `issued` minus `waiting` is the sum of `byRate`, `byHand`, `left` " +
        "and `removed`.\n\nBetween two responses no number decreases and no ticket returns. The tickets that are gone from " +
        "behind a waiting ticket are at most as many as left, were removed or were admitted `outOfOrder`. Two responses " +
        "therefore show whether the rate admitted consumers in order, and what staff did.\n\nThe response is the same for " +
        "every caller for a second. It needs no credential. Only queues of sequences that are for all consumers have it."
    })
  )

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
