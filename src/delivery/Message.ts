/** Messages to consumers and to people of the dashboard, and their default texts. */
import { isolated } from "../domain/values/Direction.ts"
import type { MessagePurpose } from "../domain/message/SentMessage.ts"
import type { Tenant } from "../domain/values/Ids.ts"

/** One message to one consumer. */
export interface Message {
  /** Permanent id of the message: messages with the same id are duplicates. Absent: the message is unique. */
  readonly id?: string
  readonly channel: "email" | "phone"
  readonly purpose: MessagePurpose
  /** The consumer that gets it, where the sender knows. */
  readonly consumerId?: string
  /** An email address, or a phone number in E.164. */
  readonly to: string
  /** Email only. */
  readonly subject: string
  readonly text: string
  /** Email only: the HTML version, if there is one. */
  readonly html?: string
  /** Email only: the address that ends emails of this kind, for the reader's mail program too. */
  readonly endUrl?: string
}

/** A message with its sender. */
export interface OutgoingMessage extends Message {
  /** Undefined for the installation itself. Its messages follow no tenant's list of stopped addresses. */
  readonly tenant: Tenant | undefined
  /** The tenant that may read a message of the installation in the outbox of development. */
  readonly shownTo?: Tenant | undefined
}

/** Characters of a brand's name before a code, so that a lock screen shows both. */
const brandLengthMax = 40

/** Returns the message with a one-time code. The text starts with the brand and the code: "Maison Aurore: 639222 is …". */
export const oneTimeCode = (options: {
  readonly tenant: Tenant | undefined
  readonly shownTo?: Tenant | undefined
  readonly channel: "email" | "phone"
  readonly to: string
  readonly code: string
  readonly minutes: number
  /** The brand that asks for the code. Undefined for the installation itself, and a brand without a name yet. */
  readonly brand?: string | undefined
}): OutgoingMessage => {
  const { tenant, shownTo, channel, to, minutes, brand } = options
  const name = [...(brand ?? "").replace(/\s+/g, " ").trim()].slice(0, brandLengthMax).join("")
  const code = name === "" ? options.code : `${isolated(name, "")}: ${options.code}`
  const text =
    channel === "email"
      ? `${code} is your code to sign in. It is valid for ${minutes} minutes and can be used once.\n\nIf you did not ask ` +
        "for it, ignore this message. Without the code no one can sign in.\n"
      : `${code} is your code to sign in, valid for ${minutes} minutes.`
  return { tenant, shownTo, channel, purpose: "CODE", to, subject: `${code} is your code`, text }
}

/** Returns the message that invites a person to the dashboard. It has no link, because an organization could forge one. */
export const invitation = (options: {
  readonly tenant: Tenant
  readonly to: string
  readonly organization: string
  readonly role: string
}): OutgoingMessage => {
  const { tenant, to, organization, role } = options
  const name = isolated(organization.replace(/\s+/g, " "), "")
  const mode = tenant.mode === "test" ? " in test mode" : ""
  const text =
    `${name} has invited you to its Usher dashboard${mode}, as ${role}.\n\n` +
    "Open the dashboard at the address that your colleague gives you, and sign in with this email address.\n"
  return {
    tenant,
    channel: "email",
    purpose: "INVITATION",
    to,
    subject: `You are invited to the dashboard of ${name}`,
    text
  }
}

/** Returns the message to a waitlist member that the sequence has opened. */
export const opening = (options: {
  readonly tenant: Tenant
  readonly id: string
  readonly channel: "email" | "phone"
  readonly to: string
  readonly consumerId: string
  /** The name of the experience that has opened. */
  readonly experience: string
}): OutgoingMessage => {
  const { experience, ...rest } = options
  const subject = `${isolated(experience.replace(/\s+/g, " "), "")} is open`
  const text =
    rest.channel === "email"
      ? `${subject} now.\n\nYou asked to be told when it opens. This is the only message about it.\n`
      : `${subject} now. You asked to be told.`
  return { ...rest, purpose: "OPENING", subject, text }
}

const disabledReasons = {
  GONE: "the endpoint answered 410",
  FAILING: "no delivery succeeded for five days"
}

/**
 * Returns the mail to an organization whose webhook fails. It contains no event and no secret, and only the host of the
 * address.
 */
export const webhookFailure = (options: {
  readonly tenant: Tenant
  readonly to: string
  readonly webhookId: string
  /** The host of the webhook's URL. */
  readonly host: string
  /** Permanently failed deliveries. */
  readonly failedDeliveries: number
  /** Why the webhook was disabled, if it was. */
  readonly disabledReason: keyof typeof disabledReasons | undefined
}): OutgoingMessage => {
  const { tenant, to, webhookId, host, failedDeliveries, disabledReason } = options
  const webhook = `the webhook ${webhookId} (${tenant.mode} mode) at ${host}`
  const count = failedDeliveries === 1 ? "A delivery" : `${failedDeliveries} deliveries`
  const sentences = [
    ...(failedDeliveries > 0 ? [`${count} to ${webhook} failed permanently. A replay sends failed events again.`] : []),
    ...(disabledReason === undefined
      ? []
      : [`Usher disabled ${webhook}, because ${disabledReasons[disabledReason]}. Its events wait until it is enabled.`])
  ]
  return {
    tenant,
    channel: "email",
    purpose: "WEBHOOK_FAILURE",
    to,
    subject: `Webhook at ${host}: ${disabledReason === undefined ? "deliveries failed" : "disabled"}`,
    text: `${sentences.join("\n\n")}\n\nThere is at most one such mail an hour for a webhook.\n`
  }
}
