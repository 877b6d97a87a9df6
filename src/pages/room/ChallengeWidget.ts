/**
 * The gate for bots with the widget of Turnstile or hCaptcha. Their scripts run on a page of their own, whose policy
 * names them: it has the refused form, which goes out again with the widget's token. No other page of a room loads
 * anything from them.
 */
import { html, type Html, trusted } from "../Html.ts"
import type { Refusal } from "../Refusal.ts"
import { heading, hidden, say, type Scene } from "./Scene.ts"
import type { Variation } from "./Visit.ts"

/** How a page shows the widget of a provider. */
interface Provider {
  /** The address of its script. It finds the element of this class, and adds a field to the form around it. */
  readonly script: string
  readonly element: string
  readonly field: string
  /** The sources of its script, frames and styles. */
  readonly sources: ReadonlyArray<string>
}

/** The names are those that the providers document. */
const providers: { readonly [Name in "turnstile" | "hcaptcha"]: Provider } = {
  turnstile: {
    script: "https://challenges.cloudflare.com/turnstile/v0/api.js",
    element: "cf-turnstile",
    field: "cf-turnstile-response",
    sources: ["https://challenges.cloudflare.com"]
  },
  hcaptcha: {
    script: "https://js.hcaptcha.com/1/api.js",
    element: "h-captcha",
    field: "h-captcha-response",
    sources: ["https://hcaptcha.com", "https://*.hcaptcha.com"]
  }
}

const tokenFields = Object.values(providers).map(({ field }) => field)

/** Fields that a repeated form does not keep. hCaptcha also fills that of another provider. */
const spentFields = new Set(["solution", "g-recaptcha-response", ...tokenFields])

/** The solution of a challenge in a form: that of a script, or the token of a widget. */
export const solutionIn = (fields: URLSearchParams): string | undefined =>
  ["solution", ...tokenFields].map((name) => fields.get(name)).find((text) => text !== null && text !== "") ?? undefined

/** The form that was refused. */
interface SubmittedForm {
  readonly fields: URLSearchParams
  /** True if a script has asked for the visitor's part alone. */
  readonly isPart: boolean
  /** True in a shop's page, which this server cannot send to another. */
  readonly isEmbedded: boolean
}

/** Returns the screen with the form and the widget; undefined for another refusal. */
export const widgetScreen = (
  refusal: Refusal | undefined,
  action: string,
  { fields, isPart, isEmbedded }: SubmittedForm
): Variation | undefined => {
  const { provider: name = "", siteKey = "" } = (refusal?.challenge ?? {}) as Partial<ProviderChallenge>
  if (!Object.hasOwn(providers, name)) return undefined
  const provider = providers[name as keyof typeof providers]
  if (isEmbedded) return { screen: toRoom }
  const kept = [...fields].filter(([field]) => !spentFields.has(field)).map(([field, value]) => hidden(field, value))
  const form = (scene: Scene, widget: Html | false) =>
    html`${heading(say(scene, "robot"))}
      <form method="post" action="${scene.path(action)}" data-whole>
        ${kept}${widget} <button id="go-on">${say(scene, "goOn")}</button>
      </form>
      <p><a href="${scene.path("place")}">${say(scene, "back")}</a></p>`
  // The script of a room sends the form at once. Its answer is a page, which may have the widget.
  if (isPart) return { screen: (scene) => form(scene, false) }
  const widget = html`<div class="${provider.element}" data-sitekey="${siteKey}"></div>
    ${trusted(`<script src="${provider.script}" async defer></script>`)}`
  return { screen: (scene) => form(scene, widget), widgetSources: provider.sources }
}

/** A challenge of a provider. */
interface ProviderChallenge {
  readonly provider: string
  readonly siteKey: string
}

/** In a shop's page the room is one click away. */
const toRoom = (scene: Scene): Html =>
  html`${heading(say(scene, "robot"))}
    <p><a class="button" href="${scene.path("")}">${say(scene, "toPlace")}</a></p>`
