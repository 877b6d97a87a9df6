/** The text of a page for a refusal. */
import { html, type Html } from "../Html.ts"
import type { Refusal } from "../Refusal.ts"
import type { PlainKey } from "../Words.ts"
import { say, type Scene } from "./Scene.ts"

const keys: { readonly [code: string]: PlainKey } = {
  NOT_OPEN: "notOpen",
  CLOSED: "closed",
  DISTRIBUTION_ORDER_LIMIT: "reasonLimit",
  SOLD_OUT: "soldOut",
  SLOT_FULL: "slotTaken",
  SLOT_PAST: "slotBegun",
  GRANT_LIMIT_REACHED: "grantLimit",
  BID_TOO_LOW: "bidTooLow",
  BID_TOO_HIGH: "bidTooHigh",
  BID_UNLIKELY: "bidUnlikely",
  CHALLENGE: "challenge",
  otp_invalid: "codeInvalid",
  otp_expired: "codeExpired",
  FOREIGN: "foreign",
  ACCESS_CODE: "accessCodeWrong",
  ADDRESS: "badAddress",
  PHONE: "badPhone",
  AMOUNT: "badAmount",
  GUESTS: "guestsRefused",
  FORBIDDEN: "notInvited",
  RATE_LIMIT: "tooMany",
  UNAVAILABLE: "unavailable"
}

/** Whether the mechanism has no free place or unit, for nobody. */
export const isFull = ({ code }: Pick<Refusal, "code">): boolean =>
  code === "SOLD_OUT" || (code.endsWith("_FULL") && code !== "SLOT_FULL")

const keyOf = ({ code }: Refusal): PlainKey => {
  if (Object.hasOwn(keys, code)) return keys[code]!
  if (isFull({ code })) return "full"
  return code === "NOT_FOUND" ? "notFoundText" : "notPossible"
}

/** The refusal in words. A challenge is solved by the script, which finds it here. */
export const messageOf = (scene: Scene, refusal: Refusal): Html => {
  const { amount = "", currencyCode, retryAfterSeconds = 1, challenge } = refusal
  const values = {
    amount: currencyCode === undefined ? amount : scene.formats.amount(amount, currencyCode),
    wait: scene.formats.duration(retryAfterSeconds)
  }
  return html`<p
    class="error"
    role="alert"
    tabindex="-1"
    ${challenge !== undefined && html` data-challenge="${JSON.stringify(challenge)}"`}
  >
    ${say(scene, keyOf(refusal), values)}
  </p>`
}
