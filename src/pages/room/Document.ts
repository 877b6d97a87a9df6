/** The document around a room: brand, the experience's page or a default one, products, languages. */
import { isShownPicture } from "../../domain/catalogue/Picture.ts"
import type { PublicExperiencePage } from "../../domain/experience/ExperiencePage.ts"
import { type PageContext, pageHtml, type Slot } from "../../domain/experience/creative/rendering/PageHtml.ts"
import { pageText } from "../../domain/experience/creative/rendering/PageText.ts"
import type { Theme } from "../../domain/experience/Experience.ts"
import { isKind } from "../../domain/mechanism/Mechanism.ts"
import { isolated } from "../../domain/values/Direction.ts"
import { html, type Html, nothing, script, style, trusted } from "../Html.ts"
import { lookOf } from "../Theme.ts"
import { directionOf, languages, type Words } from "../Words.ts"
import { type Mechanism, roomKindOf } from "./mechanism/Kinds.ts"
import type { Pieces } from "./Pieces.ts"
import { countdown, say, type Scene } from "./Scene.ts"

/** Characters of the description that search engines show. */
const descriptionLengthMax = 200

export interface Page {
  readonly organizationName: string
  readonly document: PublicExperiencePage | undefined
  readonly mechanisms: ReadonlyArray<Mechanism>
  readonly pieces: Pieces
  readonly script: string
  readonly css: string
  /** True for the page that every visitor gets. */
  readonly isShell: boolean
  /** Where consumers reach this installation, as its operator has set it. */
  readonly publicUrl?: string | undefined
  /** True for a preview. Its links would open windows, which its frame forbids, so they lead nowhere. */
  readonly isPreview?: boolean
}

export interface RenderedPage {
  readonly text: string
  readonly styles: ReadonlyArray<string>
}

/** Writes the whole document. */
export const documentOf = (scene: Scene, page: Page): RenderedPage => {
  const { experience, language } = scene
  const body = page.document?.creativeDocument as DocumentBody | undefined
  const look = lookOf({ ...experience.theme, ...body?.themeOverrides })
  const themed = look.faces + look.css
  const title = page.document?.title ?? experience.name
  const description = descriptionOf(scene, page, body)
  const picture = look.headerImageUrl ?? pictureOf(experience)
  const reload = page.pieces.refreshSeconds
  const written = html`<!doctype html>
    <html lang="${language}" dir="${directionOf(language)}">
      <head>
        <meta charset="utf-8" />
        ${page.isPreview === true && html`<base target="_blank" />`}
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        <title>${isolated(title, page.organizationName)} – ${isolated(page.organizationName, title)}</title>
        <meta name="description" content="${description}" />
        ${shared(scene, page, { title, description, picture: look.shareImageUrl ?? picture })}
        ${look.frame !== undefined && html`<meta name="theme-color" content="${look.frame}" />`}
        <link rel="icon" href="data:," />
        ${look.fontUrls.map((url) => html`<link rel="preload" as="font" type="font/woff2" href="${url}" crossorigin />`)}
        ${style(page.css)}
        ${themed !== "" && style(themed)}${
          reload !== undefined &&
          html`<noscript
            ><meta http-equiv="refresh" content="${reload};url=${scene.path(page.isShell ? "" : "place")}"
          /></noscript>`
        }
      </head>
      <body>
        ${stage(page, title, { logoUrl: look.logoUrl, picture })}
        <main>
          ${clockNote(scene)}
          <p id="link" role="status" hidden>${say(scene, "kept")}</p>
          ${content(scene, page, body)} ${page.script !== "" && announcing(scene)}
          <p id="said" role="status" aria-live="polite"></p>
        </main>
        ${footer(scene, page)}${
          page.script !== "" &&
          html`<script type="application/json" id="words">
              ${trusted(announced(scene))}
            </script>
            ${script(page.script)}`
        }
      </body>
    </html>`
  return { text: written.text, styles: themed === "" ? [page.css] : [page.css, themed] }
}

/** Says that a test clock shows the time, and what it was when the page was written. */
const clockNote = (scene: Scene): Html | false =>
  scene.hasTestClock &&
  html`<p class="clock" role="note">${say(scene, "testClock", { time: scene.formats.instant(scene.now) })}</p>`

/** What programs show where a link to the room is shared. */
interface Share {
  readonly title: string
  readonly description: string
  /** Undefined without a picture. */
  readonly picture: string | undefined
}

/** Returns what is shared: what the theme says, else what the room itself shows. */
const shareOf = (theme: typeof Theme.Type | null, { title, description, picture }: Share): Share => ({
  title: theme?.shareTitle ?? title,
  description: theme?.shareDescription ?? description,
  picture
})

/** The tags of Open Graph. They need absolute addresses, so an installation without `PUBLIC_URL` names no own one. */
const shared = ({ experience, path }: Scene, { organizationName, publicUrl }: Page, room: Share): Html => {
  const { title, description, picture } = shareOf(experience.theme, room)
  const image = picture?.startsWith("/") === true ? publicUrl && `${publicUrl}${picture}` : picture
  const tags: ReadonlyArray<readonly [name: string, content: string | undefined]> = [
    ["type", "website"],
    ["site_name", organizationName],
    ["title", title],
    ["description", description],
    ["image", image],
    ["url", publicUrl && `${publicUrl}${path("").split("?", 1)[0]}`]
  ]
  const shown = tags.filter(([, content]) => content !== undefined)
  return html`${shown.map(([name, content]) => html`<meta property="og:${name}" content="${content}" />`)}${
    image !== undefined && html`<meta name="twitter:card" content="summary_large_image" />`
  }`
}

/** The description for search engines: the text of the document, else how the room works, else its name. */
const descriptionOf = (scene: Scene, page: Page, body: DocumentBody | undefined): string =>
  [
    body === undefined ? "" : pageText(body.body, descriptionLengthMax),
    sentencesOf(scene, page).join(" ").slice(0, descriptionLengthMax)
  ].find((text) => text !== "") ?? scene.experience.name

interface DocumentBody {
  readonly body: { readonly [name: string]: unknown }
  readonly themeOverrides?: typeof Theme.Type
}

/** The pictures at the top of a room. Each may be absent. */
interface StagePictures {
  readonly logoUrl: string | undefined
  readonly picture: string | undefined
}

/** The stage: the picture to the edge, with the brand and the title over it. */
const stage = ({ organizationName }: Page, title: string, { logoUrl, picture }: StagePictures): Html =>
  html`<header>
    ${picture !== undefined && html`<img class="shot" src="${picture}" alt="" fetchpriority="high" />`}
    <p class="brand">
      ${logoUrl === undefined ? html`<strong dir="auto">${organizationName}</strong>` : html`<img src="${logoUrl}" alt="${organizationName}" />`}
    </p>
    <h1 dir="auto">${title}</h1>
  </header>`

const isShown = (address: string | null | undefined): address is string =>
  typeof address === "string" && isShownPicture(address)

/** The picture of the first product that has one. */
const pictureOf = ({ products }: Scene["experience"]): string | undefined =>
  products
    .flatMap(({ product: { productMediaAssets } }) => productMediaAssets)
    .map(({ mediaAsset: { publicUrl, thumbnailUrl } }) => publicUrl ?? thumbnailUrl)
    .find(isShown)

/** The published document with its slots filled, or the default: the visitor's part and the products. */
const content = (scene: Scene, page: Page, body: DocumentBody | undefined): Html => {
  const room = html`<div id="room" ${page.isShell && html` data-shell`}>${page.pieces.html}</div>
    ${page.isShell && html`<p class="muted" id="to-place"><a href="${scene.path("place")}">${say(scene, "toPlace")}</a></p>`}`
  if (body === undefined) return html`${room}${products(scene)}`
  const fill: { readonly [Name in Slot]: () => Html } = {
    place: () => room,
    countdown: () => opening(scene),
    products: () => products(scene),
    rules: () => rules(scene, page)
  }
  const rendered = pageHtml(
    body.body,
    contextOf(scene, (slot) => fill[slot]())
  )
  return html`${!rendered.slots.has("place") && room}
    <div class="doc" dir="auto">${trusted(rendered.html)}</div>`
}

/** Values that a page fills into its document, and the parts for them. */
export const contextOf = (
  { formats, words }: Pick<Scene, "formats" | "words">,
  fill: (slot: Slot) => Html
): PageContext => ({
  slot: (slot) => fill(slot).text,
  instant: (at, timeZone, format) => (format === "at" ? formats.instant(at, timeZone) : formats.short(at, timeZone)),
  label: (transform, kind) => labelOf(words, transform, kind),
  open: words.open
})

/** Seconds between two announcements of a place, of which a visitor chooses. */
const announceSeconds = [60, 300]

/** The choice is outside the visitor's part, so it stays while that is replaced. The style shows it beside a position. */
const announcing = (scene: Scene): Html =>
  html`<label class="announcing muted"
    >${say(scene, "announceEvery")}
    <select id="every">
      ${announceSeconds.map(
        (seconds) => html`<option value="${seconds * 1000}">${scene.formats.duration(seconds)}</option>`
      )}
      <option value="Infinity">${say(scene, "announceNever")}</option>
    </select></label
  >`

const labelOf = (words: Words, transform: "distribution-type-label" | "waitlist-action-text", input: string) => {
  const kind = input.trim().toLowerCase().replaceAll(/[- ]/g, "_")
  if (!isKind(kind)) return undefined
  const { name, action } = roomKindOf(kind)
  return words[transform === "distribution-type-label" ? name : action]
}

const opening = (scene: Scene): Html => {
  const { openAt } = scene.experience
  return openAt === null || openAt <= scene.now
    ? nothing
    : html`<section class="card">${countdown(scene, "opensIn", openAt)}</section>`
}

const products = (scene: Scene): Html => {
  const shown = scene.experience.products
  if (shown.length === 0) return nothing
  return html`<section>
    <h2>${say(scene, "products")}</h2>
    ${shown.map(({ product, productVariant }) => {
      const [media] = product.productMediaAssets
      const image = media?.mediaAsset.thumbnailUrl ?? media?.mediaAsset.publicUrl
      const price = (
        productVariant ??
        product.variants.find(({ id }) => id === product.defaultVariantId) ??
        product.variants[0]
      )?.price
      return html`<article class="card product">
        ${isShown(image) && html`<img src="${image}" alt="${media?.mediaAsset.altText ?? ""}" loading="lazy" />`}
        <div>
          <h3 dir="auto">${product.name}</h3>
          ${product.description !== null && html`<p dir="auto">${product.description}</p>`}${
            typeof price === "string" &&
            html`<p><strong>${scene.formats.amount(price, scene.experience.currencyCode)}</strong></p>`
          }
        </div>
      </article>`
    })}
  </section>`
}

/** One sentence about each kind of mechanism. */
const rules = (scene: Scene, page: Page): Html =>
  html`<section>
    <h2>${say(scene, "rules")}</h2>
    <ul>
      ${sentencesOf(scene, page).map((text) => html`<li>${text}</li>`)}
    </ul>
  </section>`

const sentencesOf = (scene: Scene, { mechanisms }: Page): ReadonlyArray<string> => [
  ...new Set(
    mechanisms.map(({ kind, record, live }) => roomKindOf(kind).rule(scene, record, live)).filter((text) => text !== "")
  )
]

const footer = (scene: Scene, { isShell }: Page): Html =>
  html`<footer>
    <p class="muted">${say(scene, "zone", { zone: scene.formats.timeZone })}</p>
    <details class="muted">
      <summary>${say(scene, "language")}</summary>
      <ul class="languages">
        ${Object.entries(languages).map(
          ([code, name]) =>
            html`<li>
              <a href="${scene.path(isShell ? "" : "place", { lang: code })}" lang="${code}" dir="${directionOf(code)}"
                >${name}</a
              >
            </li>`
        )}
      </ul>
    </details>
  </footer>`

/** The words that a script says. */
const announced = ({ words: { inYourZone } }: Scene): string =>
  JSON.stringify({ inYourZone }).replaceAll("<", "\\u003c")
