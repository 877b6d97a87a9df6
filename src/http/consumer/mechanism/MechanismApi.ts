/**
 * The endpoints that several kinds of mechanism have on the Consumer API (interface document 2.8; completions 3). A
 * kind adds its own endpoints and the texts of the description.
 */
import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { Id } from "../../../domain/values/Ids.ts"
import { ConsumerAction, ConsumerStream, PublicRead, ServerAction, StatusRead } from "../../credentials/Credentials.ts"
import { answersTo } from "../../errors/Refusals.ts"
import { Redemption, Validity } from "./GrantAnswers.ts"
import { eventsOf } from "./LiveApi.ts"

/** The paths of a kind's endpoints, and their answers. */
interface Location<Path extends string, Param extends string, State> {
  /** The path of the kind: `/queues`. */
  readonly path: `/${Path}`
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
  path,
  param,
  State,
  Public
}: Location<Path, Param, State> & { readonly Public: Public }) => {
  const params = paramsOf(param)
  const one = `${path}/:${param}` as const
  const change = { params, success: State, error: answersTo.change }
  const read = { params, error: answersTo.read }
  return {
    get: HttpApiEndpoint.get("get", one, { ...read, success: Public }).middleware(PublicRead),
    enter: HttpApiEndpoint.post("enter", `${one}/enter`, {
      params,
      success: State,
      error: answersTo.entry
    }).middleware(ConsumerAction),
    leave: HttpApiEndpoint.post("leave", `${one}/leave`, change).middleware(ConsumerAction),
    status: HttpApiEndpoint.get("status", `${one}/status`, { ...read, success: State })
      .annotate(StatusRead, true)
      .middleware(ConsumerAction),
    events: HttpApiEndpoint.get("events", `${one}/events`, { params, ...eventsOf(State) }).middleware(ConsumerStream)
  }
}

/** The endpoints of an organization's server, for kinds that grant. `Reason` holds the reasons for which it denies. */
export const grantEndpointsOf = <
  const Path extends string,
  const Param extends string,
  State extends Schema.Codec<unknown, unknown>,
  Reason extends Schema.Codec<unknown, unknown>
>({
  path,
  param,
  State,
  Reason
}: Location<Path, Param, State> & { readonly Reason: Reason }) => {
  const params = paramsOf(param)
  const one = `${path}/:${param}` as const
  const change = { params, success: State, error: answersTo.change }
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
      error: answersTo.read
    }).middleware(ServerAction)
  }
}

/** The path parameters of one mechanism. */
const paramsOf = <Param extends string>(param: Param) => ({ [param]: Id }) as { readonly [P in Param]: typeof Id }
