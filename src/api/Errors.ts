/**
 * The error answers of both APIs. Each is a class whose JSON body has its fields: `{error}` or `{error, code, …}`. The
 * class declares its status. An endpoint lists its own errors; `Validation` declares those that any operation can have.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { Timestamp } from "../domain/values/Time.ts"

/** One thing that is wrong with a request. */
export const Issue = Schema.Struct({
  /** `schema`: the value has the wrong type or is missing. `validation`: the type is right, but a check failed. */
  kind: Schema.Literals(["schema", "validation"]),
  /** The check's name, such as `string`, `uuid` or `max_value`. */
  type: Schema.String,
  expected: Schema.String,
  /** The received value, shortened; `undefined` if none was received. Never a secret. */
  received: Schema.String,
  message: Schema.String,
  /** The path from the request's outermost object to the value. */
  path: Schema.Array(
    Schema.Struct({
      /** The type of the container of the key. */
      type: Schema.Literals(["object", "array"]),
      origin: Schema.Literal("value"),
      key: Schema.String,
      /** The container, shortened and without secrets. */
      input: Schema.Json
    })
  )
}).annotate({ identifier: "Issue" })
export type Issue = typeof Issue.Type

/** 400: the request does not have the shape the operation needs. */
export class ValidationError extends Schema.Error<ValidationError>("ValidationError")(
  { error: Schema.Literal("validation_error"), issues: Schema.Array(Issue) },
  { httpApiStatus: 400, description: "The request is malformed" }
) {}

/** 401: the credential is missing, or is not accepted here. */
export class Unauthorized extends Schema.Error<Unauthorized>("Unauthorized")(
  { error: Schema.Literals(["Authentication required", "Secret key required"]) },
  { httpApiStatus: 401, description: "The credential is missing or not accepted" }
) {}

/**
 * Any text but these, by which errors of a class of their own are known. Without it a client would read these errors as
 * the general one of their status, which has fewer fields.
 */
const otherThan = (...texts: ReadonlyArray<string>) =>
  Schema.String.check(Schema.makeFilter((text: string) => !texts.includes(text), { toJsonSchema: () => ({}) }))

/** 403: the caller is known, but may not do this. */
export class Forbidden extends Schema.Error<Forbidden>("Forbidden")(
  { error: otherThan("HTTPS required", "Challenge required") },
  { httpApiStatus: 403, description: "Not allowed" }
) {}

/**
 * 403: the request came over plain HTTP through an open network. The envelope refuses it before it reaches an
 * operation.
 */
export class HttpsRequired extends Schema.Error<HttpsRequired>("HttpsRequired")(
  { error: Schema.Literal("HTTPS required") },
  { httpApiStatus: 403, description: "The request came over plain HTTP" }
) {}

/** 404: the record is unknown, archived or another tenant's. The answer does not show which. */
export class NotFound extends Schema.Error<NotFound>("NotFound")(
  { error: Schema.String },
  { httpApiStatus: 404, description: "No such record" }
) {
  /** Makes the error of a record. `NotFound.of("Queue")` reads "Queue not found". */
  static of(record: string): NotFound {
    return new NotFound({ error: `${record} not found` })
  }
}

/** 409: the state does not allow it. `code` is upper snake case. */
export class Conflict extends Schema.Error<Conflict>("Conflict")(
  {
    error: Schema.String,
    code: otherThan("BID_TOO_LOW", "BID_TOO_HIGH", "BID_UNLIKELY", "OUT_OF_STOCK", "IDEMPOTENCY_IN_PROGRESS")
  },
  { httpApiStatus: 409, description: "The state does not allow it" }
) {}

/** 409: the bid does not lead, or is below the price. `minimumBid` would be enough now. */
export class BidConflict extends Schema.Error<BidConflict>("BidConflict")(
  { error: Schema.String, code: Schema.Literal("BID_TOO_LOW"), minimumBid: Schema.String },
  { httpApiStatus: 409, description: "The bid is too low; `minimumBid` would be enough at this moment" }
) {}

/** 409: the bid is above the highest one that is accepted. `maximumBid` would be accepted now. */
export class BidTooHighConflict extends Schema.Error<BidTooHighConflict>("BidTooHighConflict")(
  { error: Schema.String, code: Schema.Literal("BID_TOO_HIGH"), maximumBid: Schema.String },
  { httpApiStatus: 409, description: "The bid is too high; `maximumBid` is the highest one accepted at this moment" }
) {}

/** 409: the bid is far above the least one, and not confirmed. `maximumBid` would be accepted now. */
export class BidUnlikelyConflict extends Schema.Error<BidUnlikelyConflict>("BidUnlikelyConflict")(
  { error: Schema.String, code: Schema.Literal("BID_UNLIKELY"), maximumBid: Schema.String },
  {
    httpApiStatus: 409,
    description:
      "The bid is at least 101, and above 100 times the minimum; `maximumBid` is the highest one accepted at this moment " +
      "without `confirmed`"
  }
) {}

/** 409: an order asks for more units of a variant than are left. */
export class StockConflict extends Schema.Error<StockConflict>("StockConflict")(
  {
    error: Schema.String,
    code: Schema.Literal("OUT_OF_STOCK"),
    productVariantId: Schema.String,
    available: Schema.Int
  },
  { httpApiStatus: 409, description: "An order needs more units of a variant than are left; nothing was counted" }
) {}

/** 409 that can resolve itself: {@link Conflict} with `Retry-After`, in seconds. */
export class ConflictForNow extends Schema.Error<ConflictForNow>("ConflictForNow")(
  { error: Schema.String, code: Schema.String, retryAfterSeconds: Schema.Int },
  { httpApiStatus: 409 }
) {}

/** {@link Conflict} or {@link ConflictForNow} in their encoded form, for operations that can have either. */
export const ConflictWithHeaders = Schema.Union([Conflict, ConflictForNow])
  .pipe(
    HttpApiSchema.encodeToWithHeaders(
      {
        body: Schema.Struct({ error: Schema.String, code: Schema.String }).annotate({
          httpApiStatus: 409
        }),
        headers: { "retry-after": Schema.optionalKey(Schema.Int) }
      },
      {
        decode: ({ body, headers: { "retry-after": retryAfterSeconds } }) =>
          retryAfterSeconds === undefined ? new Conflict(body) : new ConflictForNow({ ...body, retryAfterSeconds }),
        encode: (conflict) => ({
          body: { error: conflict.error, code: conflict.code },
          headers: conflict instanceof ConflictForNow ? { "retry-after": conflict.retryAfterSeconds } : {}
        })
      }
    )
  )
  .annotate({ description: "The state does not allow it. With a Retry-After the refusal is temporary" })

/** 413: the body is larger than the operation takes. */
export class PayloadTooLarge extends Schema.Error<PayloadTooLarge>("PayloadTooLarge")(
  {
    error: Schema.Literals([
      "Request body is larger than 16 KiB",
      "Request body is larger than 1 MiB",
      "Request body is larger than 5 MB"
    ])
  },
  { httpApiStatus: 413, description: "The body is too large" }
) {}

/** 415: the body is not of a type that the operation takes. */
export class UnsupportedMediaType extends Schema.Error<UnsupportedMediaType>("UnsupportedMediaType")(
  {
    error: Schema.Literals([
      "Content-Type must be application/json",
      "Content-Type must be image/png, image/jpeg, image/webp or image/avif"
    ])
  },
  { httpApiStatus: 415, description: "The body has another type" }
) {}

/** 423: the mechanism takes no entries yet; `opensAt` in milliseconds since the epoch. */
export class NotOpenYet extends Schema.Error<NotOpenYet>("NotOpenYet")(
  { error: Schema.String, opensAt: Schema.Finite, retryAfterSeconds: Schema.Int },
  { httpApiStatus: 423 }
) {}

/** {@link NotOpenYet} in its encoded form: `{error, code: "NOT_OPEN", opensAt}` with `Retry-After`. */
export const NotOpenYetWithHeaders = NotOpenYet.pipe(
  HttpApiSchema.encodeToWithHeaders(
    {
      body: Schema.Struct({ error: Schema.String, code: Schema.Literal("NOT_OPEN"), opensAt: Timestamp }).annotate({
        httpApiStatus: 423
      }),
      headers: { "retry-after": Schema.Int }
    },
    {
      decode: ({ body, headers }) =>
        new NotOpenYet({
          error: body.error,
          opensAt: body.opensAt,
          retryAfterSeconds: headers["retry-after"]
        }),
      encode: ({ error, opensAt, retryAfterSeconds }) => ({
        body: { error, code: "NOT_OPEN" as const, opensAt },
        headers: { "retry-after": retryAfterSeconds }
      })
    }
  )
).annotate({ description: "Not open yet" })

/** 429: more requests than the caller may make. */
export class RateLimitExceeded extends Schema.Error<RateLimitExceeded>("RateLimitExceeded")(
  { retryAfterSeconds: Schema.Int },
  { httpApiStatus: 429 }
) {}

/** {@link RateLimitExceeded} in its encoded form: `{error: "Rate limit exceeded", retryAfter}` with `Retry-After`. */
export const RateLimitExceededWithHeaders = RateLimitExceeded.pipe(
  HttpApiSchema.encodeToWithHeaders(
    {
      body: Schema.Struct({
        error: Schema.Literal("Rate limit exceeded"),
        /** Seconds, as in `Retry-After`. */
        retryAfter: Schema.Int
      }).annotate({ httpApiStatus: 429 }),
      headers: { "retry-after": Schema.Int }
    },
    {
      decode: ({ headers }) => new RateLimitExceeded({ retryAfterSeconds: headers["retry-after"] }),
      encode: ({ retryAfterSeconds }) => ({
        body: { error: "Rate limit exceeded" as const, retryAfter: retryAfterSeconds },
        headers: { "retry-after": retryAfterSeconds }
      })
    }
  )
).annotate({ description: "Too many requests" })

/** 500: a defect. Only the log has the cause, under the request id. */
export class InternalError extends Schema.Error<InternalError>("InternalError")(
  { error: Schema.Literal("Internal server error") },
  { httpApiStatus: 500, description: "A defect" }
) {}

/** 503: the database is unavailable, the mechanism is overloaded or parked, or the process is draining. */
export class ServiceUnavailable extends Schema.Error<ServiceUnavailable>("ServiceUnavailable")(
  { retryAfterSeconds: Schema.Int },
  { httpApiStatus: 503 }
) {}

/** {@link ServiceUnavailable} in its encoded form: `{error: "Service unavailable"}` with `Retry-After`. */
export const ServiceUnavailableWithHeaders = ServiceUnavailable.pipe(
  HttpApiSchema.encodeToWithHeaders(
    {
      body: Schema.Struct({
        error: Schema.Literal("Service unavailable"),
        code: Schema.optionalKey(Schema.Literal("ON_HOLD")).annotateKey({
          description: "`ON_HOLD`: the database was restored, and takes no writes until an operator resumes it"
        })
      }).annotate({ httpApiStatus: 503 }),
      headers: { "retry-after": Schema.Int }
    },
    {
      decode: ({ headers }) => new ServiceUnavailable({ retryAfterSeconds: headers["retry-after"] }),
      encode: ({ retryAfterSeconds }) => ({
        body: { error: "Service unavailable" as const },
        headers: { "retry-after": retryAfterSeconds }
      })
    }
  )
).annotate({ description: "Not available for now" })

/** Returns the status of a declared error, as its class declares it; undefined for any other error. */
export const statusOf = (error: unknown): number | undefined =>
  error instanceof Error
    ? ((error.constructor as Partial<Schema.Top>).ast?.annotations?.["httpApiStatus"] as number | undefined)
    : undefined
