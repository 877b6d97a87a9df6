/** What is sent to consumers, and the words of it. */
import type { Tenant } from "../domain/values/Ids.ts"

/** One message to one person. */
export interface Message {
  /** Names the message for ever: sent twice under one name, it is one message. Absent: no two messages are the same. */
  readonly id?: string
  readonly channel: "email" | "phone"
  /** An email address, or a phone number in E.164. */
  readonly to: string
  /** Email only. */
  readonly subject: string
  readonly text: string
  /** Email only: the same as HTML, if it has that form. */
  readonly html?: string
}

/** A message with whom it is sent for. */
export interface Outgoing extends Message {
  readonly tenant: Tenant
}

/** The message that carries a one-time code. The code stands first, so that a lock screen shows it. */
export const oneTimeCode = (options: {
  readonly tenant: Tenant
  readonly channel: "email" | "phone"
  readonly to: string
  readonly code: string
  readonly minutes: number
}): Outgoing => {
  const { tenant, channel, to, code, minutes } = options
  const text =
    channel === "email"
      ? `${code} is your code to sign in. It is good for ${minutes} minutes and can be used once.\n\n` +
        "If you did not ask for it, you need not do anything: without the code nobody can sign in.\n"
      : `${code} is your code to sign in, good for ${minutes} minutes.`
  return { tenant, channel, to, subject: `${code} is your code`, text }
}

/** The message that tells a waitlist's member that what it waits for is open. */
export const opening = (options: {
  readonly tenant: Tenant
  readonly id: string
  readonly channel: "email" | "phone"
  readonly to: string
  /** The name of what is open. */
  readonly experience: string
}): Outgoing => {
  const { experience, ...rest } = options
  const subject = `${experience.replace(/\s+/g, " ")} is open`
  const text =
    rest.channel === "email"
      ? `${subject} now.\n\nYou asked to be told when it opens. This is the only message about it.\n`
      : `${subject} now. You asked to be told.`
  return { ...rest, subject, text }
}

/** An address as it may stand in a log: enough to find one's own mistake, too little to write to. */
export const masked = (to: string): string =>
  to.includes("@") ? `${to.slice(0, 1)}…${to.slice(to.lastIndexOf("@"))}` : `${to.slice(0, 3)}…${to.slice(-2)}`
