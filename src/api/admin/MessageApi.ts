/** Messages and stopped addresses on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { messageDays } from "../../domain/organization/Retention.ts"
import { MessageChannel, MessagePurpose, SentMessage, messageSorts } from "../../domain/message/SentMessage.ts"
import { StoppedAddress, stoppedAddressSorts } from "../../domain/message/StoppedAddress.ts"
import { MessageStatus, StopReason } from "../../domain/receiver/Meaning.ts"
import { Id } from "../../domain/values/Ids.ts"
import { text } from "../../domain/values/Text.ts"
import { NotFound } from "../Errors.ts"
import { listAnnotations, listQuery, pageOf } from "./Lists.ts"
import { operationsOn } from "./RecordApi.ts"

const Address = text({ minLength: 1, maxLength: 320 })

const addressFilters = {
  channel: Schema.optionalKey(MessageChannel.annotate({ description: "Only those of this channel." })),
  address: Schema.optionalKey(
    Address.annotate({
      description: "Only this whole address, in upper or lower case. Write the + of a phone number as %2B."
    })
  )
}

const message = operationsOn(SentMessage, { name: "Message", aNoun: "a message", path: "messages" })

const listMessages = HttpApiEndpoint.get("listMessages", "/messages", {
  query: {
    ...listQuery(messageSorts),
    ...addressFilters,
    status: Schema.optionalKey(MessageStatus.annotate({ description: "Only those with this status." })),
    purpose: Schema.optionalKey(MessagePurpose.annotate({ description: "Only those with this purpose." })),
    consumerId: Schema.optionalKey(
      Id.pipe(
        Schema.annotateEncoded({
          description: "Only messages that name this consumer or went to its present addresses."
        })
      )
    )
  },
  success: pageOf(SentMessage).annotate({ identifier: "SentMessagePage" })
}).annotateMerge(
  listAnnotations({
    summary: "List messages",
    description:
      "Messages that were sent or could not be sent, and the provider's reports about them. Kept for " +
      `${messageDays} days, without their text. A message to a stopped address is not sent and not listed.`
  })
)

const stop = operationsOn(StoppedAddress, {
  name: "StoppedAddress",
  aNoun: "a stopped address",
  path: "stopped-addresses"
})

const listStops = HttpApiEndpoint.get("listStoppedAddresses", "/stopped-addresses", {
  query: {
    ...listQuery(stoppedAddressSorts),
    ...addressFilters,
    reason: Schema.optionalKey(StopReason.annotate({ description: "Only those stopped for this reason." }))
  },
  success: pageOf(StoppedAddress).annotate({ identifier: "StoppedAddressPage" })
}).annotateMerge(
  listAnnotations({
    summary: "List stopped addresses",
    description: "Addresses that get no more messages, because a receiver reported a bounce, a complaint or a STOP."
  })
)

const lift = HttpApiEndpoint.delete("liftStoppedAddress", "/stopped-addresses/:id", {
  params: { id: Id },
  success: StoppedAddress,
  error: NotFound
}).annotateMerge(
  OpenApi.annotations({
    summary: "Lift a stop",
    description:
      "The address gets messages again. The audit log names who lifted the stop (`stopped_address.lifted`). Returns " +
      "the stop as it was. Lift it only if the consumer asks for it, or the mailbox works again. The provider has a " +
      "list of its own, and the next bounce stops the address again."
  })
)

export class MessageApi extends HttpApiGroup.make("messages")
  .add(listMessages, message.get(), listStops, stop.get(), lift)
  .annotateMerge(
    OpenApi.annotations({
      title: "Messages",
      description: "Messages to consumers and staff with their outcome, and the addresses that get none."
    })
  ) {}
