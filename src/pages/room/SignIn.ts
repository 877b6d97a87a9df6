/** The screens on which a visitor signs in with a mailed code, or shows an access code. */
import { html, type Html } from "../Html.ts"
import { form, heading, hidden, say, type Scene } from "./Scene.ts"

/** What happens after the sign-in: an action, and its mechanism. */
export interface Afterwards {
  readonly action?: string | undefined
  readonly at?: string | undefined
}

export const emailField = (scene: Scene, value = ""): Html =>
  html`<label
    >${say(scene, "email")}
    <input type="email" name="email" autocomplete="email" required maxlength="320" value="${value}"
  /></label>`

const kept = ({ action, at }: Afterwards) =>
  html`${action !== undefined && hidden("then", action)}${at !== undefined && hidden("at", at)}`

/** Asks for an address. */
export const signInScreen = (scene: Scene, afterwards: Afterwards, email?: string): Html =>
  html`${heading(say(scene, "signIn"))}
    ${form(scene, "sign-in", { label: say(scene, "sendCode"), fields: html`${kept(afterwards)}${emailField(scene, email)}`, id: "send" })}
    <p><a href="${scene.path("place")}">${say(scene, "back")}</a></p>`

/** Asks for the code that was sent. */
export const codeScreen = (
  scene: Scene,
  sent: { readonly email: string; readonly requestId: string },
  afterwards: Afterwards
): Html =>
  html`${heading(say(scene, "signIn"))}
    <p>${say(scene, "codeSent", { address: sent.email })}</p>
    ${form(scene, "code", {
      label: say(scene, "signIn"),
      fields: html`${kept(afterwards)}${hidden("email", sent.email)}${hidden("request", sent.requestId)}
        <label
          >${say(scene, "code")}
          <input name="code" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9]{6}" maxlength="6" required
        /></label>`,
      id: "verify"
    })}
    <p><a href="${scene.path("place", { show: "sign-in" })}">${say(scene, "back")}</a></p>`

/** Asks for an access code. */
export const accessCodeScreen = (scene: Scene): Html =>
  html`${heading(say(scene, "accessCode"))}
    ${form(scene, "access-code", {
      label: say(scene, "unlock"),
      fields: html`<label
        >${say(scene, "accessCode")}
        <input name="code" autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="200" required
      /></label>`,
      id: "unlock"
    })}
    <p><a href="${scene.path("place")}">${say(scene, "back")}</a></p>`
