/**
 * The endpoints that several kinds of mechanism have on the Consumer API. A kind adds its own endpoints and the texts
 * of the description.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { Id } from "../../domain/values/Ids.ts"
import { ConsumerAction, ConsumerStream, PublicRead, ServerAction } from "../Credentials.ts"
import { StatusRead } from "../Annotations.ts"
import { mechanismErrors } from "../MechanismErrors.ts"
import { Redemption, Validity } from "./Grants.ts"

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

/** The paths of a kind's endpoints, and their answers. */
interface Location<Path extends string, Param extends string, State> {
  /** The path of the kind: `queues`. */
  readonly path: Path
  /** The path parameter that names the mechanism: `queueId`. */
  readonly param: Param
  /** A consumer's own standing in a mechanism. */
  readonly State: State
}

/** The endpoints of a consumer, and the public one. A kind chooses the ones it has and adds their texts. */
export const endpointsOf = <
  const Path extends string,
  const Param extends string,
  State extends Schema.Codec<unknown, unknown>,
  Public extends Schema.Top
>({
  Public,
  ...location
}: Location<Path, Param, State> & { readonly Public: Public }) => {
  const { params, one, change } = sharedBy(location)
  const read = { params, error: mechanismErrors.read }
  return {
    get: HttpApiEndpoint.get("get", one, { ...read, success: Public }).middleware(PublicRead),
    enter: HttpApiEndpoint.post("enter", `${one}/enter`, { ...change, error: mechanismErrors.entry }).middleware(
      ConsumerAction
    ),
    leave: HttpApiEndpoint.post("leave", `${one}/leave`, change).middleware(ConsumerAction),
    status: HttpApiEndpoint.get("status", `${one}/status`, { ...change, error: mechanismErrors.read })
      .annotate(StatusRead, true)
      .middleware(ConsumerAction),
    events: HttpApiEndpoint.get("events", `${one}/events`, { params, ...eventsOf(location.State) }).middleware(
      ConsumerStream
    )
  }
}

/** The endpoints of an organization's server, for kinds that grant. `Reason` holds the reasons for which it denies. */
export const grantEndpointsOf = <
  const Path extends string,
  const Param extends string,
  State extends Schema.Codec<unknown, unknown>,
  Reason extends Schema.Codec<unknown, unknown>
>({
  Reason,
  ...location
}: Location<Path, Param, State> & { readonly Reason: Reason }) => {
  const { params, one, change } = sharedBy(location)
  return {
    deny: HttpApiEndpoint.post("deny", `${one}/deny`, {
      ...change,
      payload: Schema.Struct({ consumerId: Id, reason: Reason })
    }).middleware(ServerAction),
    complete: HttpApiEndpoint.post("complete", `${one}/complete`, { ...change, payload: Redemption }).middleware(
      ServerAction
    ),
    validate: HttpApiEndpoint.post("validate", `${one}/validate`, {
      params,
      payload: Schema.Struct({ consumerId: Id, token: Schema.String }),
      success: Validity,
      error: mechanismErrors.read
    }).middleware(ServerAction)
  }
}

/** The parts that endpoints of one mechanism share. */
const sharedBy = <const Path extends string, const Param extends string, State>({
  path,
  param,
  State
}: Location<Path, Param, State>) => {
  const params = { [param]: Id } as { readonly [P in Param]: typeof Id }
  return {
    params,
    one: `/${path}/:${param}` as const,
    change: { params, success: State, error: mechanismErrors.change }
  }
}
