/**
 * The description of an API (OpenAPI 3.1), completed from its declaration. The credentials of an operation come from
 * the middleware that checks them. Operations that may be repeated have the header for it. An operation without input
 * has no errors about input.
 */
import { type HttpApi, type HttpApiEndpoint, type HttpApiGroup, OpenApi } from "effect/http-api"
import { type Requirement, securitySchemes } from "./Credentials.ts"
import { IgnoredFields, ignoredFieldsHeader } from "./IgnoredFields.ts"
import { Idempotency, isKept, keyParameter, replayedHeader } from "./Idempotency.ts"
import { isBodyOptional } from "./Validation.ts"

/** The value of `X-Api-Version` and of `info.version` in both descriptions. */
export const apiVersion = "1.0.0"

/** The SPDX identifier of this project's licence. */
const license = { name: "MIT", identifier: "MIT" }

/** Paths are relative to the listener that serves the description. */
const servers = [{ url: "/", description: "The listener that serves this description." }]

/** The API with its title, version, text, and a complete description. */
export const describe = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  options: {
    readonly title: string
    readonly description: string
    /** The webhooks that the API sends to its callers, by type. Made with the description. */
    readonly webhooks?: () => Webhooks
  }
): HttpApi.HttpApi<Id, Groups> =>
  api
    .annotate(OpenApi.Title, options.title)
    .annotate(OpenApi.Version, apiVersion)
    .annotate(OpenApi.Description, options.description)
    .annotate(OpenApi.License, license)
    .annotate(OpenApi.Servers, servers)
    .annotate(OpenApi.Transform, (spec) =>
      opened({
        ...completed(spec as Specification, endpointsOf(Object.values(api.groups))),
        ...(options.webhooks && { webhooks: options.webhooks() })
      })
    )

/** Requests that the API sends, as OpenAPI 3.1 describes them. */
export interface Webhooks {
  readonly [type: string]: { readonly post: object }
}

interface Operation {
  readonly parameters?: ReadonlyArray<unknown>
  readonly requestBody?: object
  readonly responses: { readonly [status: string]: { readonly headers?: object } }
}

interface Specification {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } }
  readonly components: { readonly [section: string]: unknown }
}

type Endpoints = ReadonlyMap<string, HttpApiEndpoint.Top>

function completed(spec: Specification, endpoints: Endpoints): Specification {
  const used = new Set([...endpoints.values()].flatMap(requirementOf).flatMap(Object.keys))
  return {
    ...spec,
    components: {
      ...spec.components,
      headers: {
        ...headersOfEveryResponse,
        ...([...endpoints.values()].some(namesIgnored) && { [ignoredFields]: ignoredFieldsHeader })
      },
      securitySchemes: Object.fromEntries(Object.entries(securitySchemes).filter(([name]) => used.has(name)))
    },
    paths: mapValues(spec.paths, (operations, path) =>
      mapValues(operations, (declared, method) => {
        const endpoint = endpoints.get(`${method} ${path}`)!
        const operation = endpoint.middlewares.has(Idempotency) ? repeatable(declared) : declared
        const security = requirementOf(endpoint)
        return {
          ...operation,
          ...(isBodyOptional(endpoint) && { requestBody: { ...operation.requestBody, required: false } }),
          security,
          responses: mapValues(possible(operation, security), (response, status) =>
            namesIgnored(endpoint) ? withIgnoredFields(withHeaders(response), status) : withHeaders(response)
          )
        }
      })
    )
  }
}

/** The headers that the envelope adds to every response under `/api`, errors included. */
const headersOfEveryResponse = {
  "X-RateLimit-Limit": {
    required: true,
    schema: { type: "integer", minimum: 1 },
    description: "The requests of the window. It describes the limit with the fewest requests left."
  },
  "X-RateLimit-Remaining": {
    required: true,
    schema: { type: "integer", minimum: 0 },
    description: "The requests that the caller has left in the window. A large answer counts for several requests."
  },
  "X-RateLimit-Reset": {
    required: true,
    schema: { type: "integer" },
    description: "The end of the window, in seconds since 1 January 1970."
  },
  "X-Request-Id": {
    required: true,
    schema: { type: "string" },
    description: "The request's id: the one that was sent in this header, or a new one."
  },
  "X-Api-Version": {
    required: true,
    schema: { type: "string", enum: [apiVersion] },
    description: "The version of the API."
  }
} as const

const references = Object.fromEntries(
  Object.keys(headersOfEveryResponse).map((name) => [name, { $ref: `#/components/headers/${name}` }])
)

type Response = Operation["responses"][string]

/** The response with those headers. `Retry-After`, which some declare, is a whole number of seconds. */
const withHeaders = ({ headers, ...response }: Response): Response => {
  const { "retry-after": retryAfter, ...declared } = (headers ?? {}) as { readonly [name: string]: object }
  return {
    ...response,
    headers: {
      ...declared,
      ...(retryAfter !== undefined && {
        "Retry-After": {
          ...retryAfter,
          schema: { type: "integer", minimum: 1 },
          description: "Seconds after which the request should be repeated."
        }
      }),
      ...references
    }
  }
}

/**
 * Objects may have more fields than are described: requests with unknown fields are accepted, and answers may get
 * further fields. A choice with one member becomes that member. Notes for one client library are removed.
 */
function opened<A>(node: A): A {
  if (Array.isArray(node)) return node.map(opened) as A
  if (typeof node !== "object" || node === null) return node
  const entries = Object.entries(node).filter(
    ([key, value]) => key !== "x-effect-stream" && (key !== "additionalProperties" || value !== false)
  )
  const { anyOf, ...rest } = Object.fromEntries(entries.map(([key, value]) => [key, opened(value)]))
  if (Array.isArray(anyOf) && anyOf.length === 1) return { ...anyOf[0], ...rest }
  return (anyOf === undefined ? rest : { anyOf, ...rest }) as A
}

/** The operation with the header that makes it safe to repeat, and with the header that marks a repeated answer. */
function repeatable(operation: Operation): Operation {
  return {
    ...operation,
    parameters: [...(operation.parameters ?? []), keyParameter],
    responses: mapValues(operation.responses, (response, status) =>
      isKept(Number(status)) ? { ...response, headers: { ...response.headers, ...replayedHeader } } : response
    )
  }
}

/**
 * The responses without errors about input that the operation does not have. A consumer that the caller names is input
 * too.
 */
function possible(
  { parameters = [], requestBody, responses }: Operation,
  security: ReadonlyArray<Requirement>
): Operation["responses"] {
  const namesConsumer = security.some((all) => Object.hasOwn(all, "consumerId"))
  const impossible = new Set([
    ...(requestBody === undefined ? ["413", "415"] : []),
    ...(requestBody === undefined && parameters.length === 0 && !namesConsumer ? ["400"] : [])
  ])
  return Object.fromEntries(Object.entries(responses).filter(([status]) => !impossible.has(status)))
}

const ignoredFields = "X-Ignored-Fields"

/** True for an operation with a JSON body, of an API that names ignored fields. */
const namesIgnored = ({ middlewares, payload }: HttpApiEndpoint.Top): boolean =>
  middlewares.has(IgnoredFields) && payload.has("application/json")

/** The response with the header. No operation was reached where the credential or the body's form was refused. */
const withIgnoredFields = (response: Operation["responses"][string], status: string) =>
  ["401", "413", "415"].includes(status)
    ? response
    : {
        ...response,
        headers: { ...response.headers, [ignoredFields]: { $ref: `#/components/headers/${ignoredFields}` } }
      }

/** The declared endpoints, by `method path`. */
function endpointsOf(groups: Iterable<HttpApiGroup.Top>): Endpoints {
  const endpoints = new Map<string, HttpApiEndpoint.Top>()
  for (const group of groups) {
    for (const endpoint of Object.values(group.endpoints) as ReadonlyArray<HttpApiEndpoint.Top>) {
      const path = endpoint.path.replace(/:(\w+)/g, "{$1}")
      endpoints.set(`${endpoint.method.toLowerCase()} ${path}`, endpoint)
    }
  }
  return endpoints
}

/** The credentials that the operation's middleware requires. */
function requirementOf({ middlewares }: HttpApiEndpoint.Top): ReadonlyArray<Requirement> {
  for (const middleware of middlewares) {
    if ("requirement" in middleware) return middleware.requirement as ReadonlyArray<Requirement>
  }
  return []
}

const mapValues = <A, B>(record: { readonly [key: string]: A }, f: (value: A, key: string) => B) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, f(value, key)]))
