/**
 * `Idempotency-Key` on every POST of the Admin API. A request that is repeated with its key gets the first answer
 * again. Without the header nothing is done, and nothing is spent.
 */
import { type HttpApi, type HttpApiEndpoint, type HttpApiGroup, HttpApiMiddleware } from "effect/http-api"
import { idempotencyKeyHours } from "../domain/organization/Retention.ts"
import type { CurrentTenant } from "./Credentials.ts"
import { ConflictWithHeaders, ServiceUnavailableWithHeaders, ValidationError } from "./Errors.ts"

/** The middleware, for operations with a known tenant; see `onEveryPost`. */
export class Idempotency extends HttpApiMiddleware.Service<Idempotency, { requires: CurrentTenant }>()(
  "usher/api/Idempotency",
  { error: [ValidationError, ConflictWithHeaders, ServiceUnavailableWithHeaders] }
) {}

/** The API with the middleware on each of its POSTs. */
export const onEveryPost = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): HttpApi.HttpApi<Id, HttpApiGroup.AddMiddleware<Groups, Idempotency>> => {
  const groups = (Object.values(api.groups) as ReadonlyArray<HttpApiGroup.Top>).map((group) =>
    (Object.values(group.endpoints) as ReadonlyArray<HttpApiEndpoint.Top>)
      .map((endpoint) => (endpoint.method === "POST" ? endpoint.middleware(Idempotency) : endpoint))
      .reduce((made: HttpApiGroup.Top, endpoint) => made.add(endpoint), group)
  )
  return groups.reduce((made: HttpApi.Top, group) => made.add(group), api as never) as never
}

const notKept = new Set([400, 401, 429])

/** True if a repeated request may get an answer with this status again. */
export const isKept = (status: number): boolean => status < 500 && !notKept.has(status)

/** The header in the OpenAPI description of an operation with the middleware. */
export const keyParameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x21-\\x7e]+$" },
  description:
    `Makes the request safe to repeat. Within ${idempotencyKeyHours} hours the same request with the same key gets the first ` +
    "response again, with `Idempotency-Replayed: true`. Another request with the key is a 409 " +
    "`IDEMPOTENCY_KEY_REUSED`. If the first request is not done within 10 seconds, its repetition is a 409 " +
    "`IDEMPOTENCY_IN_PROGRESS` with `Retry-After`. After a 401, 429 or 5xx, and after any response with " +
    "`Retry-After`, the same request is carried out again. After a 400 the key is free: a corrected request may use " +
    "it."
} as const

/** The header that marks a repeated answer, in the OpenAPI description. */
export const replayedHeader = {
  "Idempotency-Replayed": {
    required: false,
    schema: { type: "string", enum: ["true"] },
    description: "True if this is a repetition of the response to the first request with the key."
  }
} as const
