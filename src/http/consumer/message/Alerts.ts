/** The handlers of the emails that a consumer asks for. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ConsumerApi } from "../../../api/consumer/ConsumerApi.ts"
import { CurrentConsumer } from "../../../api/Credentials.ts"
import { Forbidden } from "../../../api/Errors.ts"
import type { AlertTopic } from "../../../domain/message/Alert.ts"
import { canonicalTag } from "../../../domain/values/LanguageTag.ts"
import { Alerts } from "../../../store/message/Alerts.ts"
import { orNotFound, orServiceUnavailable } from "../../errors/Refusals.ts"

const noAddress = new Forbidden({ error: "The consumer has no email address: sign in with POST /auth/otp/verify" })

export const layer = HttpApiBuilder.group(ConsumerApi, "alerts", (handlers) =>
  Effect.gen(function* () {
    const alerts = yield* Alerts

    const keyOf = (topic: AlertTopic, subjectId: string) =>
      Effect.map(CurrentConsumer, ({ tenant, consumerId }) => ({ tenant, topic, subjectId, consumerId }))

    const find = Effect.fnUntraced(
      function* (topic: AlertTopic, subjectId: string) {
        return yield* alerts.find(yield* keyOf(topic, subjectId))
      },
      orNotFound,
      orServiceUnavailable
    )

    const want = Effect.fnUntraced(
      function* (topic: AlertTopic, subjectId: string, payload: { readonly language?: string } | null) {
        const key = yield* keyOf(topic, subjectId)
        const isNoted = yield* alerts.want(key, canonicalTag(payload?.language ?? "") ?? "en")
        return isNoted ? yield* alerts.find(key) : yield* noAddress
      },
      orNotFound,
      orServiceUnavailable
    )

    const end = Effect.fnUntraced(
      function* (topic: AlertTopic, subjectId: string) {
        const key = yield* keyOf(topic, subjectId)
        yield* alerts.end(key)
        return yield* alerts.find(key)
      },
      orNotFound,
      orServiceUnavailable
    )

    return handlers.handleAll({
      reminder: ({ params }) => find("REMINDER", params.experienceId),
      remind: ({ params, payload }) => want("REMINDER", params.experienceId, payload),
      endReminder: ({ params }) => end("REMINDER", params.experienceId),
      outbid: ({ params }) => find("OUTBID", params.auctionId),
      tellOutbid: ({ params, payload }) => want("OUTBID", params.auctionId, payload),
      endOutbid: ({ params }) => end("OUTBID", params.auctionId)
    })
  })
)
