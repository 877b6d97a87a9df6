/**
 * The routes of an API, each with the services of its middlewares alone. `HttpApiBuilder.group` gives a route every
 * service that was there when the group was built, and copies them for each request. Handlers and middlewares hold the
 * services they use from the start, so a route needs none of the others.
 */
import { Context, Effect, Layer } from "effect"
import { type HttpApi, HttpApiBuilder, type HttpApiGroup } from "effect/http-api"
import { HttpRouter } from "effect/http"
import { registeredGroups } from "./RegisteredGroups.ts"

/** Registers the API with the router, as `HttpApiBuilder.layer` does. */
export const layer = <Id extends string, Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<Id, Groups>) =>
  HttpApiBuilder.layer(api).pipe(Layer.provide(leanGroups(api)))

/** The API's groups with other routes. */
const leanGroups = <Id extends string, Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<Id, Groups>) =>
  Layer.effectContext(
    Effect.contextWith((services: Context.Context<HttpApiGroup.ToService<Id, Groups>>) => {
      const groups = registeredGroups(api, services).map(({ group, routes, handlers }) => {
        const compiled = [...handlers.values()].map(({ endpoint, handler }, index) => {
          const { method, path, uninterruptible } = routes[index]!
          const ofMiddlewares = new Map([...endpoint.middlewares].map(({ key }) => [key, services.mapUnsafe.get(key)]))
          const compile = HttpApiBuilder.endpoint(
            api as never,
            group.identifier as never,
            endpoint.identifier as never,
            handler as never
          ) as unknown as Effect.Effect<HttpRouter.Route<unknown, never>["handler"]>
          const handle = Effect.runSyncWith(Context.makeUnsafe<never>(ofMiddlewares))(compile)
          return HttpRouter.route(method, path, handle, { uninterruptible })
        })
        return [group.key, { routes: compiled, handlers }] as const
      })
      return Effect.succeed(Context.makeUnsafe<HttpApiGroup.ToService<Id, Groups>>(new Map(groups)))
    })
  )
