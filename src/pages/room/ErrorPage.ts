/** The pages beside rooms: the first page, and rooms that cannot be shown for now, or do not exist. */
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import * as Answer from "../Answer.ts"
import type { Assets } from "../Assets.ts"
import { formatsOf } from "../Formats.ts"
import { type Html, html, type Inserted, style } from "../Html.ts"
import type { Refusal } from "../Refusal.ts"
import { headersOf } from "../Security.ts"
import { directionOf, type Language, wordsIn } from "../Words.ts"
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
    const isNothing = refusal.code === "NOT_FOUND"
    const scene = { words, formats: formatsOf(language, "UTC") } as Scene
    const title = isNothing ? words.notFound : `${refusal.status}`
    const seconds = Math.max(retrySeconds, refusal.retryAfterSeconds ?? 0)
    const isPart = request.headers["accept"]?.includes("part=room") === true
    if (isPart)
      return yield* Answer.ofVisitor(
        html`<div data-statuses=""><section class="card">${messageOf(scene, refusal)}</section></div>`.text,
        refusal.status,
        retryAfter(refusal)
      )
    const page = plainPage({
      language,
      title,
      css,
      head: isForNow && request.method === "GET" && html`<meta http-equiv="refresh" content="${seconds}" />`,
      body: html`${isNothing && html`<h1>${title}</h1>`}
        <section class="card">${messageOf(scene, refusal)}</section>
        <p><a href="">${say(scene, "refresh")}</a></p>`
    })
    const headers = {
      ...headersOf({ scripts: [], styles: [css], formOrigins: [] }),
      ...retryAfter(refusal)
    }
    return yield* Answer.ofVisitor(page.text, refusal.status, headers)
  })

/** Makes the function that answers with the page at `/`, which tells a visitor who is lost where to go. */
export const makeFirstPage = (assets: Assets["Service"]) => {
  const shared = Answer.makeShared()
  return Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const language = languageIn(request)
    const css = yield* assets.text("room.css")
    const body = html`<h1>Usher</h1>
      <section class="card"><p>${wordsIn(language).front}</p></section>`
    const headers = headersOf({ scripts: [], styles: [css], formOrigins: [] })
    return yield* shared(plainPage({ language, title: "Usher", css, body }).text, "public, max-age=300", headers)
  })
}

/** A page that belongs to no experience. */
const plainPage = ({
  language,
  title,
  css,
  head,
  body
}: {
  readonly language: Language
  readonly title: string
  readonly css: string
  readonly head?: Inserted
  readonly body: Html
}): Html =>
  html`<!doctype html>
    <html lang="${language}" dir="${directionOf(language)}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        ${style(css)} ${head}
      </head>
      <body>
        <main>${body}</main>
      </body>
    </html>`

const retryAfter = ({ retryAfterSeconds }: Refusal): { readonly [name: string]: string } =>
  retryAfterSeconds === undefined ? {} : { "retry-after": `${retryAfterSeconds}` }
