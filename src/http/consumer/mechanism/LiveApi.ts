/** Live updates on the Consumer API: the declaration, for every kind of mechanism (completions 3, "Live updates"). */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { answersTo } from "../../errors/Refusals.ts"

const description =
  "Server-Sent Events. `state`: how the consumer stands, as `…/status` says it: first as it is, then at once whenever its " +
  "own place changes, and at most once a second while only its position does; `id` is the mechanism's sequence. A caller " +
  "that sends the present one as `Last-Event-ID` does not get the same state again. `end`: no further event will come. `CLOSED`: " +
  "nothing will change any more; `REPLACED`: the consumer has opened more than five streams, and this was the oldest; " +
  "`CREDENTIALS_ENDED`: come back with new ones. A stream that ends without it may be opened again, after the pause in " +
  "`retry`. Every 15 seconds there is a comment."

const State = Schema.Literal("state")
const End = Schema.Struct({ reason: Schema.Literals(["CLOSED", "REPLACED", "CREDENTIALS_ENDED"]) })

/**
 * The input and the answers of `GET …/events`, given the schema of the answer to `…/status`. The middleware is
 * `ConsumerStream`.
 */
export const eventsOf = <A extends Schema.Codec<unknown, unknown>>(state: A) => ({
  headers: { "last-event-id": Schema.optionalKey(Schema.String) },
  success: HttpApiSchema.StreamSse({
    events: Schema.Union([
      Schema.Struct({ id: Schema.String, event: State, data: Schema.fromJsonString(Schema.toCodecJson(state)) }),
      Schema.Struct({ event: Schema.Literal("end"), data: Schema.fromJsonString(End) })
    ]).annotate({ description })
  }),
  error: answersTo.read
})
