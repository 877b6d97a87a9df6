/**
 * The paths of each listener outside `/api`, without credentials and without the rate limits of organizations:
 * `/health`, `/ready`, `/openapi.json`, `/docs`, and on the consumer listener also the public signing keys. One address
 * gets the reference page a bounded number of times a minute. The description has no limit at all; it is one buffer in
 * memory, which caches may keep.
 */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApi, HttpApiGroup } from "effect/http-api"
import { SigningKeys } from "../../auth/keys/SigningKeys.ts"
import * as Documents from "./Documents.ts"
import { limitByAddress } from "../limits/RateLimit.ts"
import { Readiness } from "../../engine/lifecycle/Readiness.ts"
import * as Reference from "./Reference.ts"

/** Seconds for which a shop may keep the signing keys. A shop that sees an unknown key should ask again at once. */
const keysMaxAgeSeconds = 300

/** Requests of one address for the reference page in a minute. */
const documentRequestsMax = 100

/**
 * `/health`: the process is up. `/ready`: the process should get requests; the answer may have remarks. 503
 * with the reasons if it should not. Remarks are for operators, so only the Admin API's listener shows them.
 * `/ready?for=reads`: the process should get reads. It refuses writes itself while it cannot take them.
 */
const health = (audience: "operators" | "public") =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const readiness = yield* Readiness
      yield* router.add("GET", "/health", HttpServerResponse.jsonUnsafe({ status: "ok" }))
      const ready = Effect.map(readiness.report, ({ isReady, reasons, remarks, facts }) => {
        const shown = audience === "operators" ? facts : {}
        return isReady
          ? HttpServerResponse.jsonUnsafe({
              status: "ready",
              ...(Object.keys(remarks).length > 0 && { remarks }),
              ...shown
            })
          : notReady({ reasons, ...shown })
      })
      const readyForReads = Effect.map(readiness.reasonsAgainstReads, (reasons) =>
        Object.keys(reasons).length === 0
          ? HttpServerResponse.jsonUnsafe({ status: "ready for reads" })
          : notReady({ reasons })
      )
      yield* router.add(
        "GET",
        "/ready",
        Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) => (isForReads(url) ? readyForReads : ready))
      )
    })
  )

const notReady = (shown: { readonly reasons: object }) =>
  HttpServerResponse.jsonUnsafe(
    { error: "Service unavailable", status: "not ready", ...shown },
    { status: 503, headers: { "retry-after": "1" } }
  )

/** True if the query of `/ready` asks for reads only. */
export const isForReads = (url: string): boolean => new URL(url, "http://usher").searchParams.get("for") === "reads"

/** `/openapi.json` and `/docs`, the reference: a list of all operations, and a page for each group. */
const reference = <Id extends string, Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<Id, Groups>) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const admit = yield* limitByAddress({
        name: "documents",
        requestsMax: documentRequestsMax,
        exemptsServers: false
      })
      const description = yield* Documents.serve(Reference.description(api))
      const index = yield* Documents.serve(Reference.index(api))
      yield* router.add("GET", "/openapi.json", description)
      yield* router.add("GET", "/docs", Effect.andThen(admit, index))
      for (const [slug, page] of Reference.groups(api))
        yield* router.add("GET", `/docs/${slug}`, Effect.andThen(admit, yield* Documents.serve(page)))
    })
  )

/** The routes of both listeners. */
export const layer = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  audience: "operators" | "public"
) => Layer.merge(health(audience), reference(api))

/** `/.well-known/jwks.json`: the keys to check tokens and grants offline. */
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
