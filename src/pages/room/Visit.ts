/** One request for a room: the experience, the visitor, and how the page is written for it. */
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { ApiKeys, type KeyHolder } from "../../auth/keys/ApiKeys.ts"
import type { PageSession } from "../../auth/tokens/PageTokens.ts"
import { Protection } from "../../auth/sessions/Protection.ts"
import type { VerifiedAccess } from "../../domain/consumer/Session.ts"
import { AssignedProducts } from "../../store/experience/AssignedProducts.ts"
import { type Room, Rooms } from "../../store/organization/Rooms.ts"
import * as Answer from "../Answer.ts"
import type { Assets } from "../Assets.ts"
import type { Caller } from "../ApiClients.ts"
import { formatsOf } from "../Formats.ts"
import { html, type Html, nothing } from "../Html.ts"
import { notFound, Refusal, unavailable } from "../Refusal.ts"
import { bearerOf, headersOf } from "../Security.ts"
import { type Language, languageOf, supportedLanguage, wordsIn } from "../Words.ts"
import { documentOf } from "./Document.ts"
import { isFull, messageOf } from "./RefusalText.ts"
import type { Mechanism } from "./mechanism/Kinds.ts"
import type { ViewOptions } from "./mechanism/RoomKind.ts"
import { piecesOf, type Place } from "./Pieces.ts"
import type { Places, PublicRoom } from "./Places.ts"
import { type Experience, type Scene, timeOf } from "./Scene.ts"
import { Delivery } from "../../delivery/Delivery.ts"
import { isUuid } from "../../domain/values/Ids.ts"
import { Settings } from "../../settings/Settings.ts"
import { isLoopback } from "../../settings/Loopback.ts"
import { restrictingOrigin } from "../../http/credentials/AllowedOrigins.ts"
import { QueueWaits } from "../../http/consumer/queue/QueueWaits.ts"
import { RateLimits } from "../../http/limits/RateLimits.ts"
import { countedAddress, Origins } from "../../http/server/Origins.ts"
import type { Sessions } from "./Session.ts"
import { inTimeOf, TestClocks } from "../../store/testClock/TestClocks.ts"
import * as Time from "../../store/coordination/Time.ts"

/** The visitor and the requested room. */
export interface Visit {
  readonly room: Room
  readonly holder: KeyHolder
  /** The session of the cookie. */
  readonly session: PageSession | undefined
  /** The name that a script has given to its attempt to enter. It starts the same session again. */
  readonly attempt?: string | undefined
  readonly url: URLSearchParams
  readonly language: Language
  /** True if codes go out by SMS. */
  readonly takesPhones: boolean
  /** True if emails go out. */
  readonly takesMail: boolean
  /** True if a script asks for the visitor's part alone. */
  readonly isPart: boolean
  /** True if a test clock shows the time. */
  readonly hasTestClock?: boolean
}

/** How a page differs from the visitor's place. */
export interface Variation extends ViewOptions {
  /** Shown above the place. */
  readonly refusal?: Refusal
  /** Shown in its stead. */
  readonly screen?: (scene: Scene) => Html
  readonly status?: number
  /** The origins of the widget that the screen has. It has no script of the room then. */
  readonly widgetSources?: ReadonlyArray<string>
  /** The first day of slots. */
  readonly from?: string | undefined
}

/** The longest address of a shop to which a page continues. */
const returnLengthMax = 2_000

export const callerOf = ({ holder, session }: Visit): Caller => ({ holder, access: session })

/** The query of a request. */
export const queryOf = ({ url }: HttpServerRequest.HttpServerRequest): URLSearchParams => {
  const mark = url.indexOf("?")
  return new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1))
}

/** The language of a request. */
export const languageIn = (request: HttpServerRequest.HttpServerRequest): Language =>
  languageOf(queryOf(request).get("lang"), request.headers["accept-language"])

/**
 * Returns the shop's address to go on to: the asked one if its origin is allowed, or a gate's, else that of the first
 * product.
 */
export const shopUrlOf = (
  returnUrl: string | null,
  { holder: { allowedOrigins = [] }, room: { gateHosts = [] } }: Pick<Visit, "holder" | "room">,
  { products }: Experience
): string | undefined => {
  const own = products.flatMap(({ product: { url } }) => (url !== null && isWebAddress(url) ? [new URL(url)] : []))
  if (returnUrl !== null && returnUrl.length <= returnLengthMax && isWebAddress(returnUrl)) {
    const wanted = new URL(returnUrl)
    const isOfGate =
      gateHosts.includes(wanted.hostname) && (wanted.protocol === "https:" || isLoopback(wanted.hostname))
    const isAllowed = isOfGate || allowedOrigins.includes(wanted.origin)
    if (isAllowed || own.some(({ origin }) => origin === wanted.origin)) return wanted.href
  }
  return own[0]?.href
}

const isWebAddress = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

/** Makes what a page needs to show itself. */
export const sceneOf = (
  visit: Pick<Visit, "room" | "holder" | "url" | "language" | "takesPhones" | "takesMail" | "hasTestClock">,
  experience: Experience,
  now: number,
  access: VerifiedAccess | undefined
): Scene => {
  const { room, url, language } = visit
  const returnUrl = url.get("return")
  const shopUrl = shopUrlOf(returnUrl, visit, experience)
  const kept = {
    lang: supportedLanguage(url.get("lang") ?? "") === language ? language : undefined,
    return: shopUrl === undefined || returnUrl === null ? undefined : shopUrl
  }
  return {
    language,
    words: wordsIn(language, experience.i18n, experience.theme?.address),
    formats: formatsOf(language, experience.timeZone),
    experience,
    now,
    hasTestClock: visit.hasTestClock === true,
    visitor: access === undefined ? "none" : access.sessionType,
    takesPhones: visit.takesPhones,
    takesMail: visit.takesMail,
    sendsTurns: room.sendsTurns === true,
    shopUrl,
    roomPath: (experienceId) => `/e/${experienceId}${kept.lang === undefined ? "" : `?lang=${kept.lang}`}`,
    path: (name, more = {}) => {
      const query = new URLSearchParams()
      for (const [key, value] of Object.entries({ ...kept, ...more })) if (value !== undefined) query.set(key, value)
      const base = name === "" ? `/e/${room.experienceId}` : `/e/${room.experienceId}/${name}`
      return query.size === 0 ? base : `${base}?${query}`
    }
  }
}

/** The origins to which the forms of a page go. */
export const formOriginsOf = ({ shopUrl }: Scene): ReadonlyArray<string> =>
  shopUrl === undefined ? [] : [new URL(shopUrl).origin]

/** Makes the function that answers with the visitor's page, or with the visitor's part of it. */
export const makeWrite = Effect.fnUntraced(function* (places: Places, assets: Assets["Service"]) {
  const limitsOf = yield* makeLimits
  const { rangeOf } = yield* QueueWaits
  const { publicUrl } = yield* Settings
  const presently = makePresently(places)
  const alertOf = makeAlertOf(places)
  const placesOf = Effect.fnUntraced(function* (visit: Visit, shown: PublicRoom, from: string | undefined) {
    const caller = callerOf(visit)
    return yield* Effect.forEach(
      shown.mechanisms,
      Effect.fnUntraced(function* (found): Effect.fn.Return<Place, Refusal, HttpServerRequest.HttpServerRequest> {
        const { kind, record } = found
        const mechanism = yield* presently(caller, found, from)
        if (caller.access === undefined) return { mechanism }
        const limits = yield* limitsOf(caller.access, record)
        const state = yield* places.state(caller, kind, record.id)
        const alert = yield* alertOf(caller, visit.room, mechanism, state)
        if (kind !== "queue") return { mechanism, state, limits: { ...limits, alert } }
        const waitRange = yield* rangeOf({ kind, id: record.id, tenant: visit.room.tenant }, state)
        return { mechanism, state, limits: { ...limits, alert, waitRange } }
      }),
      { concurrency: 8 }
    )
  })

  return Effect.fnUntraced(function* (visit: Visit, variation: Variation = {}) {
    const { room, session } = visit
    const shown = yield* places.ofVisitor(callerOf(visit), room.experienceId)
    const now = yield* Time.now
    const scene = { ...sceneOf(visit, shown.experience, now, session), nextDrop: shown.nextDrop }
    const { refusal, screen, from, widgetSources = [], status = refusal?.status ?? 200 } = variation
    const found = screen === undefined ? (yield* placesOf(visit, shown, from)).map(makeRefused(variation)) : []
    const message = refusal === undefined ? nothing : messageOf(scene, refusal)
    const above = screen === undefined ? message : html`<section class="card">${message}${screen(scene)}</section>`
    const pieces = piecesOf(scene, found, above, variation)
    const formOrigins = formOriginsOf(scene)
    const css = yield* assets.text("room.css")
    const script = widgetSources.length === 0 ? yield* assets.text("room.ts") : ""
    if (visit.isPart) {
      const headers = headersOf({ scripts: [], styles: [css], formOrigins })
      return yield* Answer.ofVisitor(pieces.html.text, status, { ...headers, ...timeOf(scene) })
    }
    const { organizationName } = room
    const page = { ...shown, organizationName, publicUrl, pieces, script, css, isShell: false }
    const { text, styles } = documentOf(scene, page)
    const headers = headersOf({ scripts: script === "" ? [] : [script], styles, formOrigins, widgetSources })
    return yield* Answer.ofVisitor(text, status, headers)
  })
})

/** Makes the function that returns a place as a refused action has met it: the public facts may be a second older. */
const makeRefused =
  ({ refusal, acted }: Variation) =>
  (place: Place): Place => {
    const { mechanism } = place
    if (refusal === undefined || mechanism.record.id !== acted || !isFull(refusal)) return place
    return { ...place, mechanism: { ...mechanism, live: { ...mechanism.live, isFull: true, unitsLeft: 0 } } }
  }

/** Makes the function that returns the mechanism with facts that are of this moment, or of another day. */
const makePresently = (places: Places) => (caller: Caller, found: Mechanism, from: string | undefined) => {
  const { kind, record } = found
  if (kind === "auction" && caller.access !== undefined) {
    return Effect.map(places.auctionFacts(caller, record.id), (facts) => ({ ...found, facts }))
  }
  if (kind !== "appointment" || from === undefined) return Effect.succeed(found)
  return Effect.map(
    Effect.orElseSucceed(places.slots(caller, record.id, from), () => found.slots),
    (slots) => ({
      ...found,
      slots
    })
  )
}

/** Makes the function that reads the email that the visitor may have asked for. Only a card that offers one needs it. */
const makeAlertOf =
  (places: Places) =>
  (caller: Caller, { experienceId }: Room, { kind, record }: Mechanism, state: Place["state"]) => {
    const isOffered =
      record.lifecycle === "scheduled" || (kind === "auction" && state !== undefined && "bidCount" in state)
    if (!isOffered || caller.access?.sessionType !== "authenticated") return Effect.undefined
    const about = record.lifecycle === "scheduled" ? "queue" : kind
    return Effect.orElseSucceed(places.alert(caller, about, { experienceId, id: record.id }), () => undefined)
  }

/** Makes the function that tells what limits a visitor in a mechanism. */
const makeLimits = Effect.gen(function* () {
  const protection = yield* Protection
  const products = yield* AssignedProducts
  return ({ consumerId, tenant }: VerifiedAccess, { sequenceId }: Mechanism["record"]) => {
    const sequence = { ...tenant, sequenceId }
    return Effect.all({
      admission: protection.admission(sequence, consumerId),
      assigned: Effect.map(products.of(sequence, consumerId), (product) => product?.variantIds)
    }).pipe(Effect.catchTag("Unavailable", unavailable))
  }
})

export type Write = Effect.Success<ReturnType<typeof makeWrite>>

/** Requests of one address for rooms in a minute. Behind a trusted proxy each client has its own. */
const requestsPerAddress = 1_200

/** Makes the function that runs a handler for the visit of a request, in the time of the room's tenant. */
export const makeOnVisit = (find: FindVisit) =>
  Effect.map(
    TestClocks,
    (clocks) =>
      <A, E, R>(audience: Audience, handle: (visit: Visit) => Effect.Effect<A, E, R>) =>
        Effect.flatMap(find(audience), (visit) => inTimeOf(clocks, visit.room.tenant)(handle(visit)))
  )

export type FindVisit = Effect.Success<ReturnType<typeof makeFindVisit>>

/** Who sees the page of a request. */
type Audience = "everybody" | "visitor"

/** Makes the function that finds a room. For `everybody` it reads no cookie. */
export const makeFindVisit = Effect.fnUntraced(function* (sessions: Sessions) {
  const rooms = yield* Rooms
  const keys = yield* ApiKeys
  const clocks = yield* TestClocks
  const origins = yield* Origins
  const { canSend } = yield* Delivery
  const [takesMail, takesPhones] = [canSend("email"), canSend("phone")]
  const limit = (yield* RateLimits).byAddress("rooms", requestsPerAddress)

  return Effect.fnUntraced(function* (audience: Audience) {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { retryAfterSeconds } = limit.pass(countedAddress(origins.of(request).address))
    if (retryAfterSeconds !== undefined)
      return yield* new Refusal({ status: 429, code: "RATE_LIMIT", retryAfterSeconds })
    const { experienceId = "" } = yield* HttpRouter.params
    if (!isUuid(experienceId)) return yield* notFound
    const room = yield* Effect.catchTag(rooms.find(experienceId.toLowerCase()), "Unavailable", unavailable)
    if (room === undefined) return yield* notFound
    const holder = yield* Effect.catchTag(keys.publishableOf(room.tenant), "Unavailable", unavailable)
    if (holder === undefined) return yield* notFound
    const token = bearerOf(request)
    if (token !== undefined) yield* restrictingOrigin(request, Effect.succeed(holder))
    const visit: Visit = {
      room,
      hasTestClock: clocks.of(room.tenant) !== undefined,
      holder,
      session: audience === "everybody" ? undefined : yield* sessions.read(room.tenant, token),
      url: queryOf(request),
      language: languageIn(request),
      takesPhones,
      takesMail,
      isPart: request.headers["accept"]?.includes("part=room") === true
    }
    return visit
  })
})
