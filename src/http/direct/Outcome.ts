/**
 * Answers of the direct path that HttpApi encodes: failures of handlers, which any operation may have, and answers that
 * no compiled encoder knows. The route is the one of HttpApi, in which the middlewares pass every request, because the
 * direct path has done their work, and the handler returns the outcome.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { type HttpApi, HttpApiBuilder, type HttpApiEndpoint, type HttpApiGroup } from "effect/http-api"
import type { IncomingMessage, ServerResponse } from "node:http"
import { restrictingOrigin } from "../credentials/AllowedOrigins.ts"
import type { KnownCaller } from "./KnownCallers.ts"
import type { LimitStatus } from "../limits/LimitStatus.ts"
import { mark } from "../limits/RateLimit.ts"
import type { Operation } from "./Operations.ts"
import * as Envelope from "../server/Envelope.ts"

/** A request with checked credentials and limits. */
export interface Outcome {
  readonly operation: Operation
  readonly message: IncomingMessage
  readonly response: ServerResponse
  readonly caller: KnownCaller
  readonly limit: LimitStatus
  /** The handler, or an outcome that needs none. */
  readonly effect: Effect.Effect<unknown, unknown>
}

/** The outcome of the request, for the route's handler. */
class CurrentOutcome extends Context.Service<CurrentOutcome, Outcome>()("usher/http/direct/CurrentOutcome") {}

/** Makes the function that answers with an outcome. */
export const make = Effect.fnUntraced(function* (api: HttpApi.Top) {
  const envelope = yield* Envelope.make("consumer")
  const routes = new Map<Operation, Route>()
  const outcomes = new WeakMap<object, Outcome>()

  const routeOf = (operation: Operation): Route => {
    const known = routes.get(operation)
    if (known !== undefined) return known
    const route = compileRoute(api, operation)
    routes.set(operation, route)
    return route
  }

  const app = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const outcome = outcomes.get(request.source)!
    const restricted = restrictingOrigin(request, Effect.succeed(outcome.caller.holder))
    const route = Effect.provideService(routeOf(outcome.operation), CurrentOutcome, outcome)
    return envelope(Effect.andThen(restricted, route) as unknown as Envelope.Handle)
  })

  const handler = yield* NodeHttpServer.makeHandler(app, { scope: yield* Effect.scope }).pipe(
    Effect.provideService(HttpRouter.RouteContext, { route: unrouted, params: {} }),
    Effect.provideService(HttpServerRequest.ParsedSearchParams, {})
  )

  return (outcome: Outcome): void => {
    const { message, response, limit } = outcome
    outcomes.set(message, outcome)
    mark(message, limit)
    handler(message, response)
  }
})

type Route = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | HttpRouter.RouteContext | HttpServerRequest.ParsedSearchParams | CurrentOutcome
>

const unrouted = HttpRouter.route("*", "*", Effect.die("not a route of the router"))

/** The endpoint's route without its input, which has been decoded, and with middlewares that pass every request. */
function compileRoute(api: HttpApi.Top, { group, endpoint }: Operation): Route {
  const bare = Object.create(endpoint, {
    params: { value: undefined },
    query: { value: undefined },
    headers: { value: undefined },
    payload: { value: new Map() }
  }) as HttpApiEndpoint.Top
  const bareGroup = Object.create(group, { endpoints: { value: { [endpoint.identifier]: bare } } }) as HttpApiGroup.Top
  const bareApi = Object.create(api, { groups: { value: { [group.identifier]: bareGroup } } }) as HttpApi.Top
  const pass = <A>(handle: A): A => handle
  const services = Context.makeUnsafe<never>(new Map([...endpoint.middlewares].map(({ key }) => [key, pass])))
  const compile = HttpApiBuilder.endpoint(
    bareApi as never,
    group.identifier as never,
    endpoint.identifier as never,
    outcomeOf as never
  ) as unknown as Effect.Effect<Route>
  return Effect.runSyncWith(services)(compile)
}

const outcomeOf = () => Effect.flatMap(CurrentOutcome, ({ effect }) => effect)
