/** The visitor's part of a room: a card for each mechanism, those that matter most first. A script replaces it whole. */
import { html, type Html, nothing } from "../Html.ts"
import { lookOf } from "../Theme.ts"
import { type Mechanism, roomKindOf, type States } from "./mechanism/Kinds.ts"
import { liveLine } from "./mechanism/Live.ts"
import { type Piece, sureToLeave } from "./mechanism/Parts.ts"
import type { ViewOptions } from "./mechanism/RoomKind.ts"
import { directionOf } from "../Words.ts"
import { instant, phrase, say, type Scene } from "./Scene.ts"

/** A mechanism, with the visitor's standing if there is a visitor. */
export interface Place {
  readonly mechanism: Mechanism
  readonly state?: States[keyof States] | undefined
  /** What limits this visitor there. */
  readonly limits?: Pick<Scene, "admission" | "alert" | "assigned" | "waitRange">
}

export interface Pieces {
  readonly html: Html
  /** Seconds after which a page without script reloads; undefined if the visitor types or nothing will change. */
  readonly refreshSeconds: number | undefined
}

const refreshSeconds = 20

/** Shows the places. `above` is put before them: a refusal, or a screen that stands for them. */
export const piecesOf = (
  scene: Scene,
  places: ReadonlyArray<Place>,
  above: Html = nothing,
  options: ViewOptions = {}
): Pieces => {
  const opensLater = places.some(({ mechanism: { record } }) => record.lifecycle === "scheduled")
  const remindsAt = firstOpening(places)
  const cards = places
    .map((place) => ({ place, piece: pieceOf({ ...scene, opensLater, remindsAt }, place, options) }))
    .map((card) => ({ ...card, rank: rankOf(card.place, card.piece) }))
    .toSorted((one, other) => one.rank - other.rank)
  const live = cards.find(({ piece }) => piece.isLive === true)?.place.mechanism
  const mayChange = cards.some(
    ({ rank, place }) => rank < lastRank && (rank !== overRank || place.mechanism.record.lifecycle !== "closed")
  )
  const hasFields = cards.some(({ piece }) => piece.hasFields === true) || options.isRescheduling === true
  // The way on is for those that can do nothing here any more.
  const over = cards.some(({ rank }) => rank <= 3) ? -1 : cards.findIndex(({ place, piece }) => isOver(place, piece))
  const statuses = cards.map(({ place, piece }) => `${place.mechanism.record.id}:${piece.status}`).join(" ")
  // A widget that shows the theme takes it from here.
  const look = lookOf(scene.experience.theme).css
  return {
    refreshSeconds: mayChange && !hasFields && options.unconfirmed === undefined ? refreshSeconds : undefined,
    // A widget is in a page of another language, perhaps.
    html: html`<div
      data-statuses="${statuses}"
      lang="${scene.language}"
      dir="${directionOf(scene.language)}"
      ${live !== undefined && html` data-live="${live.kind}.${live.record.id}"`}
      ${look !== "" && html` data-look="${look}"`}
    >
      ${above}${
        cards.length === 0 && above.text === "" && html`<section class="card">${empty(scene)}</section>`
      }${cards.map(
        ({ place: { mechanism }, piece, rank }, index) =>
          html`<section
            class="card"
            data-id="${mechanism.record.id}"
            data-kind="${mechanism.kind}"
            data-open="${mechanism.record.lifecycle}${mechanism.live?.isFull === true && " full"}"
            data-status="${piece.status}"
            ${mechanism.record.id === options.acted && html` data-acted`}
          >
            ${piece.html}${index === over && afterwards(scene, places)}${rank > placeRank && liveLine(scene, mechanism, roomKindOf(mechanism.kind))}
          </section>`
      )}${cards[0] !== undefined && next(scene, cards[0].place, options)}${(cards.length > 0 || above.text === "") && account(scene, { isOnCard: live?.kind === "queue", hasPlace: cards.some(({ rank }) => rank <= placeRank) })}
    </div>`
  }
}

/** What happens next, at the first card. A visitor that is asked something decides on that first. */
const next = (scene: Scene, { mechanism, state, limits }: Place, options: ViewOptions): Html => {
  const isAsked = options.unconfirmed !== undefined || options.leaving !== undefined || options.isRescheduling === true
  const steps = isAsked ? [] : roomKindOf(mechanism.kind).steps({ ...scene, ...limits }, mechanism, state)
  return steps.length === 0
    ? nothing
    : html`<section class="next">
        <h3>${say(scene, "next")}</h3>
        <ol>
          ${steps.map((step) => html`<li>${step}</li>`)}
        </ol>
      </section>`
}

/** How the visitor signs in and out, and shows an access code. A card may have the way to sign in already. */
const account = (
  scene: Scene,
  { isOnCard, hasPlace }: { readonly isOnCard: boolean; readonly hasPlace: boolean }
): Html =>
  html`<nav>
    ${
      scene.visitor === "authenticated"
        ? html`<form method="post" action="${scene.path("sign-out")}">
            <button class="plain">${say(scene, "signOut")}</button>
          </form>`
        : !isOnCard &&
          html`<a href="${scene.path("place", { show: "sign-in" })}"
            >${say(scene, scene.visitor === "guest" && hasPlace ? "anotherDevice" : "signIn")}</a
          >`
    }${scene.experience.hasProtectedSequences && html`<a href="${scene.path("place", { show: "access-code" })}">${say(scene, "accessCode")}</a>`}
  </nav>`

/** A room without a mechanism that the visitor may see. */
const empty = (scene: Scene): Html =>
  scene.experience.hasProtectedSequences
    ? html`<p>${say(scene, "notForAll")}</p>
        <p><a class="button" href="${scene.path("place", { show: "access-code" })}">${say(scene, "accessCode")}</a></p>`
    : html`<p>${say(scene, "nothing")}</p>`

/** The mechanism that opens next, whose card offers a reminder. A room with an open waitlist needs none. */
const firstOpening = (places: ReadonlyArray<Place>): string | undefined =>
  places.some(isOpenWaitlist)
    ? undefined
    : places
        .map(({ mechanism: { record } }) => record)
        .filter(({ lifecycle, openAt }) => lifecycle === "scheduled" && openAt !== null)
        .toSorted((one, other) => one.openAt! - other.openAt!)[0]?.id

const isOpenWaitlist = ({ mechanism: { kind, record } }: Place): boolean =>
  kind === "waitlist" && record.lifecycle === "open"

/** Where a visitor goes that got nothing: to the waitlist of this room, else to the brand's next drop. */
const afterwards = (scene: Scene, places: ReadonlyArray<Place>): Html => {
  const waitlist = places.find(isOpenWaitlist)
  if (waitlist !== undefined) {
    const { id } = waitlist.mechanism.record
    const isMember = waitlist.state !== undefined && "isEntered" in waitlist.state && waitlist.state.isEntered
    return isMember ? nothing : html`<p><a class="button" href="#join-${id}">${say(scene, "enterWaitlist")}</a></p>`
  }
  const { nextDrop } = scene
  if (nextDrop === undefined) return nothing
  return html`<div class="after">
    <p class="muted">${say(scene, "nextDrop")}</p>
    <p><a class="button quiet" dir="auto" href="${scene.roomPath(nextDrop.id)}">${nextDrop.name}</a></p>
    <p class="muted">${phrase(scene, "opensAt", { time: instant(scene, nextDrop.openAt) })}</p>
  </div>`
}

/** The statuses of those that got nothing. */
const lostStatuses = new Set(["DENIED", "EXPIRED", "LEFT", "LOST"])

/** True if the visitor got nothing here, and cannot try again. */
const isOver = ({ mechanism: { kind, record, live }, state }: Place, { status }: Piece): boolean => {
  if (kind === "waitlist" || kind === "appointment") return false
  if (lostStatuses.has(status)) return true
  const isOutside = state === undefined || status.startsWith("NOT_")
  return isOutside && (record.lifecycle === "closed" || record.lifecycle === "settling" || isSoldOut(live))
}

/** True if no unit is left, of those that the mechanism gives away. */
const isSoldOut = (live: Mechanism["live"]): boolean => live?.isFull === true && live.unitsLeft === 0

/** The rank of a place that the visitor waits with. */
const placeRank = 1

/** An outcome without a gain. Its page has changed for the last time, but units may be freed. */
const overRank = 3.2

const lastRank = 4

/** A turn comes first, then places that wait, open mechanisms, those that open later, and those that are over. */
const rankOf = (place: Place, piece: Piece): number => {
  const { mechanism, state } = place
  if (state !== undefined && "admissionGrant" in state) return 0
  if (piece.isLive === true) return placeRank
  const { lifecycle } = mechanism.record
  // The outcome is above the waitlist to which it leads.
  if (isOver(place, piece) && (lifecycle !== "open" || isSoldOut(mechanism.live))) return overRank
  // A waitlist is for what opens later, or is over.
  if (mechanism.kind === "waitlist" && lifecycle === "open") return 3.5
  if (lifecycle === "open") return 2
  return lifecycle === "scheduled" ? 3 : lastRank
}

const pieceOf = (scene: Scene, { mechanism, state, limits }: Place, options: ViewOptions): Piece => {
  const { id } = mechanism.record
  const kind = roomKindOf(mechanism.kind)
  const piece = kind.piece({ ...scene, ...limits }, mechanism, state, options)
  const leaving = options.leaving === id && state !== undefined ? kind.leaving?.(state, scene.now) : undefined
  // The page must not reload while the visitor decides.
  return leaving === undefined ? piece : { ...piece, html: sureToLeave(scene, id, leaving), hasFields: true }
}
