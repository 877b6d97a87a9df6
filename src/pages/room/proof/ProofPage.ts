/**
 * The page that checks a draw in the visitor's browser. It is the same for all visitors. Without a script it explains
 * how to check the proof with the command line.
 */
import { isolated } from "../../../domain/values/Direction.ts"
import { Effect } from "effect"
import type { ConsumerApiClient } from "../../ApiClients.ts"
import * as Answer from "../../Answer.ts"
import type { Assets } from "../../Assets.ts"
import { type Html, html, script, style, trusted } from "../../Html.ts"
import { headersOf } from "../../Security.ts"
import { lookOf } from "../../Theme.ts"
import { directionOf, type Words } from "../../Words.ts"
import type { Places } from "../Places.ts"
import type { DrawRecord } from "../mechanism/Draw.ts"
import { facts, phrase, say, type Scene } from "../Scene.ts"
import { callerOf, sceneOf, type Visit } from "../Visit.ts"

/** The proof never changes, and the page changes with the program. */
const cacheControl = "public, max-age=300"

const command = "usher verify-draw proof.json"

/** The words that the script says. */
const said = ({ checking, holds, fails, proofHolds, proofFails, entryPlace, entryMissing }: Words): string =>
  JSON.stringify({ checking, holds, fails, proofHolds, proofFails, entryPlace, entryMissing }).replaceAll(
    "<",
    "\\u003c"
  )

/** Makes the function that answers with the page of the draw that the query names. */
export const make = (api: ConsumerApiClient["Service"], places: Places, assets: Assets["Service"]) => {
  const shared = Answer.makeShared()
  return Effect.fnUntraced(function* (visit: Visit, now: number) {
    const drawId = visit.url.get("at") ?? ""
    const draw = yield* api.run({ holder: visit.holder }, "draws", "get", { params: { drawId } })
    const { experience } = yield* places.shown(callerOf(visit), visit.room.experienceId)
    const scene = sceneOf(visit, experience, now, undefined)
    const look = lookOf(experience.theme)
    const css = yield* assets.text("room.css")
    const text = yield* assets.text("proof.ts")
    const styles = look.css === "" ? [css] : [css, look.css]
    const headers = headersOf({ scripts: text === "" ? [] : [text], styles, formOrigins: [] })
    return yield* shared(documentOf(scene, draw, styles, text).text, cacheControl, headers)
  })
}

const documentOf = (scene: Scene, draw: DrawRecord, styles: ReadonlyArray<string>, text: string): Html =>
  html`<!doctype html>
    <html lang="${scene.language}" dir="${directionOf(scene.language)}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        <title>${say(scene, "proof")} – ${isolated(draw.name, scene.words.proof)}</title>
        <link rel="icon" href="data:," />
        ${styles.map(style)}
      </head>
      <body>
        <main>
          <h1>${say(scene, "proof")}: <bdi>${draw.name}</bdi></h1>
          ${checked(scene, draw, text !== "")}
          <section class="card">
            <p>${say(scene, "drawFair")}</p>
            ${facts([[say(scene, "commitment"), html`<code>${draw.seedCommitment}</code>`]])}
            <p><a href="${scene.path("place")}">${say(scene, "back")}</a></p>
          </section>
        </main>
        ${
          text !== "" &&
          html`<script type="application/json" id="words">
              ${trusted(said(scene.words))}
            </script>
            ${script(text)}`
        }
      </body>
    </html>`

/** Where the script writes the checks. Without it the command stands there. */
const checked = (scene: Scene, { id: at }: DrawRecord, hasScript: boolean): Html => {
  const file = scene.path("proof.json", { at })
  return html`<section class="card">
    <p id="result" class="lead" role="status"></p>
    <p id="own" role="status"></p>
    <ul id="checks" class="checks" data-proof="${file}" data-receipt="${scene.path("receipt", { at })}"></ul>
    <p>${phrase(scene, "proofCommand", { command: html`<code dir="ltr">${command}</code>` })}</p>
    <p><a href="${file}" download="proof.json">${say(scene, "proof")}</a></p>
    ${
      hasScript &&
      html`<label>${say(scene, "receiptFile")} <input type="file" accept="application/json,.json" disabled /></label>`
    }
  </section>`
}
