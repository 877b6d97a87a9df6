/** The handlers of messages and stopped addresses on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { SentMessages } from "../../../store/message/SentMessages.ts"
import { StoppedAddresses } from "../../../store/message/StoppedAddresses.ts"
import { AdminApi } from "../Api.ts"
import { onList, onRecord } from "../records/Operations.ts"

export const MessageHandlers = HttpApiBuilder.group(
  AdminApi,
  "messages",
  Effect.fnUntraced(function* (handlers) {
    const messages = yield* SentMessages
    const stops = yield* StoppedAddresses
    return handlers.handleAll({
      listMessages: onList(messages.list),
      getMessage: onRecord((tenant, id) => messages.find(tenant, id)),
      listStoppedAddresses: onList(stops.list),
      getStoppedAddress: onRecord((tenant, id) => stops.find(tenant, id)),
      liftStoppedAddress: onRecord((tenant, id, by) => stops.lift(tenant, id, by))
    })
  })
)
