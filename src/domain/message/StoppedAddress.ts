/** An address that gets no more messages of an organization, codes included. */
import { Schema } from "effect"
import { StopReason } from "../receiver/Meaning.ts"
import { normalizedEmail } from "../values/Email.ts"
import { Id } from "../values/Ids.ts"
import { typedNumber } from "../values/TypedNumber.ts"
import { SentTimestamp } from "../values/Time.ts"
import { MessageChannel } from "./SentMessage.ts"

/** The stopped address in responses. */
export const StoppedAddress = Schema.Struct({
  id: Id,
  channel: MessageChannel,
  address: Schema.String.annotate({ description: "An email in its one spelling, or a phone number." }),
  reason: StopReason.annotate({
    description:
      "`BOUNCED`: mail can never arrive. `COMPLAINED`: the consumer called it unwanted. `OPTED_OUT`: the consumer answered STOP, and can answer START."
  }),
  receiverId: Id.annotate({ description: "The receiver that got the report." }),
  stoppedAt: SentTimestamp
}).annotate({ identifier: "StoppedAddress" })
export type StoppedAddress = typeof StoppedAddress.Type

/** Returns the one spelling of an address that messages, stops and filters share. */
export const sameAddress = (address: string): string => {
  const email = normalizedEmail(address)
  if (email !== undefined) return email
  const number = typedNumber(address)
  return number?.isInternational === true ? `+${number.digits}` : address.trim().toLowerCase()
}

/** How the list of stopped addresses can be sorted. The first is the default. */
export const stoppedAddressSorts = ["stoppedAt"] as const
