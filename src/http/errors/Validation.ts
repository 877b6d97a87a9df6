/**
 * The 400 for a malformed request, with all its issues. A request is decoded up to the first issue. Only if that fails,
 * all its parts are decoded again to collect every issue.
 */
import { Effect, type Layer, Result, Schema, SchemaAST, Struct } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { type HttpApiEndpoint, type HttpApiError, HttpApiMiddleware } from "effect/http-api"
import { type Issue, ValidationError } from "../../api/Errors.ts"
import { isBodyOptional, Validation } from "../../api/Validation.ts"
import { issuesMax, issuesOf, notJson } from "./Issues.ts"

/** Answers a request that does not fit the schemas of its operation. */
export const layer: Layer.Layer<Validation> = HttpApiMiddleware.layerSchemaErrorTransform(
  Validation,
  (error, { endpoint }) =>
    // A reply that does not fit its schema is a defect of the server.
    error.kind === "Body" || error.kind === "ResponseHeaders" ? Effect.die(error.cause) : invalid(error, endpoint)
)

/** Makes the 400 for a value that was checked outside the schemas. */
export const invalidInput = (issues: ReadonlyArray<Issue>): ValidationError =>
  new ValidationError({ error: "validation_error", issues })

type Decode = (input: unknown) => Result.Result<unknown, Schema.SchemaError>

interface Decoders {
  readonly params: Decode | undefined
  readonly query: Decode | undefined
  readonly headers: Decode | undefined
  /** The names of the headers that the endpoint declares. Others may hold secrets, and no issue shows them. */
  readonly headerNames: ReadonlyArray<string>
  readonly payload: Decode | undefined
  /** The value that stands for a body that was not sent. The API's own decoder uses the same. */
  readonly emptyBody: null | undefined
}

const decodersByEndpoint = new WeakMap<HttpApiEndpoint.Top, Decoders>()

const invalid = Effect.fnUntraced(function* (error: HttpApiError.HttpApiSchemaError, endpoint: HttpApiEndpoint.Top) {
  // The API's decoder reports text that is not JSON with this issue.
  const isNotJson = error.kind === "Payload" && error.cause.issue._tag === "InvalidValue"
  const issues = yield* issuesOfParts(endpoint, isNotJson)
  if (issues.length === 0) issues.push(...issuesOf(error.cause.issue, undefined))
  return yield* invalidInput(issues.slice(0, issuesMax))
})

/** Makes the 400 for a header that a middleware has found malformed, with the issues of all other parts. */
export const malformedHeader = Effect.fnUntraced(function* (endpoint: HttpApiEndpoint.Top, found: ValidationError) {
  return yield* invalidInput([...found.issues, ...(yield* issuesOfParts(endpoint, false))].slice(0, issuesMax))
})

/** The issues of path, query, headers and body. */
const issuesOfParts = Effect.fnUntraced(function* (endpoint: HttpApiEndpoint.Top, isNotJson: boolean) {
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
  collect(decoders.headers, Struct.pick(request.headers, decoders.headerNames))
  if (isNotJson) issues.push(notJson)
  else if (decoders.payload !== undefined) {
    const text = yield* Effect.orDie(request.text)
    const json = Result.try((): unknown => (text === "" ? decoders.emptyBody : JSON.parse(text)))
    if (Result.isFailure(json)) issues.push(notJson)
    else collect(decoders.payload, json.success)
  }
  return issues
})

function decodersOf(endpoint: HttpApiEndpoint.Top): Decoders {
  const known = decodersByEndpoint.get(endpoint)
  if (known !== undefined) return known
  const payload = endpoint.payload.get("application/json")?.schemas as ReadonlyArray<Schema.Top> | undefined
  const decoders: Decoders = {
    params: endpoint.params && decoder(endpoint.params),
    query: endpoint.query && decoder(Schema.toCodecArrayFromSingle(endpoint.query)),
    headers: endpoint.headers && decoder(endpoint.headers),
    headerNames: endpoint.headers === undefined ? [] : namesIn(endpoint.headers),
    payload: payload && decoder(payload.length === 1 ? payload[0]! : Schema.Union(payload)),
    emptyBody: isBodyOptional(endpoint) ? null : undefined
  }
  decodersByEndpoint.set(endpoint, decoders)
  return decoders
}

const namesIn = (schema: Schema.Constraint): ReadonlyArray<string> => {
  const ast = SchemaAST.toEncoded(schema.ast)
  return SchemaAST.isObjects(ast) ? ast.propertySignatures.map(({ name }) => String(name)) : []
}

/** Makes a decoder that reports every issue. The schemas of the APIs need no services and never wait. */
function decoder(schema: Schema.Constraint): Decode {
  return Schema.decodeUnknownResult(schema as Schema.Codec<unknown, unknown>, { errors: "all" })
}
