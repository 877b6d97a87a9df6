/** The handlers of messages and stopped addresses on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { SentMessages } from "../../../store/message/SentMessages.ts"
import { StoppedAddresses } from "../../../store/message/StoppedAddresses.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { onList, onRecord } from "../records/Operations.ts"

export const MessageHandlers = HttpApiBuilder.group(AdminApi, "messages", (handlers) =>
  Effect.gen(function* () {
    const messages = yield* SentMessages
    const stops = yield* StoppedAddresses
    return handlers.handleAll({
      listMessages: onList(messages.list),
      getMessage: onRecord(messages.find),
      listStoppedAddresses: onList(stops.list),
      getStoppedAddress: onRecord(stops.find),
      liftStoppedAddress: onRecord(stops.lift)
    })
  })
)
