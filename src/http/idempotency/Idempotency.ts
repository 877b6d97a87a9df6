/**
 * Carries out requests with an `Idempotency-Key` once. A key belongs to a tenant and to one request: its method, path,
 * query and body, as they were sent.
 */
import { Context, Effect, Layer } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { AnswerSecret } from "../../api/Annotations.ts"
import { CurrentTenant } from "../../api/Credentials.ts"
import { Idempotency } from "../../api/Idempotency.ts"
import { Conflict, ConflictForNow, ServiceUnavailable, ValidationError } from "../../api/Errors.ts"
import { IdempotentResponses, type Repeated } from "./IdempotentResponses.ts"
import { makeHolding, rawBodyOf } from "../server/RawBodies.ts"
import { issueAt } from "../errors/Issues.ts"
import { invalidInput, malformedHeader } from "../errors/Validation.ts"

const header = "idempotency-key"

/** Visible ASCII. */
const keyPattern = /^[\x21-\x7e]{1,255}$/

/** Seconds after which a caller should repeat a request whose first answer is not there yet. */
const retryAfterSeconds = 2

/** Answers a request with a known key as the first one was answered. */
export const layer = Layer.effect(Idempotency)(
  Effect.gen(function* () {
    const answers = yield* IdempotentResponses
    const withFile = makeHolding()
    return (handle, { endpoint }) => {
      const secret = Context.get(endpoint.annotations, AnswerSecret)
      type Answer = Effect.Effect<
        HttpServerResponse.HttpServerResponse,
        Effect.Error<typeof handle> | Conflict | ConflictForNow | ServiceUnavailable | ValidationError,
        Effect.Services<ReturnType<typeof malformedHeader>> | CurrentTenant
      >
      return Effect.withFiber((fiber): Answer => {
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const key = request.headers[header]
        const file = rawBodyOf(request, endpoint)
        if (key === undefined) return file === undefined ? handle : withFile(Effect.andThen(file, handle))
        if (!keyPattern.test(key)) return malformedHeader(endpoint, malformed(key))
        const once = Effect.gen(function* () {
          const { tenant } = yield* CurrentTenant
          const body = yield* file ?? Effect.orDie(request.text)
          const fingerprint = createHash("sha256").update(`${request.method} ${request.url}\n`).update(body).digest()
          const answer = yield* answers.answer({ tenant, key, fingerprint }, { secret }, handle)
          return HttpServerResponse.isHttpServerResponse(answer) ? answer : yield* repeated(answer)
        }).pipe(Effect.catchTag("Unavailable", () => Effect.fail(new ServiceUnavailable({ retryAfterSeconds: 1 }))))
        return file === undefined ? once : withFile(once)
      })
    }
  })
).pipe(Layer.provide(IdempotentResponses.layer))

const malformed = (key: string) =>
  invalidInput([
    issueAt({ [header]: key }, header, {
      kind: "validation",
      type: "string",
      expected: "1 to 255 visible ASCII characters"
    })
  ])

/** The first answer, or the error that explains why there is none. */
const repeated = (found: Repeated): Effect.Effect<HttpServerResponse.HttpServerResponse, Conflict | ConflictForNow> => {
  switch (found._tag) {
    case "Reused":
      return Effect.fail(
        new Conflict({
          error: "The idempotency key has been used for another request",
          code: "IDEMPOTENCY_KEY_REUSED"
        })
      )
    case "UnderWay":
      return Effect.fail(
        new ConflictForNow({
          error: "The request with this idempotency key is still being carried out",
          code: "IDEMPOTENCY_IN_PROGRESS",
          retryAfterSeconds
        })
      )
    case "Answered": {
      const { status, contentType, body } = found.answer
      if (body === undefined) {
        const error = "The request was carried out; its answer held a secret and is not given again"
        return Effect.fail(new Conflict({ error, code: "IDEMPOTENCY_ANSWER_NOT_KEPT" }))
      }
      const headers = { "idempotency-replayed": "true" }
      return Effect.succeed(
        body.length === 0
          ? HttpServerResponse.empty({ status, headers })
          : HttpServerResponse.uint8Array(body, { status, headers, ...(contentType && { contentType }) })
      )
    }
  }
}
