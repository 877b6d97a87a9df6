/** The live state of a mechanism as a stream: its events (completions 4, "Live state"). */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { Id } from "../../../domain/values/Ids.ts"

/** The changes in a mechanism's lifecycle. */
export const LifeChange = Schema.Literals(["opened", "closing", "ended", "settled", "archived"])
export type LifeChange = typeof LifeChange.Type

const description =
  "Server-Sent Events. `state`: the mechanism as `GET /distributions/{id}` answers it; first of all, and again when its " +
  "configuration changes. `counters`: its `live` part, once a second at most, if anything in it has changed. `lifecycle`: what " +
  "has happened to it, at once, with where it stands then: `opened`; `closing` (its time has come, and there is something " +
  "outstanding) or `ended` (by an admin); `settled` (nothing is outstanding any more); `archived`. `id` names the state after " +
  "the event: a caller that sends the present one as `Last-Event-ID` does not get the state again. `end`: no further event will come. " +
  "`CLOSED`: the mechanism is archived; `REPLACED`: it has more watchers than it can have, and this was the oldest; " +
  "`CREDENTIALS_ENDED`: come back with another key. A stream that ends without it may be opened again, after the pause in " +
  "`retry`. Every 15 seconds there is a comment. A reader that falls behind gets the whole state when it has caught up."

const describedOfExperience =
  "Server-Sent Events. `state`: all mechanisms of the experience that are not archived, as `GET /distributions` lists them, " +
  "at most 200; first of all. `distribution`: one of them, when it was created or anything in it has changed, once a second " +
  "for its counters, and sooner for its lifecycle and settings. `removed`: one was archived. `id` names the state after the " +
  "event: a caller that sends the present one as `Last-Event-ID` does not get the state again. `end`: no further event will " +
  "come. `CLOSED`: the experience is archived; `REPLACED`: it has more watchers than it can have, and this was the oldest; " +
  "`CREDENTIALS_ENDED`: come back with another key. A stream that ends without it may be opened again, after the pause in " +
  "`retry`. Every 15 seconds there is a comment. A reader that falls behind gets the whole state when it has caught up."

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
