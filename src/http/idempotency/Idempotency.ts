/**
 * `Idempotency-Key` on every POST of the Admin API. A request that is repeated with its key gets the first answer
 * again. Without the header nothing is done, and nothing is spent.
 *
 * A key belongs to a tenant and to one request: its method, path, query and body, as they were sent.
 */
import { Context, Effect, Layer } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi, type HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware } from "effect/http-api"
import { hash } from "node:crypto"
import { keptHours } from "../../store/coordination/IdempotencyKeys.ts"
import { CurrentTenant } from "../credentials/Credentials.ts"
import {
  Conflict,
  ConflictForNow,
  ConflictWithHeaders,
  ServiceUnavailable,
  ServiceUnavailableWithHeaders,
  ValidationError
} from "../errors/Errors.ts"
import { IdempotentResponses, type Repeated, type SecretInAnswer } from "./IdempotentResponses.ts"
import { issueAt } from "../errors/Issues.ts"
import { invalidInput, malformedHeader } from "../errors/Validation.ts"

const header = "idempotency-key"

/** Visible ASCII. */
const keyPattern = /^[\x21-\x7e]{1,255}$/

/** Seconds after which a caller should repeat a request whose first answer is not there yet. */
const retryAfterSeconds = 2

/**
 * An annotation of an endpoint whose successes hold a secret. A secret that the database stores sealed anyway, such as a
 * webhook's, is kept with its answer, sealed in the same way. One that is stored nowhere is not kept: a repeated request
 * learns that the first one was done. For the rotation of a key, keeping the answer would not help, because the old key
 * is no longer accepted.
 */
export const AnswerSecret = Context.Reference<SecretInAnswer>("usher/http/idempotency/AnswerSecret", {
  defaultValue: () => "none"
})

/** The middleware, for operations with a known tenant; see `onEveryPost`. */
export class Idempotency extends HttpApiMiddleware.Service<Idempotency, { requires: CurrentTenant }>()(
  "usher/http/idempotency/Idempotency",
  { error: [ValidationError, ConflictWithHeaders, ServiceUnavailableWithHeaders] }
) {
  static readonly layer = Layer.effect(Idempotency)(
    Effect.gen(function* () {
      const answers = yield* IdempotentResponses
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
          if (key === undefined) return handle
          if (!keyPattern.test(key)) return malformedHeader(endpoint, malformed(key))
          return Effect.gen(function* () {
            const { tenant } = yield* CurrentTenant
            const body = yield* Effect.orDie(request.text)
            const fingerprint = hash("sha256", `${request.method} ${request.url}\n${body}`, "buffer")
            const answer = yield* answers.answer({ tenant, key, fingerprint }, { secret }, handle)
            return HttpServerResponse.isHttpServerResponse(answer) ? answer : yield* repeated(answer)
          }).pipe(Effect.catchTag("Unavailable", () => Effect.fail(new ServiceUnavailable({ retryAfterSeconds: 1 }))))
        })
      }
    })
  ).pipe(Layer.provide(IdempotentResponses.layer))
}

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

/** The header in the OpenAPI description of an operation with the middleware. */
export const keyParameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x21-\\x7e]+$" },
  description:
    `Makes the request safe to repeat. Within ${keptHours} hours the same request with the same key gets the first ` +
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
