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
import * as PublicUrl from "../../http/server/PublicUrl.ts"
import { Settings } from "../../settings/Settings.ts"
import { Assets } from "../Assets.ts"
import { AdminApiClient } from "../ApiClients.ts"
import * as PageErrors from "../PageErrors.ts"
import { queryOf } from "../room/Visit.ts"
import { makeFrame } from "./Frame.ts"
import { home, makeGuard, refusalScreen, seeOther, type Sessions } from "./Guard.ts"
import type { Route } from "./Route.ts"
import * as Session from "./Session.ts"
import * as Catalogue from "./catalogue/Catalogue.ts"
import * as Gates from "./gates/Gates.ts"
import * as Analytics from "./screens/Analytics.ts"
import * as Archive from "./screens/Archive.ts"
import * as Consumers from "./screens/Consumers.ts"
import * as DropRoutes from "./drop/DropRoutes.ts"
import { type MakeRoomPreview, RoomPreview } from "./look/RoomPreview.ts"
import * as FirstBrand from "./screens/FirstBrand.ts"
import * as Journals from "./screens/Journals.ts"
import * as Keys from "./screens/Keys.ts"
import * as Organization from "./screens/Organization.ts"
import * as Orders from "./screens/Orders.ts"
import * as Pages from "./screens/Pages.ts"
import { type MakePreview, PagePreview } from "./screens/PagePreview.ts"
import * as People from "./screens/People.ts"
import * as Search from "./screens/Search.ts"
import * as SecurityEvents from "./screens/SecurityEvents.ts"
import * as System from "./screens/System.ts"
import * as Webhooks from "./screens/Webhooks.ts"
import { firstScreen, makeSignIn } from "./SignIn.ts"
import * as Stocks from "./stocks/Stocks.ts"

/** The services of the screens. */
interface Needs {
  readonly api: AdminApiClient["Service"]
  readonly preview: MakePreview
  readonly roomPreview: MakeRoomPreview
  readonly sessions: Sessions
  readonly keys: ApiKeys["Service"]
  readonly readiness: Readiness["Service"]
  readonly nodeName: string
  /** The senders of messages, as the operator of the installation has set them. */
  readonly senders: Organization.Senders
  readonly roomUrl: (experienceId: string) => string
  /** Where consumers reach this installation. */
  readonly publicUrl: string
}

/** All routes that need a session. */
export const routesOf = ({
  api,
  preview,
  roomPreview,
  sessions,
  keys,
  readiness,
  nodeName,
  senders,
  roomUrl,
  publicUrl
}: Needs): ReadonlyArray<Route> => [
  ...DropRoutes.make({ api, sessions, roomPreview }, roomUrl),
  ...Catalogue.make(api),
  ...Stocks.make(api),
  ...Archive.make(api),
  ...Consumers.make(api),
  ...Orders.make(api),
  ...Analytics.make(api),
  ...Pages.make(api, preview),
  ...Webhooks.make(api),
  ...Gates.make(api, publicUrl),
  ...Keys.make(api, keys),
  ...People.make(api, sessions),
  ...Journals.make(api),
  ...Organization.make(api, senders),
  ...FirstBrand.make(api),
  ...Search.make(api),
  ...SecurityEvents.make(api),
  ...System.make(api, readiness, nodeName)
]

/** The forms that need no session: a code is requested, and verified; a session ends. */
const signInForms = [`${home}/sign-in/code`, `${home}/sign-in/verify`, `${home}/sign-out`] as const

/** The routes. They need the handlers of the Admin API. */
export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const frame = makeFrame(yield* Assets)
    const sessions = yield* Session.make
    const guard = yield* makeGuard(sessions, frame, yield* IdempotentResponses)
    const signIn = yield* makeSignIn(sessions, frame)
    const { nodeName, emailFrom, smsFrom } = yield* Settings

    yield* PageErrors.use(router, (refusal) => frame(refusalScreen(refusal)))
    yield* PageErrors.addFirstPage(router, () => Effect.succeed(seeOther(home)))
    yield* router.add(
      "GET",
      Session.signInPath,
      guard.open(Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => frame(firstScreen(queryOf(request)))))
    )
    yield* router.add("POST", Session.signInPath, guard.open(signIn.withKey))
    const [code, verify, signOut] = signInForms
    yield* router.add("POST", code, guard.open(signIn.requestCode))
    yield* router.add("POST", verify, guard.open(signIn.verifyCode))
    yield* router.add("POST", signOut, guard.open(sessions.end(seeOther(Session.signInPath))))
    const { base: publicUrl, roomUrl } = yield* PublicUrl.make
    const routes = routesOf({
      api: yield* AdminApiClient,
      preview: yield* PagePreview,
      roomPreview: yield* RoomPreview,
      sessions,
      keys: yield* ApiKeys,
      readiness: yield* Readiness,
      nodeName,
      senders: { email: emailFrom, phone: smsFrom },
      roomUrl,
      publicUrl
    })
    for (const route of routes) yield* router.add(route.method, `${home}${route.path}`, guard.forOperator(route))
    for (const [path, depth] of addressesLeft(routes)) yield* router.add("GET", path, guard.open(upTo(depth)))
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

/**
 * The addresses that only take forms, each with the segments of the address of its screen. A form leaves its address in
 * the browser, which loads it again.
 */
const addressesLeft = (routes: ReadonlyArray<Route>): ReadonlyMap<`/${string}`, number> => {
  const those = (method: Route["method"]) =>
    routes.flatMap((route) => (route.method === method ? [`${home}${route.path}` as const] : []))
  const screens = new Set<string>([...those("GET"), Session.signInPath])
  const forms = [...those("POST"), ...signInForms].filter((path) => !screens.has(path))
  return new Map(
    forms.map((path) => {
      const segments = path.split("/")
      let depth = segments.length - 1
      while (!screens.has(segments.slice(0, depth).join("/"))) depth--
      return [path, depth]
    })
  )
}

/** Leads to the first segments of the address. */
const upTo = (depth: number) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) =>
    seeOther(url.split("?", 1)[0]!.split("/").slice(0, depth).join("/"))
  )
