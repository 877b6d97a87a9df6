/** The proof of a draw as a page and as a file, and the receipt of a visitor's entry. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Receipts } from "../../../auth/tokens/Receipts.ts"
import { toText } from "../../../domain/values/Time.ts"
import type { Assets } from "../../Assets.ts"
import type { ConsumerApiClient } from "../../ApiClients.ts"
import { notFound } from "../../Refusal.ts"
import type { Places } from "../Places.ts"
import { callerOf, sceneOf, type Visit } from "../Visit.ts"
import { isolated } from "../../../domain/values/Direction.ts"
import * as Answer from "../../Answer.ts"
import { type Html, html, script, style, trusted } from "../../Html.ts"
import { headersOf } from "../../Security.ts"
import { lookOf } from "../../Theme.ts"
import { directionOf, type Words } from "../../Words.ts"
import type { DrawRecord } from "../mechanism/Draw.ts"
import { facts, phrase, say, type Scene } from "../Scene.ts"
import * as Time from "../../../store/coordination/Time.ts"

/** The proof never changes, and the page changes with the program. */
const cacheControl = "public, max-age=300"

const command = "usher verify-draw proof.json"

/** The words that the script says. */
const said = ({ checking, holds, fails, proofHolds, proofFails, entryPlace, entryMissing }: Words): string =>
  JSON.stringify({ checking, holds, fails, proofHolds, proofFails, entryPlace, entryMissing }).replaceAll(
    "<",
    "\\u003c"
  )

/** A file that a browser saves under this name. */
const saved = (name: string, cacheControl: string) => ({
  headers: { "content-disposition": `attachment; filename="${name}"`, "cache-control": cacheControl }
})

const drawIn = ({ url }: Visit): string => url.get("at") ?? ""

/** Makes the functions that answer with the page, the file and the receipt. */
export const make = Effect.fnUntraced(function* (
  api: ConsumerApiClient["Service"],
  places: Places,
  assets: Assets["Service"]
) {
  const receipts = yield* Receipts
  const shared = Answer.makeShared()

  return {
    /** The page that checks the draw in the visitor's browser. Without a script it names the command that does. */
    page: Effect.fnUntraced(function* (visit: Visit) {
      const draw = yield* api.run({ holder: visit.holder }, "draws", "get", { params: { drawId: drawIn(visit) } })
      const { experience } = yield* places.shown(callerOf(visit), visit.room.experienceId)
      const scene = sceneOf(visit, experience, yield* Time.now, undefined)
      const look = lookOf(experience.theme)
      const css = yield* assets.text("room.css")
      const text = yield* assets.text("proof.ts")
      const styles = look.css === "" ? [css] : [css, look.css]
      const headers = headersOf({ scripts: text === "" ? [] : [text], styles, formOrigins: [] })
      return yield* shared(documentOf(scene, draw, styles, text).text, cacheControl, headers)
    }),

    /** The public proof, as a file that `usher verify-draw` checks. */
    file: Effect.fnUntraced(function* (visit: Visit) {
      const caller = { holder: visit.holder }
      yield* api.count(caller, "draws", "proof")
      const proof = yield* api.run(caller, "draws", "proof", { params: { drawId: drawIn(visit) } })
      // The operation answers with a finished response, which is streamed.
      return HttpServerResponse.setHeaders(
        proof as unknown as HttpServerResponse.HttpServerResponse,
        saved("proof.json", cacheControl).headers
      )
    }),

    /** The receipt of the visitor's entry, again. It names the entry and not the visitor. */
    receipt: Effect.fnUntraced(function* (visit: Visit) {
      const caller = callerOf(visit)
      if (caller.access === undefined) return yield* notFound
      yield* api.count(caller, "draws", "status")
      const params = { drawId: drawIn(visit) }
      const draw = yield* api.run({ holder: visit.holder }, "draws", "get", { params })
      const state = yield* api.run(caller, "draws", "status", { params })
      const { entryId } = "entryId" in state ? state : {}
      if (entryId === undefined || state.status === "NOT_ENTERED") return yield* notFound
      const { enteredAt } = state
      const { seedCommitment, sequenceId } = draw
      const { experienceId, tenant } = visit.room
      const identity = { ...tenant, id: draw.id, kind: "draw", experienceId, sequenceId } as const
      const entryReceipt = yield* receipts.receipt({ entryId, enteredAt }, Effect.succeed({ identity, seedCommitment }))
      return HttpServerResponse.jsonUnsafe(
        { drawId: draw.id, entryId, enteredAt: toText(enteredAt), seedCommitment, entryReceipt },
        saved("receipt.json", "no-store")
      )
    })
  }
})

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
    <p>${phrase(scene, "proofCommand", { command: html`<code dir="ltr">${command}</code>` })}</p>
    <p><a href="${file}" download="proof.json">${say(scene, "proof")}</a></p>
    ${
      hasScript &&
      html`<label>${say(scene, "receiptFile")} <input type="file" accept="application/json,.json" disabled /></label>
        <details>
          <summary>${say(scene, "proofChecks")}</summary>
          <ul id="checks" class="checks" data-proof="${file}" data-receipt="${scene.path("receipt", { at })}"></ul>
        </details>`
    }
  </section>`
}
