/** The groups of an API as `HttpApiBuilder.group` registers them. HttpApi keeps this form to itself: it is declared here alone. */
import type { Context, Effect } from "effect"
import type { HttpRouter } from "effect/http"
import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"

/** The handler of an operation. It needs the services of its group, and those that the middlewares of the operation provide. */
interface RegisteredHandler {
  readonly endpoint: HttpApiEndpoint.Top
  readonly handler: (request: object) => Effect.Effect<unknown, unknown>
}

interface RegisteredGroup {
  readonly group: HttpApiGroup.Top
  /** In the order of the handlers. */
  readonly routes: ReadonlyArray<HttpRouter.Route<unknown, never>>
  /** By the name of the operation. */
  readonly handlers: ReadonlyMap<string, RegisteredHandler>
}

/** Returns the groups of an API from the services that its handlers' layers have built. */
export const registeredGroups = (
  api: { readonly groups: object },
  services: Context.Context<never>
): ReadonlyArray<RegisteredGroup> =>
  (Object.values(api.groups) as ReadonlyArray<HttpApiGroup.Top>).map((group) => ({
    group,
    ...(services.mapUnsafe.get(group.key) as Omit<RegisteredGroup, "group">)
  }))
