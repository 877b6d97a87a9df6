/**
 * The errors that every operation of both APIs can have, declared once: 400 for a malformed request, with all its
 * issues; 403 for plain HTTP through an open network; 413 for a body that is too large; 415 for a body that is not
 * JSON; 500 for a defect; 503 for a store that is unavailable.
 */
import { SchemaAST } from "effect"
import { type HttpApiEndpoint, HttpApiMiddleware } from "effect/http-api"
import {
  HttpsRequired,
  InternalError,
  PayloadTooLarge,
  ServiceUnavailableWithHeaders,
  UnsupportedMediaType,
  ValidationError
} from "./Errors.ts"

export class Validation extends HttpApiMiddleware.Service<Validation>()("usher/api/Validation", {
  error: [
    ValidationError,
    HttpsRequired,
    PayloadTooLarge,
    UnsupportedMediaType,
    InternalError,
    ServiceUnavailableWithHeaders
  ]
}) {}

/** True if the operation accepts a request without a body: one of its payloads is `Schema.Null`. */
export function isBodyOptional(endpoint: HttpApiEndpoint.Top): boolean {
  const schemas = endpoint.payload.get("application/json")?.schemas ?? []
  return schemas.some(({ ast }) => SchemaAST.isNull(SchemaAST.toEncoded(ast)))
}
