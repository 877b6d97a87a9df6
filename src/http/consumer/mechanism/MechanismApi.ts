/**
 * The endpoints that several kinds of mechanism have on the Consumer API. A kind adds its own endpoints and the texts
 * of the description.
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
  const read = { params, error: answersTo.read }
  return {
    get: HttpApiEndpoint.get("get", one, { ...read, success: Public }).middleware(PublicRead),
    enter: HttpApiEndpoint.post("enter", `${one}/enter`, { ...change, error: answersTo.entry }).middleware(
      ConsumerAction
    ),
    leave: HttpApiEndpoint.post("leave", `${one}/leave`, change).middleware(ConsumerAction),
    status: HttpApiEndpoint.get("status", `${one}/status`, { ...change, error: answersTo.read })
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
      error: answersTo.read
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
  return { params, one: `/${path}/:${param}` as const, change: { params, success: State, error: answersTo.change } }
}
