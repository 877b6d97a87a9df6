/** Compiles the operations of the direct path from the declaration of an API and the handlers of its groups. */
import { Context, Effect } from "effect"
import type { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Id } from "../../domain/values/Ids.ts"
import { compileEncoder, type JsonEncoder } from "../codecs/JsonEncoder.ts"
import * as KnownCallers from "../credentials/KnownCallers.ts"
import { RateCategory } from "../limits/Limit.ts"
import { type Gate, RateLimits } from "../limits/RateLimits.ts"

/** The input of an operation, decoded. */
export interface Input {
  /** The path parameter, if the operation has one. */
  readonly id: string
}

/** One operation, ready to be run. */
export interface Operation {
  readonly group: HttpApiGroup.Top
  readonly endpoint: HttpApiEndpoint.Top
  readonly findCaller: KnownCallers.FindCaller
  readonly gate: Gate
  /** The handler of the group. It needs the services that the group has, and the caller. */
  readonly handle: (input: Input) => Effect.Effect<unknown, unknown>
  readonly encode: JsonEncoder
}

/** A group with its handlers, as `HttpApiBuilder.group` registers it. */
interface RegisteredGroup {
  readonly handlers: ReadonlyMap<string, RegisteredHandler>
}

interface RegisteredHandler {
  readonly endpoint: HttpApiEndpoint.Top
  readonly handler: (request: object) => Effect.Effect<unknown, unknown>
}

/** The operations by method and path, without the path parameter: `GET /api/queues//status`. */
export const compileOperations = Effect.fnUntraced(function* (api: HttpApi.Top) {
  const services = yield* Effect.context()
  const limits = yield* RateLimits
  const callers = yield* KnownCallers.make
  const operations = new Map<string, Operation>()
  for (const group of Object.values(api.groups) as ReadonlyArray<HttpApiGroup.Top>) {
    const registered = services.mapUnsafe.get(group.key) as RegisteredGroup
    for (const { endpoint, handler } of registered.handlers.values()) {
      const shape = shapeOf(endpoint)
      const findCaller = [...endpoint.middlewares].map((key) => callers.get(key)).find((known) => known !== undefined)
      if (shape === undefined || findCaller === undefined) continue
      const { param, path, encode } = shape
      operations.set(`${endpoint.method} ${path}`, {
        group,
        endpoint,
        findCaller,
        gate: limits.gate("consumer", Context.get(endpoint.annotations, RateCategory)),
        handle: ({ id }) => handler({ endpoint, group, ...(param !== undefined && { params: { [param]: id } }) }),
        encode
      })
    }
  }
  return operations
})

/** The parts of an endpoint that are compiled; undefined if it has a part that is not covered. */
function shapeOf(endpoint: HttpApiEndpoint.Top) {
  const { path, params, query, headers, payload, success } = endpoint
  if (query !== undefined || headers !== undefined || payload.size > 0) return undefined
  const [schema, ...more] = success
  const encode = schema === undefined || more.length > 0 ? undefined : compileEncoder(schema)
  const route = routeOf(path, params)
  return encode === undefined || route === undefined ? undefined : { ...route, encode }
}

/** Covers paths without parameters, and `/api/{group}/:id/{operation}`. */
function routeOf(path: string, params: HttpApiEndpoint.Top["params"]) {
  const [, api, group, param, operation, ...more] = path.split("/")
  if (!path.includes(":")) return params === undefined ? { path, param: undefined } : undefined
  if (api !== "api" || operation === undefined || more.length > 0 || !param!.startsWith(":")) return undefined
  const name = param!.slice(1)
  const fields = (params as unknown as { readonly fields?: { readonly [name: string]: unknown } } | undefined)?.fields
  const isId = fields !== undefined && Object.keys(fields).length === 1 && fields[name] === Id
  return isId ? { path: `/api/${group}//${operation}`, param: name } : undefined
}
