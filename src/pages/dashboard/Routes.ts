/**
 * The routes of the dashboard, on the admin listener. Every action is a form that works without a script. Posts must
 * come from a page of this origin, and from an operator whose role allows them.
 */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { ApiKeys } from "../../auth/keys/ApiKeys.ts"
import { OperatorSessions } from "../../auth/operators/OperatorSessions.ts"
import { PersonSignIn } from "../../auth/operators/PersonSignIn.ts"
import { Readiness } from "../../engine/lifecycle/Readiness.ts"
import { IdempotentResponses } from "../../http/idempotency/IdempotentResponses.ts"
import { Settings } from "../../settings/Settings.ts"
import { Assets } from "../Assets.ts"
import { AdminApiClient } from "../ApiClients.ts"
import * as PageErrors from "../PageErrors.ts"
import { queryOf } from "../room/Visit.ts"
import { makeFrame } from "./Frame.ts"
import { home, makeGuard, refusalScreen, seeOther, type Sessions } from "./Guard.ts"
import type { Route } from "./Route.ts"
import * as Session from "./Session.ts"
import * as Analytics from "./screens/Analytics.ts"
import * as Consumers from "./screens/Consumers.ts"
import * as DropRoutes from "./DropRoutes.ts"
import * as Journals from "./screens/Journals.ts"
import * as Keys from "./screens/Keys.ts"
import * as Organization from "./screens/Organization.ts"
import * as Orders from "./screens/Orders.ts"
import * as Pages from "./screens/Pages.ts"
import { type MakePreview, PagePreview } from "./screens/PagePreview.ts"
import * as People from "./screens/People.ts"
import * as System from "./screens/System.ts"
import * as Webhooks from "./screens/Webhooks.ts"
import { firstScreen, makeSignIn } from "./SignIn.ts"

/** The services of the screens. */
interface Needs {
  readonly api: AdminApiClient["Service"]
  readonly preview: MakePreview
  readonly sessions: Sessions
  readonly keys: ApiKeys["Service"]
  readonly readiness: Readiness["Service"]
  readonly nodeName: string
  readonly roomUrl: (experienceId: string) => string
}

/** All routes that need a session. */
export const routesOf = ({
  api,
  preview,
  sessions,
  keys,
  readiness,
  nodeName,
  roomUrl
}: Needs): ReadonlyArray<Route> => [
  ...DropRoutes.make(api, roomUrl),
  ...Consumers.make(api),
  ...Orders.make(api),
  ...Analytics.make(api),
  ...Pages.make(api, preview),
  ...Webhooks.make(api),
  ...Keys.make(api, keys),
  ...People.make(api, sessions),
  ...Journals.make(api),
  ...Organization.make(api),
  ...System.make(api, readiness, nodeName)
]

/** The routes. They need the handlers of the Admin API. */
export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const frame = makeFrame(yield* Assets)
    const sessions = yield* Session.make
    const guard = yield* makeGuard(sessions, frame, yield* IdempotentResponses)
    const signIn = yield* makeSignIn(sessions, frame)
    const { nodeName } = yield* Settings

    yield* PageErrors.use(router, (refusal) => frame(refusalScreen(refusal)))
    yield* PageErrors.addFirstPage(router, () => Effect.succeed(seeOther(home)))
    yield* router.add(
      "GET",
      Session.signInPath,
      guard.open(Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => frame(firstScreen(queryOf(request)))))
    )
    yield* router.add("POST", Session.signInPath, guard.open(signIn.withKey))
    yield* router.add("POST", `${home}/sign-in/code`, guard.open(signIn.requestCode))
    yield* router.add("POST", `${home}/sign-in/verify`, guard.open(signIn.verifyCode))
    yield* router.add("POST", `${home}/sign-out`, guard.open(sessions.end(seeOther(Session.signInPath))))
    const routes = routesOf({
      api: yield* AdminApiClient,
      preview: yield* PagePreview,
      sessions,
      keys: yield* ApiKeys,
      readiness: yield* Readiness,
      nodeName,
      roomUrl: yield* makeRoomUrl
    })
    for (const route of routes) yield* router.add(route.method, `${home}${route.path}`, guard.forOperator(route))
  })
).pipe(
  Layer.provide(
    Layer.mergeAll(
      AdminApiClient.layer,
      Assets.layer,
      IdempotentResponses.layer,
      PersonSignIn.layer.pipe(Layer.provideMerge(OperatorSessions.layer))
    )
  )
)

/** Makes the function that tells where consumers see an experience: at `PUBLIC_URL`, else on this host. */
const makeRoomUrl = Effect.map(Settings, ({ publicUrl, consumerPort, tlsCertFile }) => {
  const base = publicUrl ?? `${tlsCertFile === undefined ? "http" : "https"}://localhost:${consumerPort}`
  return (experienceId: string) => `${base}/e/${experienceId}`
})
