/** The request of a form: its visitor, its contents, and the answer to its outcome. */
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { Headers, HttpServerRequest, HttpServerResponse } from "effect/http"
import { isUuid } from "../../domain/values/Ids.ts"
import { solutionHeader } from "../../api/Challenge.ts"
import { Origins } from "../../http/server/Origins.ts"
import type { ConsumerApiClient } from "../ApiClients.ts"
import { notFound, Refusal } from "../Refusal.ts"
import { bearerOf, makeIsOwn } from "../Security.ts"
import * as Actions from "./Actions.ts"
import { callerOf, type makeOnVisit, sceneOf, type Variation, type Visit, type Write } from "./Visit.ts"
import { solutionIn, widgetScreen } from "./ChallengeWidget.ts"
import type { Places } from "./Places.ts"
import type { Sessions } from "./Session.ts"
import { type ActionResult, refusalVariation } from "./ActionRunner.ts"
import * as Time from "../../store/coordination/Time.ts"

/** The name of the cookie with the name of a first attempt (`auth/sessions/Guests.ts`). */
const attemptCookie = "usher-attempt"

/** As long as an attempt can be repeated. */
const attemptSeconds = 60

type Request = HttpServerRequest.HttpServerRequest

/** Leads to the visitor's place. */
export const redirectToPlace = Effect.fnUntraced(function* (visit: Visit, places: Places) {
  const { experience } = yield* places.shown(callerOf(visit), visit.room.experienceId)
  const { path } = sceneOf(visit, experience, yield* Time.now, undefined)
  return HttpServerResponse.empty({ status: 303, headers: { location: path("place"), "cache-control": "no-store" } })
})

interface FormHandlerNeeds {
  readonly api: ConsumerApiClient["Service"]
  readonly places: Places
  readonly sessions: Sessions
  readonly onVisit: Effect.Success<ReturnType<typeof makeOnVisit>>
  readonly write: Write
}

/** Makes the function that runs the action of a form. */
export const makeFormHandler = Effect.fnUntraced(function* ({
  api,
  places,
  sessions,
  onVisit,
  write
}: FormHandlerNeeds) {
  const isOwn = yield* makeIsOwn
  const run = Actions.make(api, places, sessions)
  const named = yield* makeNamed

  const acted = Effect.fnUntraced(function* (name: Actions.ActionName, request: Request, found: Visit) {
    const fields = yield* fieldsOf(request)
    const visit = { ...found, attempt: attemptOf(request, found, fields) }
    const isFirst = visit.session === undefined && visit.attempt === undefined && !visit.isPart
    if (isFirst && Actions.startsSession(name)) return yield* named(request)
    const done = yield* run(name, { visit, fields }).pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, withSolution(request, solutionIn(fields))),
      Effect.catchTag("Refusal", (refusal) => Effect.succeed<ActionResult>({ show: refusalVariation(refusal) }))
    )
    const session =
      done.isOut === true ? undefined : done.session === undefined ? visit.session : { ...done.session, isDue: false }
    const now = { ...visit, session }
    const shown = done.show === undefined ? undefined : withWidget(done.show, name, now, fields, request)
    const isWritten = shown !== undefined || visit.isPart
    const response = isWritten
      ? yield* write(now, { ...shown, acted: fields.get("at") ?? undefined })
      : yield* redirectToPlace(now, places)
    if (done.isOut === true) return yield* sessions.forget(response, visit.room.tenant)
    return done.session === undefined || bearerOf(request) !== undefined
      ? response
      : yield* sessions.keep(response, done.session)
  })

  return Effect.fnUntraced(function* (name: string | undefined) {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (name === undefined || !Actions.isAction(name)) return yield* notFound
    if (!isOwn(request)) return yield* new Refusal({ status: 403, code: "FOREIGN" })
    return yield* onVisit("visitor", (found) => acted(name, request, found))
  })
})

/** A refusal that asks for the widget of a provider is a screen with the form, which is sent again with its token. */
const withWidget = (
  show: Variation,
  name: string,
  visit: Visit,
  fields: URLSearchParams,
  request: Request
): Variation => {
  const isEmbedded = bearerOf(request) !== undefined
  const screen = widgetScreen(show.refusal, name, { fields, isPart: visit.isPart, isEmbedded })
  return screen === undefined ? show : { status: show.refusal!.status, ...screen }
}

/**
 * Makes the function that names the first form of a visitor whose browser runs no script, and has it sent again. The
 * shell is the same for all visitors, so its forms have no name. With the name a lost answer is repeated: a browser
 * that reloads sends it in the address, and one that goes back has it in a cookie.
 */
const makeNamed = Effect.gen(function* () {
  const origins = yield* Origins
  const random = yield* SecureRandom.SecureRandom
  return Effect.fnUntraced(function* (request: Request) {
    const attempt = yield* random.uuidV4()
    const location = `${request.url}${request.url.includes("?") ? "&" : "?"}attempt=${attempt}`
    const response = HttpServerResponse.empty({ status: 307, headers: { location, "cache-control": "no-store" } })
    const secure = origins.of(request).isEncrypted
    const options = {
      path: "/e",
      sameSite: "lax",
      secure,
      httpOnly: true,
      maxAge: `${attemptSeconds} seconds`
    } as const
    return HttpServerResponse.setCookieUnsafe(response, attemptCookie, attempt, options)
  })
})

/** The name of an attempt is a random UUID: in the form of a script, in the address, or in a cookie. */
const attemptOf = ({ cookies }: Request, { url }: Visit, fields: URLSearchParams): string | undefined =>
  [fields.get("attempt"), url.get("attempt"), cookies[attemptCookie]].find(
    (attempt): attempt is string => typeof attempt === "string" && isUuid(attempt)
  )

/** The request with the solution of a challenge, which a form has in a field and the API in a header. */
const withSolution = (request: Request, solution: string | undefined): Request =>
  solution === undefined
    ? request
    : request.modify({ headers: Headers.set(request.headers, solutionHeader.toLowerCase(), solution) })

/** The fields of a form. Only the encoding of forms without files is read. */
const fieldsOf = (request: Request): Effect.Effect<URLSearchParams, Refusal> => {
  const malformed = new Refusal({ status: 400, code: "INVALID" })
  const type = request.headers["content-type"]
  if (type !== undefined && !/^application\/x-www-form-urlencoded\b/i.test(type)) return Effect.fail(malformed)
  return request.text.pipe(
    Effect.map((text) => new URLSearchParams(text)),
    Effect.mapError(() => malformed)
  )
}
