/**
 * Which methods a path answers, for `405` and its `Allow`. The listener's router is wrapped to note each route that is
 * added, so that the table cannot differ from what is really served.
 */
import { Context, Effect, Layer } from "effect"
import { FindMyWay, HttpRouter } from "effect/http"

/** How both APIs read paths. A long path parameter is matched, and then refused as malformed, not as unknown. */
export const routerConfig = { maxParamLength: 1_000 }

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

export class Methods extends Context.Service<
  Methods,
  {
    /** The methods that are answered at this path; none if the path is unknown. */
    allowed(path: string): ReadonlyArray<string>
  }
>()("usher/http/server/Methods") {
  /** The router for everything built on top of it, noting what is added. */
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
