/**
 * The routes of a room, on the consumer listener. The shell is the same for every visitor and reads no cookie, so caches
 * may keep it; `place` is one visitor's. Forms work without a script, and a script sends the same forms.
 */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { declarations, isKind } from "../../domain/mechanism/Mechanism.ts"
import { toText } from "../../domain/values/Time.ts"
import { AssignedProducts } from "../../store/experience/AssignedProducts.ts"
import { RoomVisits } from "../../store/experience/RoomVisits.ts"
import { StreamAddition } from "../../http/consumer/mechanism/StreamAddition.ts"
import { QueueWaits } from "../../http/consumer/queue/QueueWaits.ts"
import { Settings } from "../../settings/Settings.ts"
import { Rooms } from "../../store/organization/Rooms.ts"
import { Alerts } from "../../store/message/Alerts.ts"
import { Assets } from "../Assets.ts"
import { ConsumerApiClient } from "../ApiClients.ts"
import * as PageErrors from "../PageErrors.ts"
import { makeUnlessStopping, notFound, Refusal } from "../Refusal.ts"
import { readableHereOnly } from "../Security.ts"
import { makeFormHandler, redirectToPlace } from "./FormHandler.ts"
import * as AlertEnd from "./AlertEnd.ts"
import * as Actions from "./Actions.ts"
import { makeErrorPage, makeFirstPage } from "./ErrorPage.ts"
import { callerOf, makeFindVisit, makeOnVisit, makeWrite, queryOf, type Variation, type Visit } from "./Visit.ts"
import { make as makePlaces, type Places } from "./Places.ts"
import { roomKindOf } from "./mechanism/Kinds.ts"
import * as ReturnCheck from "./ReturnCheck.ts"
import { make as makeSessions } from "./Session.ts"
import * as LinePage from "./proof/LinePage.ts"
import * as DrawProof from "./proof/DrawProof.ts"
import { make as makeShell } from "./Shell.ts"
import * as TakeOver from "./TakeOver.ts"
import { accessCodeScreen, signInScreen } from "./signIn/SignInScreens.ts"
import * as Time from "../../store/coordination/Time.ts"

type Response = HttpServerResponse.HttpServerResponse
type Handle = Effect.Effect<Response, Refusal, HttpServerRequest.HttpServerRequest | HttpRouter.RouteContext>

const slugOf = Effect.map(HttpRouter.params, ({ slug }) => slug)

/** The routes. They need the handlers of the Consumer API, and the services of `auth/`. */
export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const api = yield* ConsumerApiClient
    const assets = yield* Assets
    const places = makePlaces(api)
    const sessions = yield* makeSessions
    const waits = yield* QueueWaits
    const visits = yield* RoomVisits
    const find = yield* makeFindVisit(sessions)
    const onVisit = yield* makeOnVisit(find)
    const write = yield* makeWrite(places, assets)
    const shell = makeShell(places, assets, (yield* Settings).publicUrl)
    const failed = makeErrorPage(assets)
    const firstPage = makeFirstPage(assets)
    yield* PageErrors.use(router, failed)
    yield* PageErrors.addFirstPage(router, (request) => Effect.andThen(readableHereOnly, firstPage(request)))
    const proofs = yield* DrawProof.make(api, places, assets)
    const line = LinePage.make(api, places, assets)
    const act = yield* makeFormHandler({ api, places, sessions, onVisit, write })

    const unlessStopping = yield* makeUnlessStopping
    const route = (handle: Handle) =>
      Effect.andThen(readableHereOnly, Effect.catchTag(Effect.andThen(unlessStopping, handle), "Refusal", failed))

    /** The shell. The address of an action, which a browser may reload, leads to the place. */
    const shown = Effect.flatMap(slugOf, (slug) =>
      onVisit("everybody", (visit) =>
        slug === undefined || !Actions.isAction(slug)
          ? Effect.tap(shell(visit, slug), () => visits.count(visit.room))
          : redirectToPlace(visit, places)
      )
    )
    const place = onVisit(
      "visitor",
      Effect.fnUntraced(function* (visit: Visit) {
        yield* api.count(callerOf(visit), "consumers", "me")
        const response = yield* write(visit, variationOf(visit))
        return visit.session?.isDue === true ? yield* sessions.keep(response, visit.session) : response
      })
    )

    for (const slug of ["", "/:slug"] as const) yield* router.add("GET", `/e/:experienceId${slug}`, route(shown))
    // Widgets of shops show it to visitors without a session.
    const now = onVisit("everybody", (visit) => shell(visit, undefined, true))
    yield* router.add("GET", "/e/:experienceId/now", Effect.catchTag(now, "Refusal", failed))
    yield* router.add("GET", "/e/:experienceId/place", route(place))
    const alert = onVisit("visitor", yield* AlertEnd.make(write))
    for (const method of ["GET", "POST"] as const) yield* router.add(method, "/e/:experienceId/alert", route(alert))
    const takeOver = onVisit("visitor", yield* TakeOver.make(api, places, sessions))
    yield* router.add("GET", "/e/:experienceId/visit", route(takeOver))
    const state = onVisit("visitor", makeState(api, places, waits))
    yield* router.add("GET", "/e/:experienceId/state", route(state))
    yield* router.add("GET", "/e/:experienceId/live", route(onVisit("visitor", makeLive(api, waits))))
    yield* router.add("GET", "/e/:experienceId/return", route(onVisit("everybody", ReturnCheck.make(places))))
    yield* router.add("GET", "/e/:experienceId/line", route(onVisit("visitor", line)))
    yield* router.add("GET", "/e/:experienceId/proof", route(onVisit("everybody", proofs.page)))
    yield* router.add("GET", "/e/:experienceId/proof.json", route(onVisit("everybody", proofs.file)))
    yield* router.add("GET", "/e/:experienceId/receipt", route(onVisit("visitor", proofs.receipt)))
    yield* router.add("POST", "/e/:experienceId/:slug", route(Effect.flatMap(slugOf, act)))
  })
).pipe(
  Layer.provide(
    Layer.mergeAll(
      Alerts.layer,
      AssignedProducts.layer,
      ConsumerApiClient.layer,
      Assets.layer,
      QueueWaits.layer,
      Rooms.layer,
      RoomVisits.layer
    )
  )
)

/** The screen that the query asks for. */
const variationOf = ({ url }: Visit): Variation => {
  const from = url.get("from")
  const day = from !== null && /^\d{4}-\d{2}-\d{2}$/.test(from) ? { from } : {}
  switch (url.get("show")) {
    case "sign-in":
      return { screen: (scene) => signInScreen(scene, {}) }
    case "sign-in-phone":
      return { screen: (scene) => signInScreen(scene, {}, { channel: "phone", value: "" }) }
    case "remind":
    case "outbid": {
      const next = { action: url.get("show")!, at: url.get("at") ?? undefined }
      return { screen: (scene) => signInScreen(scene, next) }
    }
    case "access-code":
      return { screen: accessCodeScreen }
    case "reschedule":
      return { isRescheduling: true, ...day }
    default:
      return day
  }
}

/** Makes the function that answers with the visitor's places as JSON. It has no grant: that is only in a form. */
const makeState = (api: ConsumerApiClient["Service"], places: Places, waits: QueueWaits["Service"]) =>
  Effect.fnUntraced(function* (visit: Visit) {
    const caller = callerOf(visit)
    yield* api.count(caller, "consumers", "me")
    const { mechanisms } = yield* places.ofVisitor(caller, visit.room.experienceId)
    const found = yield* Effect.forEach(
      caller.access === undefined ? [] : mechanisms,
      Effect.fnUntraced(function* ({ kind, record: { id } }) {
        const state = yield* places.state(caller, kind, id)
        const { group } = declarations[kind]
        const { status } = roomKindOf(kind)
        const { admissionGrant: _, ...shown } = api.encode(group as "queues", status as "status", state as never) as {
          readonly admissionGrant?: string
        }
        return { id, kind, ...shown, ...(yield* waits.fieldsOf({ kind, id, tenant: visit.room.tenant }, state)) }
      }),
      { concurrency: 8 }
    )
    const now = toText(yield* Time.now)
    return HttpServerResponse.jsonUnsafe(
      { now, experienceId: visit.room.experienceId, places: found },
      { headers: { "cache-control": "no-store" } }
    )
  })

/** Makes the function that follows one place of the visitor: `?of={kind}.{id}`. */
const makeLive = (api: ConsumerApiClient["Service"], waits: QueueWaits["Service"]) =>
  Effect.fnUntraced(function* (visit: Visit) {
    const caller = callerOf(visit)
    const request = yield* HttpServerRequest.HttpServerRequest
    const [kind = "", id = ""] = (queryOf(request).get("of") ?? "").split(".")
    if (caller.access === undefined) return yield* new Refusal({ status: 401, code: "UNAUTHORIZED" })
    if (!isKind(kind)) return yield* notFound
    yield* api.count(caller, "consumers", "me")
    const { group, parameter } = declarations[kind]
    const last = request.headers["last-event-id"]
    const headers = last === undefined ? {} : { "last-event-id": last }
    const stream = yield* api
      .run(caller, group as "queues", "events", { params: { [parameter]: id }, headers })
      .pipe(Effect.provideService(StreamAddition, waits.fieldsOf))
    return stream as unknown as Response
  })
