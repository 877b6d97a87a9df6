/** Compiles the operations of the direct path from the declaration of an API and the handlers of its groups. */
import { Context, Effect, type Schema, SchemaAST } from "effect"
import type { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"
import { Id } from "../../domain/values/Ids.ts"
import { compileDecoder, type JsonDecoder } from "./JsonDecoder.ts"
import { compileEncoder, type JsonEncoder } from "./JsonEncoder.ts"
import type { RouteMeasures } from "../../measures/HttpMeasures.ts"
import { Measures } from "../../measures/Measures.ts"
import * as KnownCallers from "./KnownCallers.ts"
import type { RequestFacts } from "../server/Origins.ts"
import { registeredGroups } from "../server/RegisteredGroups.ts"
import { CompletePathOnly, RateCategory } from "../../api/Annotations.ts"
import { type OperationLimit, RateLimits } from "../limits/RateLimits.ts"

/** The input of an operation, decoded. */
export interface Input {
  /** The path parameter, if the operation has one. */
  readonly id: string
  readonly payload?: unknown
  readonly message: IncomingMessage
}

/** One operation, ready to be run. */
export interface Operation {
  readonly group: HttpApiGroup.Top
  readonly endpoint: HttpApiEndpoint.Top
  readonly findCaller: KnownCallers.FindCaller
  /** Absent if no caller needs a token. */
  readonly lookUpCaller: KnownCallers.LookUpCaller | undefined
  readonly limit: OperationLimit
  readonly measures: RouteMeasures
  /** The headers that only HttpApi reads: a request that has one of them is left to it. */
  readonly headersOfHttpApi: ReadonlyArray<string>
  /** Absent if the operation takes no body. */
  readonly decode: JsonDecoder | undefined
  /** The handler of the group. It needs the services that the group has, and the caller. */
  readonly handle: (input: Input) => Effect.Effect<unknown, unknown>
  /** Absent if only HttpApi can encode the answer: a stream, or a schema that cannot be compiled. */
  readonly encode: JsonEncoder | undefined
}

/** The operations by method and path, without the path parameter: `GET /api/queues//status`. */
export const compileOperations = Effect.fnUntraced(function* (api: HttpApi.Top) {
  const services = yield* Effect.context()
  const limits = yield* RateLimits
  const { http } = yield* Measures
  const callers = yield* KnownCallers.make
  const operations = new Map<string, Operation>()
  for (const { group, handlers } of registeredGroups(api, services)) {
    for (const { endpoint, handler } of handlers.values()) {
      const shape = shapeOf(endpoint)
      const caller = [...endpoint.middlewares].map((key) => callers.get(key)).find((known) => known !== undefined)
      if (shape === undefined || caller === undefined) continue
      const { param, path, decode, encode, hasHeaders, headersOfHttpApi } = shape
      const { find, lookUpCaller, around } = caller
      const run = ({ id, payload, message }: Input) =>
        handler({
          endpoint,
          group,
          request: { source: message, headers: message.headers } satisfies RequestFacts,
          ...(param !== undefined && { params: { [param]: id } }),
          ...(decode !== undefined && { payload }),
          ...(hasHeaders && { headers: streamHeaders(message.headers) })
        })
      operations.set(`${endpoint.method} ${path}`, {
        group,
        endpoint,
        findCaller: find,
        lookUpCaller,
        limit: limits.ofOperation("consumer", Context.get(endpoint.annotations, RateCategory)),
        measures: http.consumer.route(endpoint.method, endpoint.path),
        headersOfHttpApi,
        decode,
        handle: around === undefined ? run : (input) => around(run(input)),
        encode: around === undefined ? encode : undefined
      })
    }
  }
  return operations
})

/** The parts of an endpoint; undefined if it has a part that the direct path does not cover. */
function shapeOf(endpoint: HttpApiEndpoint.Top) {
  const { path, params, query, headers, payload, success } = endpoint
  if (query !== undefined || Context.get(endpoint.annotations, CompletePathOnly)) return undefined
  const fields = fieldsOf(headers)
  const headersOfHttpApi = fields.map(({ name }) => String(name)).filter((name) => name !== "last-event-id")
  const { "application/json": json, ...otherBodies } = Object.fromEntries(payload)
  const decode = json === undefined ? undefined : compileDecoder(json.schemas)
  const isBodyCovered = Object.keys(otherBodies).length === 0 && (json === undefined || decode !== undefined)
  const route = routeOf(path, params)
  if (route === undefined || !isBodyCovered || !fields.every(isOptional)) return undefined
  const [schema, ...more] = success
  const isPlain = schema !== undefined && more.length === 0 && !isSpecial(schema.ast)
  return {
    ...route,
    decode,
    encode: isPlain ? compileEncoder(schema) : undefined,
    hasHeaders: fields.length > 0,
    headersOfHttpApi
  }
}

/** True if the answer has another status than 200, or is not JSON. */
const isSpecial = ({ annotations, context }: SchemaAST.AST): boolean =>
  [annotations, context?.annotations].some((some) => some?.["httpApiStatus"] ?? some?.["~httpApiEncoding"])

/** The header that streams read. */
const streamHeaders = ({ "last-event-id": sent }: IncomingHttpHeaders) => ({
  ...(sent !== undefined && { "last-event-id": sent })
})

const fieldsOf = (schema: Schema.Top | undefined): ReadonlyArray<SchemaAST.PropertySignature> =>
  schema !== undefined && SchemaAST.isObjects(schema.ast) ? schema.ast.propertySignatures : []

const isOptional = ({ type }: SchemaAST.PropertySignature): boolean => SchemaAST.isOptional(type)

/** Covers paths without parameters, and `/api/{group}/:id/{operation}`. */
function routeOf(path: string, params: HttpApiEndpoint.Top["params"]) {
  const [, api, group, param, operation, ...more] = path.split("/")
  if (!path.includes(":")) return params === undefined ? { path, param: undefined } : undefined
  if (api !== "api" || operation === undefined || more.length > 0 || !param!.startsWith(":")) return undefined
  const name = param!.slice(1)
  const [field, ...others] =
    params !== undefined && SchemaAST.isObjects(params.ast) ? params.ast.propertySignatures : []
  const isId = others.length === 0 && field?.name === name && field.type === Id.ast
  return isId ? { path: `/api/${group}//${operation}`, param: name } : undefined
}
