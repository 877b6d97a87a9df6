/** The visitor's part of a room: a card for each mechanism, those that matter most first. A script replaces it whole. */
import { html, type Html, nothing } from "../Html.ts"
import { lookOf } from "../Theme.ts"
import { type Mechanism, roomKindOf, type States } from "./mechanism/Kinds.ts"
import { liveLine } from "./mechanism/Live.ts"
import { type Piece, sureToLeave } from "./mechanism/Parts.ts"
import type { ViewOptions } from "./mechanism/RoomKind.ts"
import { directionOf } from "../Words.ts"
import { say, type Scene } from "./Scene.ts"

/** A mechanism, with the visitor's standing if there is a visitor. */
export interface Place {
  readonly mechanism: Mechanism
  readonly state?: States[keyof States] | undefined
  /** What limits this visitor there. */
  readonly limits?: Pick<Scene, "admission" | "assigned" | "waitRange">
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
  const cards = places
    .map((place) => ({ place, piece: pieceOf({ ...scene, opensLater }, place, options) }))
    .map((card) => ({ ...card, rank: rankOf(card.place, card.piece) }))
    .toSorted((one, other) => one.rank - other.rank)
  const live = cards.find(({ piece }) => piece.isLive === true)?.place.mechanism
  const mayChange = cards.some(({ rank }) => rank < lastRank)
  const hasFields = cards.some(({ piece }) => piece.hasFields === true) || options.isRescheduling === true
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
        ({ place: { mechanism }, piece, rank }) =>
          html`<section
            class="card"
            data-id="${mechanism.record.id}"
            data-kind="${mechanism.kind}"
            data-open="${mechanism.record.lifecycle}${mechanism.live?.isFull === true && " full"}"
            data-status="${piece.status}"
            ${mechanism.record.id === options.acted && html` data-acted`}
          >
            ${piece.html}${rank > placeRank && liveLine(scene, mechanism, roomKindOf(mechanism.kind))}
          </section>`
      )}${cards[0] !== undefined && next(scene, cards[0].place, options)}${(cards.length > 0 || above.text === "") && account(scene, live?.kind === "queue")}
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
const account = (scene: Scene, isOnCard: boolean): Html =>
  html`<nav>
    ${
      scene.visitor === "authenticated"
        ? html`<form method="post" action="${scene.path("sign-out")}">
            <button class="plain">${say(scene, "signOut")}</button>
          </form>`
        : !isOnCard &&
          html`<a href="${scene.path("place", { show: "sign-in" })}"
            >${say(scene, scene.visitor === "guest" ? "anotherDevice" : "signIn")}</a
          >`
    }${scene.experience.hasProtectedSequences && html`<a href="${scene.path("place", { show: "access-code" })}">${say(scene, "accessCode")}</a>`}
  </nav>`

/** A room without a mechanism that the visitor may see. */
const empty = (scene: Scene): Html =>
  scene.experience.hasProtectedSequences
    ? html`<p>${say(scene, "notForAll")}</p>
        <p><a class="button" href="${scene.path("place", { show: "access-code" })}">${say(scene, "accessCode")}</a></p>`
    : html`<p>${say(scene, "nothing")}</p>`

/** The rank of a place that the visitor waits with. */
const placeRank = 1

const lastRank = 4

/** A turn comes first, then places that wait, open mechanisms, those that open later, and those that are over. */
const rankOf = ({ mechanism, state }: Place, piece: Piece): number => {
  if (state !== undefined && "admissionGrant" in state) return 0
  if (piece.isLive === true) return placeRank
  const { lifecycle } = mechanism.record
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
