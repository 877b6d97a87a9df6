/**
 * The room of a drop in each of its states, for a frame of the dashboard. It is written by what writes rooms, with
 * standings of a visitor that does not exist, and with a look that need not be saved. It runs no script.
 */
import { Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import { ApiKeys } from "../../../auth/keys/ApiKeys.ts"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import type { Theme } from "../../../domain/experience/Experience.ts"
import type { Millis } from "../../../domain/values/Time.ts"
import { ConsumerApiClient } from "../../ApiClients.ts"
import { Assets } from "../../Assets.ts"
import { html } from "../../Html.ts"
import type { Refusal } from "../../Refusal.ts"
import { documentOf, type RenderedPage } from "../../room/Document.ts"
import { type Mechanism, roomKindOf } from "../../room/mechanism/Kinds.ts"
import { piecesOf, type Place } from "../../room/Pieces.ts"
import { make as makePlaces } from "../../room/Places.ts"
import { sceneOf } from "../../room/Visit.ts"
import type { Language } from "../../Words.ts"
import * as Time from "../../../store/coordination/Time.ts"

/** The looks of a room: colours and pictures, and texts by language. */
export interface Look {
  readonly theme: typeof Theme.Type
  readonly i18n: { readonly [language: string]: unknown } | null
}

interface Previewed {
  readonly experienceId: string
  readonly language: Language
  readonly look: Look
  /** The mechanism and the name of its state. Absent: as it is now. */
  readonly at?: string | undefined
  readonly state?: string | undefined
}

/** Returns the page; undefined if not everybody may see the experience or the mechanism, or facts are out of reach. */
export type MakeRoomPreview = (
  operator: Operator,
  previewed: Previewed
) => Effect.Effect<RenderedPage | undefined, Refusal, HttpServerRequest.HttpServerRequest>

/** Writes previews. It needs the handlers of the Consumer API. */
export class RoomPreview extends Context.Service<RoomPreview, MakeRoomPreview>()(
  "usher/pages/dashboard/look/RoomPreview"
) {
  static readonly layer = Layer.effect(
    RoomPreview,
    Effect.suspend(() => make)
  ).pipe(Layer.provide([ConsumerApiClient.layer, Assets.layer]))
}

/** The states of every kind in which a visitor has no place. */
const outside = { before: "Before the opening", open: "Open", closed: "Closed" } as const

/** Returns the names and the titles of the states of a kind, in the order in which they pass. */
export const statesOf = (kind: Mechanism["kind"]): ReadonlyArray<readonly [name: string, title: string]> => [
  ["before", outside.before],
  ["open", outside.open],
  ...roomKindOf(kind)
    .samples(0)
    .map(([title], index) => [`${index}`, title] as const),
  ["closed", outside.closed]
]

const make = Effect.gen(function* () {
  const api = yield* ConsumerApiClient
  const keys = yield* ApiKeys
  const assets = yield* Assets
  const places = makePlaces(api)

  const preview = Effect.fnUntraced(function* (
    { tenant, organizationName }: Operator,
    { experienceId, language, look, at, state }: Previewed
  ) {
    const holder = yield* keys.publishableOf(tenant)
    if (holder === undefined) return undefined
    const shown = yield* places.shown({ holder }, experienceId)
    // A mechanism that is not for everybody has no public facts.
    if (at !== undefined && !shown.mechanisms.some(({ record }) => record.id === at)) return undefined
    const now = yield* Time.now
    const room = { experienceId, tenant, organizationName }
    const visit = { room, holder, url: new URLSearchParams(), language, takesMail: true, takesPhones: false }
    const scene = { ...sceneOf(visit, { ...shown.experience, ...look }, now, undefined), nextDrop: shown.nextDrop }
    const inState = placesIn(shown.mechanisms, { at, state }, now)
    const hasPlace = inState.some((place) => place.state !== undefined)
    // A preview does not reload by itself.
    const pieces = {
      ...piecesOf({ ...scene, visitor: hasPlace ? "guest" : "none" }, inState),
      refreshSeconds: undefined
    }
    const css = yield* assets.text("room.css")
    return documentOf(scene, { ...shown, organizationName, pieces, script: "", css, isShell: false, isPreview: true })
  })

  const made: MakeRoomPreview = (operator, previewed) =>
    Effect.catchTags(preview(operator, previewed), {
      Refusal: (refusal) => (refusal.status === 404 ? Effect.undefined : Effect.fail(refusal)),
      Unavailable: () => Effect.undefined
    })
  return made
})

/** The mechanisms with one of them in a state; all as they are without one. */
const placesIn = (
  mechanisms: ReadonlyArray<Mechanism>,
  { at, state = "" }: Pick<Previewed, "at" | "state">,
  now: Millis
): ReadonlyArray<Place> => {
  const chosen = mechanisms.find(({ record }) => record.id === at)
  if (chosen === undefined) return mechanisms.map((mechanism) => ({ mechanism }))
  return [placeIn(chosen, state, now)]
}

const hour = 3_600_000

const placeIn = (mechanism: Mechanism, state: string, now: Millis): Place => {
  const as = (lifecycle: Mechanism["record"]["lifecycle"], openAt: Millis): Mechanism =>
    // The times of a record are of its kind, and all have these.
    ({
      ...mechanism,
      live: undefined,
      record: {
        ...mechanism.record,
        lifecycle,
        openAt,
        closeAt: lifecycle === "closed" ? now : mechanism.record.closeAt
      }
    }) as Mechanism
  if (state === "before") return { mechanism: as("scheduled", Math.max(mechanism.record.openAt ?? 0, now + hour)) }
  if (state === "closed") return { mechanism: as("closed", now - hour) }
  const sample = /^\d{1,2}$/.test(state) ? roomKindOf(mechanism.kind).samples(now)[Number(state)]?.[1] : undefined
  return { mechanism: as("open", now - hour), state: sample as Place["state"] }
}

/** The document of a frame without a room. */
export const noRoom = html`<!doctype html>
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <title>No preview</title>
    </head>
    <body>
      <p>Not everybody may see this, so there is no room to show.</p>
    </body>
  </html>`
