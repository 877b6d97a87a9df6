/** Reports about messages, and consumers that opt out. */
import { Effect } from "effect"
import type { MessageReported, OptedIn, OptedOut } from "../../domain/receiver/Meaning.ts"
import { SentMessages } from "../../store/message/SentMessages.ts"
import { StoppedAddresses } from "../../store/message/StoppedAddresses.ts"
import type { TakenEvent } from "../../store/receiver/TakenEvents.ts"
import { again, done, ignored } from "./Handled.ts"

/** Attempts to find a message: a report may arrive before the sender has noted its id. */
const messageAttemptsMax = 2

/** Makes the functions that handle reports about messages. */
export const make = Effect.gen(function* () {
  const sent = yield* SentMessages
  const addresses = yield* StoppedAddresses

  const report = Effect.fnUntraced(function* (
    { tenant, receiverId }: TakenEvent,
    { channel, messageIds, status, stopped }: MessageReported
  ) {
    if (stopped.length > 0) {
      const reason = status === "COMPLAINED" ? "COMPLAINED" : "BOUNCED"
      yield* addresses.stop(tenant, receiverId, channel, stopped, reason)
    }
    const isKnown = yield* sent.report(tenant, channel, messageIds, status)
    if (stopped.length > 0) return done("ADDRESS_STOPPED")
    return isKnown ? done("MESSAGE_REPORTED") : again(messageAttemptsMax, ignored("MESSAGE_UNKNOWN"))
  })

  const optOut = ({ tenant, receiverId }: TakenEvent, { channel, address }: OptedOut) =>
    Effect.as(addresses.stop(tenant, receiverId, channel, [address], "OPTED_OUT"), done("ADDRESS_STOPPED"))

  const optIn = ({ tenant, receiverId }: TakenEvent, { channel, address }: OptedIn) =>
    Effect.as(addresses.allow(tenant, `receiver:${receiverId}`, channel, address), done("ADDRESS_ALLOWED"))

  return { report, optOut, optIn }
})
