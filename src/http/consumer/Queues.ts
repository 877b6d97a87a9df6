/** The handlers of queues: each one expression around the engine. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { Tenant } from "../../domain/Ids.ts"
import type { ConsumerCommand, MechanismRef } from "../../domain/Mechanism.ts"
import type { View } from "../../domain/Queue.ts"
import { Engine, type EngineError } from "../../engine/Engine.ts"
import { CurrentConsumer, CurrentTenant } from "../Credentials.ts"
import { orAnswer } from "../Refusals.ts"
import { ConsumerApi } from "./Api.ts"
import * as GrantAnswers from "./GrantAnswers.ts"
import * as LiveUpdates from "./LiveUpdates.ts"
import * as Loyalty from "./Loyalty.ts"
import * as Protection from "./Protection.ts"
import { publicView } from "./PublicMechanism.ts"
import { PublicQueue, QueueState } from "./QueueApi.ts"

type QueueRef = MechanismRef<"queue">

/** The handlers of the group `queues`; needs the engine, grants and consumers. */
export const layer = HttpApiBuilder.group(
  ConsumerApi,
  "queues",
  Effect.fnUntraced(function* (handlers) {
    const engine = yield* Engine
    const grants = yield* GrantAnswers.make
    const loyaltyScore = yield* Loyalty.make
    const ifInvited = yield* Protection.make

    /** A consumer's view as it is sent: a grant comes with its token. */
    const sent = (queue: QueueRef, consumerId: string, view: View): Effect.Effect<QueueState, EngineError> => {
      if (view.status !== "GRANTED") return Effect.succeed(view)
      const { status, enteredAt, grantedAt, expiresAt } = view
      const token = grants.token(queue, consumerId, view)
      return Effect.map(token, (admissionGrant) => ({
        status,
        admissionGrant,
        enteredAt,
        grantedAt,
        ...(expiresAt !== undefined && { expiresAt })
      }))
    }

    const events = (yield* LiveUpdates.make)("queue", QueueState, sent)

    /** Runs a consumer's command; answers its standing. */
    const change = (queue: QueueRef, command: ConsumerCommand<"queue">) =>
      Effect.flatMap(engine.send(queue, command), (view) => sent(queue, command.consumerId, view))

    /** The same for an organization's server, which names the consumer. */
    const changeByServer = (queueId: string, command: ConsumerCommand<"queue">) =>
      orQueueAnswer(Effect.flatMap(CurrentTenant, ({ tenant }) => change(queueOf(tenant, queueId), command)))

    return handlers.handleAll({
      get: ({ params }) =>
        orQueueAnswer(
          Effect.flatMap(CurrentTenant, ({ tenant }) =>
            Effect.map(engine.inspect(queueOf(tenant, params.queueId)), (inspection) =>
              publicView(PublicQueue, inspection)
            )
          )
        ),
      enter: ({ params }) =>
        orQueueAnswer(
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId, isGuest }) => {
            const queue = queueOf(tenant, params.queueId)
            const entry = Effect.flatMap(loyaltyScore(queue, consumerId), (score) =>
              change(queue, { _tag: "Enter", consumerId, isGuest, loyaltyScore: score })
            )
            return ifInvited(queue, consumerId, entry)
          })
        ),
      leave: ({ params }) =>
        orQueueAnswer(
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId }) =>
            change(queueOf(tenant, params.queueId), { _tag: "Leave", consumerId })
          )
        ),
      status: ({ params }) =>
        orQueueAnswer(
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId }) => {
            const queue = queueOf(tenant, params.queueId)
            return Effect.flatMap(engine.view(queue, consumerId), (view) => sent(queue, consumerId, view))
          })
        ),
      events: ({ params, headers }) => events(params.queueId, headers),
      admit: ({ params, payload }) => changeByServer(params.queueId, { _tag: "Admit", ...payload }),
      deny: ({ params, payload }) => changeByServer(params.queueId, { _tag: "Deny", ...payload }),
      complete: ({ params, payload }) => changeByServer(params.queueId, { _tag: "Complete", ...payload }),
      validate: ({ params: { queueId }, payload }) =>
        orQueueAnswer(
          Effect.gen(function* () {
            const { tenant } = yield* CurrentTenant
            const queue = queueOf(tenant, queueId)
            const view = yield* engine.view(queue, payload.consumerId)
            return yield* grants.validate(queue, payload, standingOf(view))
          })
        )
    })
  })
)

const orQueueAnswer = orAnswer("queue")

const queueOf = (tenant: Tenant, id: string): QueueRef => ({ kind: "queue", id, tenant })

/** What became of the consumer's grant, if it had one. */
function standingOf(view: View): GrantAnswers.Standing {
  switch (view.status) {
    case "GRANTED":
      return view
    case "COMPLETED":
      return "completed"
    case "DENIED":
      return view.reason === "ADMISSION_EXPIRED" ? "expired" : "denied"
    default:
      return "none"
  }
}
