/**
 * The routes of a room, on the consumer listener. The shell is the same for every visitor and reads no cookie, so caches
 * may keep it; `place` is one visitor's. Forms work without a script, and a script sends the same forms.
 */
import { Clock, Effect, Layer } from "effect"
import { Headers, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { isUuid } from "../../domain/values/Ids.ts"
import { toText } from "../../domain/values/Time.ts"
import { solutionHeader } from "../../http/challenge/ChallengeApi.ts"
import { Rooms } from "../../store/organization/Rooms.ts"
import { Assets } from "../Assets.ts"
import { Calls } from "../Calls.ts"
import { Refused } from "../Refused.ts"
import { bearerOf, makeIsOwn, readableHereOnly } from "../Security.ts"
import * as Actions from "./Actions.ts"
import { makeFailed } from "./Failed.ts"
import { makeFind } from "./Find.ts"
import { groupOf, type Kind, make as makePlaces, type Places } from "./Places.ts"
import { make as makeSessions, type Sessions } from "./Session.ts"
import * as Proofs from "./proof/Proofs.ts"
import { make as makeShell } from "./Shell.ts"
import { accessCodeScreen, signInScreen } from "./SignIn.ts"
import { type Done, showing } from "./Visitors.ts"
import { callerOf, makeWrite, queryOf, sceneOf, type Variation, type Visit, type Write } from "./Visit.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse
type Handle = Effect.Effect<Response, Refused, Request | HttpRouter.RouteContext>

/** The routes. They need the handlers of the Consumer API, and the services of `auth/`. */
export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const calls = yield* Calls
    const assets = yield* Assets
    const places = makePlaces(calls)
    const sessions = yield* makeSessions
    const find = yield* makeFind(sessions)
    const write = makeWrite(places, assets)
    const shell = makeShell(places, assets)
    const failed = makeFailed(assets)
    const proofs = yield* Proofs.make(calls, places, assets)
    const act = yield* makeAct({ calls, places, sessions, find, write })

    const route = (handle: Handle) => Effect.andThen(readableHereOnly, Effect.catchTag(handle, "Refused", failed))
    const slugOf = Effect.map(HttpRouter.params, ({ slug }) => slug)

    /** The shell. The address of an action, which a browser may reload, leads to the place. */
    const shown = Effect.gen(function* () {
      const slug = yield* slugOf
      const visit = yield* find("everybody")
      if (slug === undefined || !Actions.isAction(slug)) return yield* shell(visit, slug)
      return yield* redirected(visit, places)
    })
    const place = Effect.gen(function* () {
      const visit = yield* find("visitor")
      yield* calls.count(callerOf(visit), "consumers", "me")
      const response = yield* write(visit, variationOf(visit))
      return visit.session?.isDue === true ? yield* sessions.keep(response, visit.session) : response
    })

    yield* router.add("GET", "/e/:experienceId", route(shown))
    yield* router.add("GET", "/e/:experienceId/:slug", route(shown))
    const now = Effect.flatMap(find("everybody"), (visit) => shell(visit, undefined, true))
    // Widgets of shops show it to visitors without a session.
    yield* router.add("GET", "/e/:experienceId/now", Effect.catchTag(now, "Refused", failed))
    yield* router.add("GET", "/e/:experienceId/place", route(place))
    yield* router.add("GET", "/e/:experienceId/state", route(Effect.flatMap(find("visitor"), makeState(calls, places))))
    yield* router.add("GET", "/e/:experienceId/live", route(Effect.flatMap(find("visitor"), makeLive(calls))))
    yield* router.add("GET", "/e/:experienceId/proof", route(Effect.flatMap(find("everybody"), proofs.page)))
    yield* router.add("GET", "/e/:experienceId/proof.json", route(Effect.flatMap(find("everybody"), proofs.file)))
    yield* router.add("GET", "/e/:experienceId/receipt", route(Effect.flatMap(find("visitor"), proofs.receipt)))
    yield* router.add("POST", "/e/:experienceId/:slug", route(Effect.flatMap(slugOf, act)))
  })
).pipe(Layer.provide(Layer.mergeAll(Calls.layer, Assets.layer, Rooms.layer)))

/** The screen that the query asks for. */
const variationOf = ({ url }: Visit): Variation => {
  const from = url.get("from")
  const day = from !== null && /^\d{4}-\d{2}-\d{2}$/.test(from) ? { from } : {}
  switch (url.get("show")) {
    case "sign-in":
      return { screen: (scene) => signInScreen(scene, {}) }
    case "access-code":
      return { screen: accessCodeScreen }
    case "reschedule":
      return { isRescheduling: true, ...day }
    default:
      return day
  }
}

const redirected = Effect.fnUntraced(function* (visit: Visit, places: Places) {
  const { experience } = yield* places.shown(callerOf(visit), visit.room.experienceId)
  const { path } = sceneOf(visit, experience, yield* Clock.currentTimeMillis, undefined)
  return HttpServerResponse.empty({ status: 303, headers: { location: path("place"), "cache-control": "no-store" } })
})

interface Acting {
  readonly calls: Calls["Service"]
  readonly places: Places
  readonly sessions: Sessions
  readonly find: Effect.Success<ReturnType<typeof makeFind>>
  readonly write: Write
}

/** Makes the function that runs the action of a form. */
const makeAct = Effect.fnUntraced(function* ({ calls, places, sessions, find, write }: Acting) {
  const isOwn = yield* makeIsOwn
  const run = Actions.make(calls, places, sessions)

  return Effect.fnUntraced(function* (name: string | undefined) {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (name === undefined || !Actions.isAction(name)) return yield* new Refused({ status: 404, code: "NOT_FOUND" })
    if (!isOwn(request)) return yield* new Refused({ status: 403, code: "FOREIGN" })
    const found = yield* find("visitor")
    const fields = yield* fieldsOf(request)
    const visit = { ...found, attempt: attemptIn(fields) }
    const done = yield* run(name, { visit, fields }).pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, withSolution(request, fields.get("solution"))),
      Effect.catchTag("Refused", (refused) => Effect.succeed<Done>({ show: showing(refused) }))
    )
    const session =
      done.isOut === true ? undefined : done.session === undefined ? visit.session : { ...done.session, isDue: false }
    const now = { ...visit, session }
    const isShown = done.show !== undefined || visit.isPart
    const response = isShown ? yield* write(now, done.show) : yield* redirected(now, places)
    if (done.isOut === true) return yield* sessions.forget(response, visit.room.tenant)
    return done.session === undefined || bearerOf(request) !== undefined
      ? response
      : yield* sessions.keep(response, done.session)
  })
})

/** The name of an attempt is a random UUID. */
const attemptIn = (fields: URLSearchParams): string | undefined => {
  const attempt = fields.get("attempt")
  return attempt !== null && isUuid(attempt) ? attempt : undefined
}

/** The request with the solution of a challenge, which a form has in a field and the API in a header. */
const withSolution = (request: Request, solution: string | null): Request =>
  solution === null
    ? request
    : request.modify({ headers: Headers.set(request.headers, solutionHeader.toLowerCase(), solution) })

/** The fields of a form. Only the encoding of forms without files is read. */
const fieldsOf = (request: Request): Effect.Effect<URLSearchParams, Refused> => {
  const malformed = new Refused({ status: 400, code: "INVALID" })
  const type = request.headers["content-type"]
  if (type !== undefined && !/^application\/x-www-form-urlencoded\b/i.test(type)) return Effect.fail(malformed)
  return request.text.pipe(
    Effect.map((text) => new URLSearchParams(text)),
    Effect.mapError(() => malformed)
  )
}

/** Makes the function that answers with the visitor's places as JSON. It has no grant: that is only in a form. */
const makeState = (calls: Calls["Service"], places: Places) =>
  Effect.fnUntraced(function* (visit: Visit) {
    const caller = callerOf(visit)
    yield* calls.count(caller, "consumers", "me")
    const { mechanisms } = yield* places.ofVisitor(caller, visit.room.experienceId)
    const found = yield* Effect.forEach(
      caller.access === undefined ? [] : mechanisms,
      ({ kind, record: { id } }) =>
        Effect.map(places.state(caller, kind, id), (state) => {
          const { group, status } = groupOf[kind]
          const { admissionGrant: _, ...shown } = calls.encode(
            group as "queues",
            status as "status",
            state as never
          ) as {
            readonly admissionGrant?: string
          }
          return { id, kind, ...shown }
        }),
      { concurrency: 8 }
    )
    const now = toText(yield* Clock.currentTimeMillis)
    return HttpServerResponse.jsonUnsafe(
      { now, experienceId: visit.room.experienceId, places: found },
      { headers: { "cache-control": "no-store" } }
    )
  })

/** Makes the function that follows one place of the visitor: `?of={kind}.{id}`. */
const makeLive = (calls: Calls["Service"]) =>
  Effect.fnUntraced(function* (visit: Visit) {
    const caller = callerOf(visit)
    const request = yield* HttpServerRequest.HttpServerRequest
    const [kind = "", id = ""] = (queryOf(request).get("of") ?? "").split(".")
    if (caller.access === undefined) return yield* new Refused({ status: 401, code: "UNAUTHORIZED" })
    if (!Object.hasOwn(groupOf, kind)) return yield* new Refused({ status: 404, code: "NOT_FOUND" })
    yield* calls.count(caller, "consumers", "me")
    const { group, param } = groupOf[kind as Kind]
    const last = request.headers["last-event-id"]
    const headers = last === undefined ? {} : { "last-event-id": last }
    const stream = yield* calls.run(caller, group as "queues", "events", { params: { [param]: id }, headers })
    return stream as unknown as Response
  })
