/** The pages of rooms that cannot be shown: unknown, too many requests, or out of reach for now. */
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import * as Answer from "../Answer.ts"
import type { Assets } from "../Assets.ts"
import { formatsOf } from "../Formats.ts"
import { html, style } from "../Html.ts"
import type { Refusal } from "../Refusal.ts"
import { headersOf } from "../Security.ts"
import { directionOf, wordsIn } from "../Words.ts"
import { say, type Scene } from "./Scene.ts"
import { messageOf } from "./RefusalText.ts"
import { languageIn } from "./Visit.ts"

/** Seconds after which a page that is out of reach for now asks again, if nothing else is said. */
const retrySeconds = 20

/** Makes the function that answers with the page of a refusal. */
export const makeErrorPage = (assets: Assets["Service"]) =>
  Effect.fnUntraced(function* (refusal: Refusal) {
    const request = yield* HttpServerRequest.HttpServerRequest
    const language = languageIn(request)
    const words = wordsIn(language)
    const css = yield* assets.text("room.css")
    const isForNow = refusal.status === 429 || refusal.status === 503
    const scene = { words, formats: formatsOf(language, "UTC") } as Scene
    const title = refusal.status === 404 ? words.notFound : `${refusal.status}`
    const seconds = Math.max(retrySeconds, refusal.retryAfterSeconds ?? 0)
    const isPart = request.headers["accept"]?.includes("part=room") === true
    if (isPart)
      return yield* Answer.ofVisitor(
        html`<div data-statuses=""><section class="card">${messageOf(scene, refusal)}</section></div>`.text,
        refusal.status,
        retryAfter(refusal)
      )
    const page = html`<!doctype html>
      <html lang="${language}" dir="${directionOf(language)}">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width,initial-scale=1" />
          <title>${title}</title>
          <link rel="icon" href="data:," />
          ${style(css)}
          ${isForNow && request.method === "GET" && html`<meta http-equiv="refresh" content="${seconds}" />`}
        </head>
        <body>
          <main>
            ${refusal.status === 404 && html`<h1>${title}</h1>`}
            <section class="card">${messageOf(scene, refusal)}</section>
            <p><a href="">${say(scene, "refresh")}</a></p>
          </main>
        </body>
      </html>`
    const headers = {
      ...headersOf({ scripts: [], styles: [css], formOrigins: [] }),
      ...retryAfter(refusal)
    }
    return yield* Answer.ofVisitor(page.text, refusal.status, headers)
  })

const retryAfter = ({ retryAfterSeconds }: Refusal): { readonly [name: string]: string } =>
  retryAfterSeconds === undefined ? {} : { "retry-after": `${retryAfterSeconds}` }
