/**
 * The message about a grant, rendered from the organization's page for the channel, or from a default text. It never
 * contains the admission grant itself, which the consumer receives where it entered.
 */
import { renderEmail, renderSms } from "../domain/experience/creative/Rendering.ts"
import { onOneLine, type Values } from "../domain/experience/creative/rendering/Placeholders.ts"
import { instantText } from "../domain/experience/creative/rendering/Words.ts"
import { isolated } from "../domain/values/Direction.ts"
import { toText } from "../domain/values/Time.ts"
import type { Grant, Pages, Source } from "../store/message/GrantMessages.ts"
import type { OutgoingMessage } from "./Message.ts"

/** UTF-16 units of a name in the default text. */
const nameLengthMax = 200

/** Returns the message: by email if the address is known, else by SMS. Undefined if the consumer has neither. */
export const grantMessage = (source: Source, grant: Grant, pages: Pages): OutgoingMessage | undefined => {
  const values = valuesOf(source, grant)
  const { tenant, theme } = source
  // Each try has the same id, so that mail systems can drop a duplicate.
  const id = `${source.mechanismId}.${grant.sequence}`
  const plain = defaultText(source, values)
  const about = { tenant, id, purpose: "GRANT", consumerId: grant.consumerId } as const
  if (grant.email !== null) {
    const { subject, ...own } = pages.email === undefined ? plain : renderEmail(pages.email, values, theme)
    return { ...about, channel: "email", to: grant.email, ...own, subject: subject || plain.subject }
  }
  if (grant.phone === null) return undefined
  const own = pages.sms === undefined ? "" : renderSms(pages.sms, values)
  return { ...about, channel: "phone", to: grant.phone, subject: plain.subject, text: own || plain.text.trim() }
}

/** Returns the values of the placeholders. */
const valuesOf = (source: Source, grant: Grant): Values => {
  const { winningBidAmount, grantedAt, expiresAt } = grant
  const words = (iso: string) => instantText(iso, source.timeZone, "at")
  const expiry = expiresAt === Infinity ? undefined : toText(expiresAt)
  return {
    consumerId: grant.consumerId,
    consumerName: grant.consumerName,
    organizationName: source.organizationName,
    experienceId: source.experienceId,
    experienceName: source.experienceName,
    sequenceId: source.sequenceId,
    distributionId: source.mechanismId,
    distributionName: source.name,
    distributionType: source.kind,
    timeZone: source.timeZone,
    grantedAt: toText(grantedAt),
    grantedAtText: words(toText(grantedAt)),
    ...(expiry !== undefined && { expiresAt: expiry, expiresAtText: words(expiry) }),
    ...(winningBidAmount !== null && { winningBidAmount }),
    ...(source.currencyCode !== null && { currencyCode: source.currencyCode })
  }
}

const defaultText = ({ kind, experienceName }: Source, values: Values) => {
  const experience = isolated(onOneLine(experienceName, nameLengthMax), "")
  const what = {
    queue: "It is your turn",
    draw: "You have won in the draw",
    auction: `You have won with a bid of ${values.winningBidAmount} ${values.currencyCode}`,
    waitlist: "A unit is kept for you"
  }[kind]
  const deadline = kind === "waitlist" ? "Your offer lasts until" : "You have until"
  const until = values.expiresAtText === undefined ? "" : ` ${deadline} ${values.expiresAtText}.`
  const subject = {
    queue: "It is your turn",
    draw: "You have won",
    auction: "You have won",
    waitlist: "An offer for you"
  }[kind]
  return {
    subject: `${subject}: ${experience}`,
    text: `${what}: ${experience}.${until} Go on where you entered.\n`
  }
}
