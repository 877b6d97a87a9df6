/**
 * The preview of an experience's page: the room as a visitor without a place would see it now, with the typed document.
 * It stands in a frame that runs no script, sends no form and shares no origin with the dashboard.
 */
import { Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import { ApiKeys } from "../../../auth/keys/ApiKeys.ts"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import type { PublicExperiencePage } from "../../../domain/experience/ExperiencePage.ts"
import { Assets } from "../../Assets.ts"
import { ConsumerApiClient } from "../../ApiClients.ts"
import { type Html, html } from "../../Html.ts"
import { documentOf } from "../../room/Document.ts"
import { piecesOf } from "../../room/Pieces.ts"
import { make as makePlaces } from "../../room/Places.ts"
import { sceneOf } from "../../room/Visit.ts"
import { defaultLanguage } from "../../Words.ts"
import * as Time from "../../../store/coordination/Time.ts"

/** The page of a document that is not published. */
type PageDraft = Pick<PublicExperiencePage, "experienceId" | "title" | "creativeDocument">

interface Preview {
  readonly html: Html
  /** The styles in the frame, which the policy of the screen must name: the frame has the same policy. */
  readonly styles: ReadonlyArray<string>
}

/** Writes the preview. It needs the handlers of the Consumer API. */
export class PagePreview extends Context.Service<PagePreview, MakePreview>()(
  "usher/pages/dashboard/screens/PagePreview"
) {
  static readonly layer = Layer.effect(
    PagePreview,
    Effect.suspend(() => make)
  ).pipe(Layer.provide([ConsumerApiClient.layer, Assets.layer]))
}

/** Returns the preview; undefined if consumers do not see the experience, or its facts are out of reach. */
export type MakePreview = (
  operator: Operator,
  page: PageDraft
) => Effect.Effect<Preview | undefined, never, HttpServerRequest.HttpServerRequest>

const make = Effect.gen(function* () {
  const api = yield* ConsumerApiClient
  const keys = yield* ApiKeys
  const assets = yield* Assets
  const places = makePlaces(api)

  const preview = Effect.fnUntraced(function* ({ tenant, organizationName }: Operator, page: PageDraft) {
    const { experienceId, title } = page
    const holder = yield* keys.publishableOf(tenant)
    if (holder === undefined) return undefined
    const shown = yield* places.shown({ holder }, experienceId)
    const visit = {
      room: { experienceId, tenant, organizationName },
      holder,
      url: new URLSearchParams(),
      language: defaultLanguage,
      takesMail: false,
      takesPhones: false
    }
    const scene = sceneOf(visit, shown.experience, yield* Time.now, undefined)
    const pieces = piecesOf(
      scene,
      shown.mechanisms.map((mechanism) => ({ mechanism }))
    )
    const { text, styles } = documentOf(scene, {
      ...shown,
      document: page as PublicExperiencePage,
      organizationName,
      // A preview does not reload automatically.
      pieces: { ...pieces, refreshSeconds: undefined },
      script: "",
      css: yield* assets.text("room.css"),
      isShell: true
    })
    return {
      html: html`<iframe class="preview" title="Preview of ${title}" sandbox srcdoc="${text}"></iframe>`,
      styles
    }
  })

  const made: MakePreview = (operator, page) =>
    Effect.catchTags(preview(operator, page), { Refusal: () => Effect.undefined, Unavailable: () => Effect.undefined })
  return made
})
