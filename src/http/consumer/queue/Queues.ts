/** The handlers of queues: each one expression around the engine. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { ConsumerCommand, MechanismRef } from "../../../domain/mechanism/Mechanism.ts"
import type { View } from "../../../domain/queue/Queue.ts"
import { Engine, type EngineError } from "../../../engine/Engine.ts"
import { CurrentConsumer, CurrentTenant } from "../../credentials/Credentials.ts"
import { orAnswer } from "../../errors/Refusals.ts"
import * as ServerActions from "../../server/ServerActions.ts"
import * as Admissions from "./Admissions.ts"
import { ConsumerApi } from "../Api.ts"
import * as GrantAnswers from "../mechanism/GrantAnswers.ts"
import * as LiveUpdates from "../mechanism/LiveUpdates.ts"
import * as Loyalty from "../consumer/Loyalty.ts"
import * as Protection from "../experience/Protection.ts"
import { publicView } from "../mechanism/PublicMechanism.ts"
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
    const { onPlace, onGrant } = yield* ServerActions.make("queue")
    const admitNext = yield* Admissions.make

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

    const admitByCount = (queueId: string, count: number) =>
      orQueueAnswer(
        Effect.flatMap(CurrentTenant, ({ tenant, by }) =>
          Effect.map(admitNext(queueOf(tenant, queueId), count, by), (consumerIds) => ({
            admitted: consumerIds.length,
            consumerIds
          }))
        )
      )

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
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId, by }) =>
            change(queueOf(tenant, params.queueId), { _tag: "Leave", consumerId, by })
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
      admit: ({ params: { queueId }, payload: { consumerId, count } }) =>
        typeof count === "number"
          ? admitByCount(queueId, count)
          : onPlace({ mechanismId: queueId, consumerId }, (queue, by) =>
              change(queue, { _tag: "Admit", consumerId, by })
            ),
      deny: ({ params, payload: { consumerId, reason } }) =>
        onGrant({ mechanismId: params.queueId, consumerId }, (queue, by) =>
          change(queue, { _tag: "Deny", consumerId, reason, by })
        ),
      complete: ({ params, payload: { consumerId } }) =>
        onGrant({ mechanismId: params.queueId, consumerId }, (queue, by) =>
          change(queue, { _tag: "Complete", consumerId, by })
        ),
      validate: ({ params, payload }) =>
        onGrant({ mechanismId: params.queueId, consumerId: payload.consumerId }, (queue) =>
          Effect.flatMap(engine.view(queue, payload.consumerId), (view) =>
            grants.validate(queue, payload, standingOf(view))
          )
        )
    })
  })
)

const orQueueAnswer = orAnswer("queue")

const queueOf = (tenant: Tenant, id: string): QueueRef => ({ kind: "queue", id, tenant })

/** What became of the consumer's grant, if it had one. */
function standingOf(view: View): GrantAnswers.GrantStatus {
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
