/** One request for a room: the experience, the visitor, and how the page is written for it. */
import { Clock, Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import type { KeyHolder } from "../../auth/keys/ApiKeys.ts"
import type { PageSession } from "../../auth/tokens/PageTokens.ts"
import { Protection } from "../../auth/sessions/Protection.ts"
import type { VerifiedAccess } from "../../domain/consumer/Session.ts"
import { AssignedProducts } from "../../store/experience/AssignedProducts.ts"
import type { Room } from "../../store/organization/Rooms.ts"
import * as Answer from "../Answer.ts"
import type { Assets } from "../Assets.ts"
import type { Caller } from "../Calls.ts"
import { formatsOf } from "../Formats.ts"
import { html, type Html, nothing } from "../Html.ts"
import { Refused } from "../Refused.ts"
import { headersOf } from "../Security.ts"
import { type Language, languageOf, matching, wordsIn } from "../Words.ts"
import { documentOf } from "./Document.ts"
import { messageOf } from "./Messages.ts"
import type { Mechanism } from "./mechanism/Kinds.ts"
import type { Asked } from "./mechanism/RoomKind.ts"
import { piecesOf, type Place } from "./Pieces.ts"
import type { Places, Shown } from "./Places.ts"
import { type Experience, type Scene, timeOf } from "./Scene.ts"

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
  /** True if a script asks for the visitor's part alone. */
  readonly isPart: boolean
}

/** How a page differs from the visitor's place. */
export interface Variation extends Asked {
  /** Shown above the place. */
  readonly refused?: Refused
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

/** Returns the shop's address to go on to: the asked one if its origin is allowed, else that of the first product. */
export const shopUrlOf = (
  asked: string | null,
  { allowedOrigins = [] }: KeyHolder,
  { products }: Experience
): string | undefined => {
  const own = products.flatMap(({ product: { url } }) => (url !== null && isWebAddress(url) ? [new URL(url)] : []))
  if (asked !== null && asked.length <= returnLengthMax && isWebAddress(asked)) {
    const wanted = new URL(asked)
    if (allowedOrigins.includes(wanted.origin) || own.some(({ origin }) => origin === wanted.origin)) return wanted.href
  }
  return own[0]?.href
}

const isWebAddress = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

/** Makes what a page needs to show itself. */
export const sceneOf = (
  visit: Pick<Visit, "room" | "holder" | "url" | "language" | "takesPhones">,
  experience: Experience,
  now: number,
  access: VerifiedAccess | undefined
): Scene => {
  const { room, holder, url, language } = visit
  const asked = url.get("return")
  const shopUrl = shopUrlOf(asked, holder, experience)
  const kept = {
    lang: matching(url.get("lang") ?? "") === language ? language : undefined,
    return: shopUrl === undefined || asked === null ? undefined : shopUrl
  }
  return {
    language,
    words: wordsIn(language, experience.i18n),
    formats: formatsOf(language, experience.timeZone),
    experience,
    now,
    visitor: access === undefined ? "none" : access.sessionType,
    takesPhones: visit.takesPhones,
    shopUrl,
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
  /** The mechanism with facts that are of this moment, or of another day. */
  const presently = (caller: Caller, found: Mechanism, from: string | undefined) => {
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

  const placesOf = Effect.fnUntraced(function* (visit: Visit, shown: Shown, from: string | undefined) {
    const caller = callerOf(visit)
    return yield* Effect.forEach(
      shown.mechanisms,
      Effect.fnUntraced(function* (found): Effect.fn.Return<Place, Refused, HttpServerRequest.HttpServerRequest> {
        const { kind, record } = found
        const mechanism = yield* presently(caller, found, from)
        if (caller.access === undefined) return { mechanism }
        const limits = yield* limitsOf(caller.access, record)
        return { mechanism, state: yield* places.state(caller, kind, record.id), limits }
      }),
      { concurrency: 8 }
    )
  })

  return Effect.fnUntraced(function* (visit: Visit, variation: Variation = {}) {
    const { room, session } = visit
    const shown = yield* places.ofVisitor(callerOf(visit), room.experienceId)
    const scene = sceneOf(visit, shown.experience, yield* Clock.currentTimeMillis, session)
    const { refused, screen, from, widgetSources = [], status = refused?.status ?? 200 } = variation
    const found = screen === undefined ? yield* placesOf(visit, shown, from) : []
    const message = refused === undefined ? nothing : messageOf(scene, refused)
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
    const page = { ...shown, organizationName, pieces, script, css, isShell: false }
    const { text, styles } = documentOf(scene, page)
    const headers = headersOf({ scripts: script === "" ? [] : [script], styles, formOrigins, widgetSources })
    return yield* Answer.ofVisitor(text, status, headers)
  })
})

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

const unavailable = () => Effect.fail(new Refused({ status: 503, code: "UNAVAILABLE", retryAfterSeconds: 1 }))

export type Write = Effect.Success<ReturnType<typeof makeWrite>>
