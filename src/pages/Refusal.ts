/** A refusal of an operation, as a page shows it. */
import { Cause, Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { Readiness } from "../engine/lifecycle/Readiness.ts"
import { InvalidOneTimeCode } from "../api/consumer/AuthApi.ts"
import { ChallengeRequired } from "../api/Challenge.ts"
import {
  BidConflict,
  BidTooHighConflict,
  BidUnlikelyConflict,
  Conflict,
  ConflictForNow,
  Forbidden,
  type Issue,
  NotFound,
  NotOpenYet,
  RateLimitExceeded,
  ServiceUnavailable,
  StockConflict,
  Unauthorized,
  ValidationError
} from "../api/Errors.ts"
import { nameOf, sentenceOf } from "./Sentences.ts"

/** One thing that is wrong with the input: where, and what the operation says about it. */
const Wrong = Schema.Struct({
  /** The keys that lead to the value, such as `["sequences", "0", "name"]`. */
  path: Schema.Array(Schema.String),
  sentence: Schema.String
})
export type Wrong = typeof Wrong.Type

/** Why an operation has changed nothing. */
export class Refusal extends Schema.TaggedError<Refusal>()("Refusal", {
  status: Schema.Int,
  /** The code of a conflict, or a word for the class of the refusal. */
  code: Schema.String,
  /** The sentence that the API answers; only the dashboard shows it. */
  detail: Schema.optionalKey(Schema.String),
  /** What is wrong with the input, for a form that says it at its fields. */
  wrong: Schema.optionalKey(Schema.Array(Wrong)),
  retryAfterSeconds: Schema.optionalKey(Schema.Int),
  /** The amount that would be accepted, for a bid, and its currency. */
  amount: Schema.optionalKey(Schema.String),
  currencyCode: Schema.optionalKey(Schema.String),
  /** The challenge that the browser must solve. */
  challenge: Schema.optionalKey(Schema.Unknown)
}) {}

const outOfReach = new Refusal({ status: 503, code: "UNAVAILABLE", retryAfterSeconds: 1 })

/** Fails while the database is out of reach. */
export const unavailable = () => Effect.fail(outOfReach)

/** Makes the effect that fails with a refusal once the process refuses new requests, before it stops. */
export const makeUnlessStopping = Effect.map(Readiness, (readiness) =>
  Effect.suspend(() => (readiness.isRefusing() ? unavailable() : Effect.void))
)

export const notFound = new Refusal({ status: 404, code: "NOT_FOUND" })

/** Turns the failure of a handler into a refusal. A defect stays one. */
export const failWithRefusal = (cause: Cause.Cause<unknown>): Effect.Effect<never, Refusal> => {
  for (const reason of cause.reasons) {
    if (reason._tag === "Fail") {
      const refusal = refusalOf(reason.error)
      if (refusal !== undefined) return Effect.fail(refusal)
    }
    // A limit ends a request with a finished response.
    if (reason._tag === "Die" && HttpServerResponse.isHttpServerResponse(reason.defect)) {
      const { status, headers } = reason.defect
      return Effect.fail(
        new Refusal({ status, code: "RATE_LIMIT", retryAfterSeconds: Number(headers["retry-after"]) || 1 })
      )
    }
  }
  return Effect.failCause(cause as Cause.Cause<never>)
}

const refusalOf = (error: unknown): Refusal | undefined => {
  if (error instanceof ConflictForNow) {
    return new Refusal({ status: 409, code: error.code, retryAfterSeconds: error.retryAfterSeconds })
  }
  if (error instanceof Conflict) return new Refusal({ status: 409, code: error.code, detail: error.error })
  if (error instanceof StockConflict) return new Refusal({ status: 409, code: error.code, detail: error.error })
  if (error instanceof BidConflict) return new Refusal({ status: 409, code: error.code, amount: error.minimumBid })
  if (error instanceof BidTooHighConflict || error instanceof BidUnlikelyConflict)
    return new Refusal({ status: 409, code: error.code, amount: error.maximumBid })
  if (error instanceof NotOpenYet) {
    return new Refusal({ status: 423, code: "NOT_OPEN", retryAfterSeconds: error.retryAfterSeconds })
  }
  if (error instanceof Forbidden) return new Refusal({ status: 403, code: "FORBIDDEN" })
  if (error instanceof ChallengeRequired) {
    return new Refusal({ status: 403, code: "CHALLENGE", challenge: error.challenge })
  }
  if (error instanceof InvalidOneTimeCode) return new Refusal({ status: 401, code: error.error })
  if (error instanceof Unauthorized) return new Refusal({ status: 401, code: "UNAUTHORIZED" })
  if (error instanceof NotFound) return new Refusal({ status: 404, code: "NOT_FOUND" })
  if (error instanceof RateLimitExceeded) {
    return new Refusal({ status: 429, code: "RATE_LIMIT", retryAfterSeconds: error.retryAfterSeconds })
  }
  if (error instanceof ServiceUnavailable) {
    return new Refusal({ status: 503, code: "UNAVAILABLE", retryAfterSeconds: error.retryAfterSeconds })
  }
  if (error instanceof ValidationError) {
    const wrong = error.issues.map(wrongOf)
    const detail = wrong.map(({ path, sentence }) => `${nameOf(path)}: ${sentence}`).join(" ")
    return new Refusal({ status: 400, code: "INVALID", detail, wrong })
  }
  if (Schema.isSchemaError(error)) {
    return new Refusal({ status: 400, code: "INVALID" })
  }
  return undefined
}

const wrongOf = (issue: Issue): Wrong => ({ path: issue.path.map(({ key }) => key), sentence: sentenceOf(issue) })
