/** The secret key behind an answer of the Admin API that lasts: a stream outlives the request that showed it. */
import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { makeChecks } from "../../credentials/CredentialChecks.ts"
import { CurrentStreamCredentials } from "../../credentials/Credentials.ts"

/** Beside `AdminKey`, which lets the request in. */
export class StreamKey extends HttpApiMiddleware.Service<StreamKey, { provides: CurrentStreamCredentials }>()(
  "usher/http/admin/organization/LastingKey"
) {
  static readonly layer = Layer.effect(
    StreamKey,
    Effect.gen(function* () {
      const { lastingKey } = yield* makeChecks
      return (handle) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
          Effect.provideService(handle, CurrentStreamCredentials, lastingKey(request))
        )
    })
  )
}
