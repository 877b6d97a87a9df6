/** The pages of both listeners, with the operations that they run, and the modules that shops load. */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Admin from "../http/admin/Routes.ts"
import * as Consumer from "../http/consumer/Routes.ts"
import * as Dashboard from "./dashboard/Routes.ts"
import { PagePreview } from "./dashboard/screens/PagePreview.ts"
import { RoomPreview } from "./dashboard/look/RoomPreview.ts"
import * as Room from "./room/Routes.ts"
import { RateLimits } from "../http/limits/RateLimits.ts"
import { countedAddress, Origins } from "../http/server/Origins.ts"
import * as Answer from "./Answer.ts"
import { Assets, type ModuleName } from "./Assets.ts"

/** A new version of Usher is used after five minutes; a page that cannot reach it keeps the old one for a day. */
const cacheControl = "public, max-age=300, stale-while-revalidate=600, stale-if-error=86400"

const headers = { "cross-origin-resource-policy": "cross-origin", "x-content-type-options": "nosniff" }

/** Requests of one address for modules in a minute. */
const requestsPerAddress = 1_200

const paths: ReadonlyArray<readonly [path: `/${string}`, name: ModuleName]> = [
  ["/client/v1.js", "client.ts"],
  ["/client/challenge.js", "challenge.ts"],
  ["/embed/v1.js", "embed.ts"],
  ["/embed/enhancements.js", "enhancements.ts"],
  ["/embed/challenge.js", "challenge.ts"]
]

/** The modules that shops load. */
const modules = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const assets = yield* Assets
    const origins = yield* Origins
    const limit = (yield* RateLimits).byAddress("scripts", requestsPerAddress)
    const shared = Answer.makeShared("text/javascript; charset=utf-8")
    for (const [path, name] of paths) {
      const handle = Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const { retryAfterSeconds } = limit.pass(countedAddress(origins.of(request).address))
        if (retryAfterSeconds !== undefined) return refusal(429, retryAfterSeconds)
        const text = yield* assets.text(name)
        return text === "" ? refusal(503, 1) : yield* shared(text, cacheControl, headers)
      })
      yield* router.add("GET", path, handle)
    }
  })
).pipe(Layer.provide(Assets.layer))

const refusal = (status: number, retryAfterSeconds: number) =>
  HttpServerResponse.empty({ status, headers: { "retry-after": `${retryAfterSeconds}`, "cache-control": "no-store" } })

/** The rooms and the modules of shops, on the consumer listener. */
export const consumer = Layer.merge(Room.layer.pipe(Layer.provide(Consumer.handlers)), modules)

/** The dashboard, on the admin listener. Its previews show rooms. */
export const admin = Dashboard.layer.pipe(
  Layer.provide(Admin.handlers),
  Layer.provide(Layer.merge(PagePreview.layer, RoomPreview.layer).pipe(Layer.provide(Consumer.handlers)))
)
