/** The live state of a mechanism as a stream: its events. */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { Id } from "../../domain/values/Ids.ts"

/** The changes in a mechanism's lifecycle. */
export const LifeChange = Schema.Literals(["opened", "closing", "ended", "settled", "archived"])
export type LifeChange = typeof LifeChange.Type

const description =
  "Server-Sent Events. `state`: the mechanism as `GET /distributions/{id}` returns it, first of all and after a " +
  "change of its configuration. `counters`: its `live` part, at most once a second, if anything in it has changed. " +
  "`lifecycle`: a change of its state, at once. It is `opened`, `closing` (the closing time passed and work is " +
  "outstanding), `ended` (by an admin), `settled` (no work is outstanding) or `archived`. `id` names the state " +
  "after the event: a caller that sends the present one as `Last-Event-ID` does not get the state again. `end`: no " +
  "further event will come. Its reason is `CLOSED` (the mechanism is archived), `REPLACED` (the mechanism has too " +
  "many watchers, and this was the oldest) or `CREDENTIALS_ENDED` (connect again with another key). After any " +
  "other end of the stream, connect again after the pause in `retry`. Every 15 seconds there is a comment. A " +
  "reader that falls behind gets the whole state when it has caught up."

const describedOfExperience =
  "Server-Sent Events. `state`: all mechanisms of the experience that are not archived, as `GET /distributions` " +
  "lists them, at most 200; first of all. `distribution`: one mechanism that was created or has changed. It comes " +
  "at most once a second for counters, and at once for lifecycle and settings. `removed`: one mechanism was " +
  "archived. `id` names the state after the event: a caller that sends the present one as `Last-Event-ID` does not " +
  "get the state again. `end`: no further event will come. Its reason is `CLOSED` (the experience is archived), " +
  "`REPLACED` (the experience has too many watchers, and this was the oldest) or `CREDENTIALS_ENDED` (connect " +
  "again with another key). After any other end of the stream, connect again after the pause in `retry`. Every 15 " +
  "seconds there is a comment. A reader that falls behind gets the whole state when it has caught up."

const json = <S extends Schema.Constraint>(schema: S) => Schema.fromJsonString(Schema.toCodecJson(schema))

const id = Schema.optionalKey(Schema.String)

const End = Schema.Struct({
  event: Schema.Literal("end"),
  data: json(Schema.Struct({ reason: Schema.Literals(["CLOSED", "REPLACED", "CREDENTIALS_ENDED"]) }))
})

/** The answer of `GET /experiences/{id}/events`, given the schema of a distribution. */
export const watchOfExperience = <A extends Schema.Constraint>(distribution: A) =>
  HttpApiSchema.StreamSse({
    events: Schema.Union([
      Schema.Struct({
        id,
        event: Schema.Literal("state"),
        data: json(Schema.Struct({ distributions: Schema.Array(distribution) }))
      }),
      Schema.Struct({ id, event: Schema.Literal("distribution"), data: json(distribution) }),
      Schema.Struct({ id, event: Schema.Literal("removed"), data: json(Schema.Struct({ id: Id })) }),
      End
    ]).annotate({ description: describedOfExperience })
  })

/** The answer of `GET /distributions/{id}/events`, given the schemas of a distribution and of its parts. */
export const watchOf = <A extends Schema.Constraint, L extends Schema.Constraint, S extends Schema.Constraint>(parts: {
  readonly distribution: A
  readonly live: L
  readonly lifecycle: S
}) =>
  HttpApiSchema.StreamSse({
    events: Schema.Union([
      Schema.Struct({ id, event: Schema.Literal("state"), data: json(parts.distribution) }),
      Schema.Struct({ id, event: Schema.Literal("counters"), data: json(parts.live) }),
      Schema.Struct({ id, event: Schema.Literal("lifecycle"), data: json(parts.lifecycle) }),
      End
    ]).annotate({ description })
  })
