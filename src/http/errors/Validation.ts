/**
 * What holds for every operation of both APIs, declared once on the API: a malformed request is a 400 that names all its
 * issues; plain HTTP through an open network a 403; a body too large a 413, one that is not JSON a 415; a defect a 500; a
 * store out of reach a 503.
 *
 * A request is decoded the quick way first, which stops at the first issue. Only if that fails are all its parts decoded
 * again to collect every issue.
 */
import { Effect, type Layer, Result, Schema, SchemaAST } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { type HttpApiEndpoint, type HttpApiError, HttpApiMiddleware } from "effect/http-api"
import {
  HttpsRequired,
  InternalError,
  type Issue,
  PayloadTooLarge,
  ServiceUnavailableWithHeaders,
  UnsupportedMediaType,
  ValidationError
} from "./Errors.ts"
import { issuesMax, issuesOf, notJson } from "./Issues.ts"

/** The middleware every API has; its errors belong to every operation that can have them. */
export class Validation extends HttpApiMiddleware.Service<Validation>()("usher/http/errors/Validation", {
  error: [
    ValidationError,
    HttpsRequired,
    PayloadTooLarge,
    UnsupportedMediaType,
    InternalError,
    ServiceUnavailableWithHeaders
  ]
}) {
  static readonly layer: Layer.Layer<Validation> = HttpApiMiddleware.layerSchemaErrorTransform(
    Validation,
    (error, { endpoint }) =>
      // A reply that does not fit its own schema is our defect, not the caller's mistake.
      error.kind === "Body" || error.kind === "ResponseHeaders" ? Effect.die(error.cause) : invalid(error, endpoint)
  )
}

/** Fails with a 400 for a value that was checked outside the schemas. */
export const invalidInput = (issues: ReadonlyArray<Issue>): ValidationError =>
  new ValidationError({ error: "validation_error", issues })

type Decode = (input: unknown) => Result.Result<unknown, Schema.SchemaError>

interface Decoders {
  readonly params: Decode | undefined
  readonly query: Decode | undefined
  readonly headers: Decode | undefined
  readonly payload: Decode | undefined
  /** What a body that was not sent is decoded from, as the API's own decoder has it. */
  readonly emptyBody: null | undefined
}

const decodersByEndpoint = new WeakMap<HttpApiEndpoint.Top, Decoders>()

const invalid = Effect.fnUntraced(function* (error: HttpApiError.HttpApiSchemaError, endpoint: HttpApiEndpoint.Top) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const route = yield* HttpRouter.RouteContext
  const query = yield* HttpServerRequest.ParsedSearchParams
  const decoders = decodersOf(endpoint)
  const issues: Array<Issue> = []
  const collect = (decode: Decode | undefined, input: unknown) => {
    const outcome = decode?.(input)
    if (outcome !== undefined && Result.isFailure(outcome)) issues.push(...issuesOf(outcome.failure.issue, input))
  }
  collect(decoders.params, route.params)
  collect(decoders.query, query)
  collect(decoders.headers, request.headers)
  if (decoders.payload !== undefined) {
    const text = yield* Effect.orDie(request.text)
    const json = Result.try((): unknown => (text === "" ? decoders.emptyBody : JSON.parse(text)))
    if (Result.isFailure(json)) issues.push(notJson)
    else collect(decoders.payload, json.success)
  }
  if (issues.length === 0) issues.push(...issuesOf(error.cause.issue, undefined))
  return yield* invalidInput(issues.slice(0, issuesMax))
})

function decodersOf(endpoint: HttpApiEndpoint.Top): Decoders {
  const known = decodersByEndpoint.get(endpoint)
  if (known !== undefined) return known
  const payload = endpoint.payload.get("application/json")?.schemas as ReadonlyArray<Schema.Top> | undefined
  const decoders: Decoders = {
    params: endpoint.params && decoder(endpoint.params),
    query: endpoint.query && decoder(Schema.toCodecArrayFromSingle(endpoint.query)),
    headers: endpoint.headers && decoder(endpoint.headers),
    payload: payload && decoder(payload.length === 1 ? payload[0]! : Schema.Union(payload)),
    emptyBody: isBodyOptional(endpoint) ? null : undefined
  }
  decodersByEndpoint.set(endpoint, decoders)
  return decoders
}

/** True if the operation may be sent no body at all: one of its payloads is `Schema.Null`. */
export function isBodyOptional(endpoint: HttpApiEndpoint.Top): boolean {
  const schemas = endpoint.payload.get("application/json")?.schemas ?? []
  return schemas.some(({ ast }) => SchemaAST.isNull(SchemaAST.toEncoded(ast)))
}

/** Decodes and reports every issue; the schemas of our APIs need no services and never wait. */
function decoder(schema: Schema.Constraint): Decode {
  return Schema.decodeUnknownResult(schema as Schema.Codec<unknown, unknown>, { errors: "all" })
}
