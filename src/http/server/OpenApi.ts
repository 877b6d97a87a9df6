/**
 * The description of an API (OpenAPI 3.1), completed with what follows from the declaration: which credentials each
 * operation accepts comes from the middleware that checks them, those that may be repeated take a key to do so, and an
 * operation that takes nothing is not said to refuse what it was sent.
 */
import { type HttpApi, type HttpApiEndpoint, type HttpApiGroup, OpenApi } from "effect/http-api"
import { apiVersion } from "./Envelope.ts"
import { type Requirement, securitySchemes } from "../credentials/SecuritySchemes.ts"
import { isKept } from "../idempotency/IdempotentResponses.ts"
import { Idempotency, keyParameter, replayedHeader } from "../idempotency/Idempotency.ts"
import { isBodyOptional } from "../errors/Validation.ts"

/** The licence of this project, by its SPDX identifier. */
const license = { name: "MIT", identifier: "MIT" }

/** The paths begin where the description was got. */
const servers = [{ url: "/", description: "The listener that serves this description." }]

/** The API with its title, version and text, and with a description that is complete. */
export const describe = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  options: { readonly title: string; readonly description: string }
): HttpApi.HttpApi<Id, Groups> =>
  api
    .annotate(OpenApi.Title, options.title)
    .annotate(OpenApi.Version, apiVersion)
    .annotate(OpenApi.Description, options.description)
    .annotate(OpenApi.License, license)
    .annotate(OpenApi.Servers, servers)
    .annotate(OpenApi.Transform, (spec) =>
      opened(completed(spec as Specification, endpointsOf(Object.values(api.groups))))
    )

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
          responses: possible(operation, security)
        }
      })
    )
  }
}

/**
 * Objects may have more fields than are described: in requests they are ignored, in answers they may be added. A choice
 * of one is no choice. And what is said of streams for one client library is nobody else's business.
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

/** The operation with the header that makes it safe to repeat, and the one that marks what was answered before. */
function repeatable(operation: Operation): Operation {
  return {
    ...operation,
    parameters: [...(operation.parameters ?? []), keyParameter],
    responses: mapValues(operation.responses, (response, status) =>
      isKept(Number(status)) ? { ...response, headers: { ...response.headers, ...replayedHeader } } : response
    )
  }
}

/** The responses without those to input that the operation does not take. A consumer that is named is input too. */
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

/** The operations as they are declared, by `method path`. */
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

/** What the operation's credential middleware asks for. */
function requirementOf({ middlewares }: HttpApiEndpoint.Top): ReadonlyArray<Requirement> {
  for (const middleware of middlewares) {
    if ("requirement" in middleware) return middleware.requirement as ReadonlyArray<Requirement>
  }
  return []
}

const mapValues = <A, B>(record: { readonly [key: string]: A }, f: (value: A, key: string) => B) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, f(value, key)]))
