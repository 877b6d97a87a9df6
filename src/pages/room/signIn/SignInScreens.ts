/** The screens on which a visitor signs in with a code, by mail or SMS, or shows an access code. */
import { html, type Html } from "../../Html.ts"
import { form, hidden, say, type Scene, screenHeading } from "../Scene.ts"

/** The action after the sign-in, and its mechanism. */
export interface Afterwards {
  readonly action?: string | undefined
  readonly at?: string | undefined
}

/** The address of a visitor, as it was typed. */
export interface Typed {
  readonly channel: "email" | "phone"
  readonly value: string
}

export const emailField = (scene: Scene, value = ""): Html =>
  html`<label
    >${say(scene, "email")}
    <input type="email" name="email" autocomplete="email" required maxlength="320" value="${value}"
  /></label>`

const phoneField = (scene: Scene, value = ""): Html =>
  html`<label
    >${say(scene, "phone")}
    <input type="tel" name="phone" dir="ltr" autocomplete="tel" required maxlength="64" value="${value}"
  /></label>`

const kept = ({ action, at }: Afterwards) =>
  html`${action !== undefined && hidden("then", action)}${at !== undefined && hidden("at", at)}`

/** Asks for an address. */
export const signInScreen = (
  scene: Scene,
  afterwards: Afterwards,
  { channel, value }: Typed = { channel: "email", value: "" }
): Html => {
  const field = channel === "email" ? emailField(scene, value) : phoneField(scene, value)
  const other = channel === "email" ? scene.takesPhones && screenOf.phone : screenOf.email
  return html`${screenHeading(say(scene, "signIn"))}
    ${form(scene, "sign-in", { label: say(scene, "sendCode"), fields: html`${kept(afterwards)}${field}`, id: "send" })}
    ${other !== false && html`<p><a href="${scene.path("place", { show: other.show })}">${say(scene, other.key)}</a></p>`}
    <p><a href="${scene.path("place")}">${say(scene, "back")}</a></p>`
}

/** The screen that asks for each kind of address, and the text of a link to it. */
const screenOf = {
  email: { show: "sign-in", key: "useEmail" },
  phone: { show: "sign-in-phone", key: "usePhone" }
} as const

/** Asks for the code that was sent. */
export const codeScreen = (
  scene: Scene,
  sent: { readonly to: Typed; readonly requestId: string },
  afterwards: Afterwards
): Html =>
  html`${screenHeading(say(scene, "signIn"))}
    <p>${say(scene, "codeSent", { address: sent.to.value })}</p>
    ${form(scene, "code", {
      label: say(scene, "signIn"),
      fields: html`${kept(afterwards)}${hidden(sent.to.channel, sent.to.value)}${hidden("request", sent.requestId)}
        <label
          >${say(scene, "code")}
          <input
            name="code"
            inputmode="numeric"
            autocomplete="one-time-code"
            pattern="[0-9]{6,12}"
            maxlength="12"
            required
        /></label>`,
      id: "verify"
    })}
    <p><a href="${scene.path("place", { show: screenOf[sent.to.channel].show })}">${say(scene, "back")}</a></p>`

/** Asks for an access code. */
export const accessCodeScreen = (scene: Scene): Html =>
  html`${screenHeading(say(scene, "accessCode"))}
    ${form(scene, "access-code", {
      label: say(scene, "unlock"),
      fields: html`<label
        >${say(scene, "accessCode")}
        <input name="code" autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="200" required
      /></label>`,
      id: "unlock"
    })}
    <p><a href="${scene.path("place")}">${say(scene, "back")}</a></p>`
