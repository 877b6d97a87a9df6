/**
 * The methods that a path answers, for `405` and its `Allow`. It wraps the listener's router and records each route
 * that is added, so the table always equals what is served.
 */
import { Context, Effect, Layer } from "effect"
import { FindMyWay, HttpRouter } from "effect/http"

/** The way both APIs read paths. A long path parameter is matched and then refused as malformed, not as unknown. */
export const routerConfig = { maxParamLength: 1_000 }

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

export class Methods extends Context.Service<
  Methods,
  {
    /** The methods of this path; none if the path is unknown. */
    allowed(path: string): ReadonlyArray<string>
  }
>()("usher/http/server/Methods") {
  /** Wraps the router for everything that is built on top of it, and records the routes. */
  static readonly layer: Layer.Layer<HttpRouter.HttpRouter | Methods, never, HttpRouter.HttpRouter> =
    Layer.effectContext(
      Effect.gen(function* () {
        const router = yield* HttpRouter.HttpRouter
        const routes = FindMyWay.make<true>(routerConfig)
        const note = (method: string, path: HttpRouter.PathInput) => {
          if (method === "*") routes.all(path, true)
          else if (routes.find(method, path) === undefined) routes.on(method as "GET", path, true)
        }
        const noting: HttpRouter.HttpRouter = {
          ...router,
          add: (method, path, handler, options) => {
            note(method, path)
            return router.add(method, path, handler, options)
          },
          addAll: (added) => {
            for (const { method, path } of added) note(method, path)
            return router.addAll(added)
          }
        }
        return Context.make(HttpRouter.HttpRouter, noting).pipe(
          Context.add(Methods, {
            allowed: (path) => {
              const found = methods.filter((method) => routes.find(method, path) !== undefined)
              return found.includes("GET") ? ["HEAD", ...found] : found
            }
          })
        )
      })
    )
}
