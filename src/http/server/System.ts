/**
 * What each listener answers outside `/api`, without credentials and without rate limits (completions 1): `/health`,
 * `/ready`, `/openapi.json`, `/docs`; on the consumer listener also the public signing keys.
 */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import type { HttpApi, HttpApiGroup } from "effect/http-api"
import { SigningKeys } from "../../auth/keys/SigningKeys.ts"
import * as Documents from "./Documents.ts"
import { Readiness } from "../../engine/lifecycle/Readiness.ts"
import * as Reference from "./Reference.ts"

/** How long a shop may keep the signing keys before it asks again; one that meets a key it does not know should ask at once. */
const keysMaxAgeSeconds = 300

/**
 * `/health`: the process is up. `/ready`: it should be sent requests, with remarks if any; 503 with the reasons if not.
 * What the process has to say about itself is for operators, and so on the Admin API's listener alone.
 */
const health = (audience: "operators" | "public") =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const readiness = yield* Readiness
      yield* router.add("GET", "/health", HttpServerResponse.jsonUnsafe({ status: "ok" }))
      yield* router.add(
        "GET",
        "/ready",
        Effect.map(readiness.report, ({ isReady, reasons, remarks, facts }) => {
          const shown = audience === "operators" ? facts : {}
          return isReady
            ? HttpServerResponse.jsonUnsafe({
                status: "ready",
                ...(Object.keys(remarks).length > 0 && { remarks }),
                ...shown
              })
            : HttpServerResponse.jsonUnsafe(
                { error: "Service unavailable", status: "not ready", reasons, ...shown },
                { status: 503, headers: { "retry-after": "1" } }
              )
        })
      )
    })
  )

/** `/openapi.json` and `/docs`, the rendered reference. */
const reference = <Id extends string, Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<Id, Groups>) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      yield* router.add("GET", "/openapi.json", yield* Documents.serve(Reference.description(api)))
      yield* router.add("GET", "/docs", yield* Documents.serve(Reference.page(api)))
    })
  )

/** The routes of both listeners. */
export const layer = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  audience: "operators" | "public"
) => Layer.merge(health(audience), reference(api))

/** `/.well-known/jwks.json`: what tokens and grants can be checked with offline. */
export const layerKeys = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const keys = yield* SigningKeys
    yield* router.add(
      "GET",
      "/.well-known/jwks.json",
      Effect.sync(() =>
        HttpServerResponse.jsonUnsafe(
          { keys: keys.jwks },
          { headers: { "cache-control": `public, max-age=${keysMaxAgeSeconds}` } }
        )
      )
    )
  })
)
