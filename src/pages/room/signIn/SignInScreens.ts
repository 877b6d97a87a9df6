/** The screens on which a visitor signs in with a code, by mail or SMS, or shows an access code. */
import { html, type Html } from "../../Html.ts"
import { form, hidden, say, type Scene, screenHeading } from "../Scene.ts"

/** The action after the sign-in, and its mechanism. */
export interface NextAction {
  readonly action?: string | undefined
  readonly at?: string | undefined
}

/** The address of a visitor, as it was typed. */
export interface ContactAddress {
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

const kept = ({ action, at }: NextAction) =>
  html`${action !== undefined && hidden("then", action)}${at !== undefined && hidden("at", at)}`

/** What the visitor wants, which stays the title until it has it. */
const titleOf = ({ action }: NextAction) =>
  action === "remind" ? "remindMe" : action === "outbid" ? "outbidMe" : action === "join" ? "enterWaitlist" : "signIn"

/** Asks for an address. */
export const signInScreen = (
  scene: Scene,
  next: NextAction,
  { channel, value }: ContactAddress = { channel: "email", value: "" }
): Html => {
  const field = channel === "email" ? emailField(scene, value) : phoneField(scene, value)
  const title = titleOf(next)
  const other = channel === "email" ? title === "signIn" && scene.takesPhones && screenOf.phone : screenOf.email
  return html`${screenHeading(say(scene, title))}
    ${form(scene, "sign-in", { label: say(scene, "sendCode"), fields: html`${kept(next)}${field}`, id: "send" })}
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
  sent: { readonly to: ContactAddress; readonly requestId: string },
  next: NextAction
): Html =>
  html`${screenHeading(say(scene, titleOf(next)))}
    <p>${say(scene, "codeSent", { address: sent.to.value })}</p>
    ${form(scene, "code", {
      label: say(scene, "signIn"),
      fields: html`${kept(next)}${hidden(sent.to.channel, sent.to.value)}${hidden("request", sent.requestId)}
        <label>${say(scene, "code")} ${codeField}</label>`,
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

/** Six digits of any script, with anything between them: codes are pasted as they were sent. */
const pattern = String.raw`\P{Nd}*(?:\p{Nd}\P{Nd}*){6,12}`

export const codeField = html`<input
  name="code"
  inputmode="numeric"
  autocomplete="one-time-code"
  pattern="${pattern}"
  maxlength="100"
  required
/>`
