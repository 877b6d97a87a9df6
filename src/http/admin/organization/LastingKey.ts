/** The secret key behind a stream of the Admin API. A stream outlives the request that sent the key. */
import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { makeChecks } from "../../credentials/CredentialChecks.ts"
import { CurrentStreamCredentials } from "../../credentials/Credentials.ts"

/** It is used together with `AdminKey`, which checks the request. */
export class StreamKey extends HttpApiMiddleware.Service<StreamKey, { provides: CurrentStreamCredentials }>()(
  "usher/http/admin/organization/LastingKey"
) {
  static readonly layer = Layer.effect(StreamKey)(
    Effect.gen(function* () {
      const { lastingKey } = yield* makeChecks
      return (handle) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
          Effect.provideService(handle, CurrentStreamCredentials, lastingKey(request))
        )
    })
  )
}
