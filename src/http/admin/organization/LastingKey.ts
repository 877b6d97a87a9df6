/** The secret key behind an answer of the Admin API that lasts: a stream outlives the request that showed it. */
import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { makeChecks } from "../../credentials/CredentialChecks.ts"
import { LastingCredentials } from "../../credentials/Credentials.ts"

/** Beside `AdminKey`, which lets the request in. */
export class LastingKey extends HttpApiMiddleware.Service<LastingKey, { provides: LastingCredentials }>()(
  "usher/http/admin/organization/LastingKey"
) {
  static readonly layer = Layer.effect(
    LastingKey,
    Effect.gen(function* () {
      const { lastingKey } = yield* makeChecks
      return (handle) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
          Effect.provideService(handle, LastingCredentials, lastingKey(request))
        )
    })
  )
}
