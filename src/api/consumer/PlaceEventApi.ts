/** Live updates on the Consumer API: the declaration, for every kind of mechanism. */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { mechanismErrors } from "../MechanismErrors.ts"

const description =
  "Server-Sent Events. `state`: the consumer's standing as `…/status` returns it. It comes first as it is, at once " +
  "when the consumer's own place changes, and at most once a second for a change of position alone. `id` is the " +
  "mechanism's sequence: a caller that sends the present one as `Last-Event-ID` does not get the same state again. " +
  "`end`: no further event will come. Its reason is `CLOSED` (nothing will change any more), `REPLACED` (the " +
  "consumer has opened more than five streams, and this was the oldest) or `CREDENTIALS_ENDED` (connect again with " +
  "new ones). After any other end of the stream, connect again after the pause in `retry`. Every 15 seconds there " +
  "is a comment."

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
  error: mechanismErrors.read
})
