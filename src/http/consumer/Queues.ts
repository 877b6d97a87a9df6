/** The handlers of queues: each one expression around the engine. */
import { Effect, Result } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { type GrantClaims, grantName, type GrantProblem, Grants } from "../../auth/Grants.ts"
import type { Tenant } from "../../domain/Ids.ts"
import type { ConsumerCommand, MechanismRef } from "../../domain/Mechanism.ts"
import type { View } from "../../domain/Queue.ts"
import { Engine, type EngineError, type Inspection } from "../../engine/Engine.ts"
import { CurrentConsumer, CurrentTenant } from "../Credentials.ts"
import { orAnswer } from "../Refusals.ts"
import { ConsumerApi } from "./Api.ts"
import * as Loyalty from "./Loyalty.ts"
import type { PublicQueue, QueueState, Validity } from "./QueueApi.ts"

type QueueRef = MechanismRef<"queue">

/** The handlers of the group `queues`; needs the engine, grants and consumers. */
export const layer = HttpApiBuilder.group(
  ConsumerApi,
  "queues",
  Effect.fnUntraced(function* (handlers) {
    const engine = yield* Engine
    const grants = yield* Grants
    const loyaltyScore = yield* Loyalty.make

    /** A consumer's view as it is sent: a grant comes with its token. */
    const sent = (queue: QueueRef, consumerId: string, view: View): Effect.Effect<QueueState, EngineError> => {
      if (view.status !== "GRANTED") return Effect.succeed(view)
      const { status, enteredAt, grantedAt, expiresAt } = view
      const token = grants.token(
        queue.id,
        { consumerId, ...view },
        Effect.map(engine.inspect(queue), ({ identity }) => identity)
      )
      return Effect.map(token, (admissionGrant) => ({
        status,
        admissionGrant,
        enteredAt,
        grantedAt,
        ...(expiresAt !== undefined && { expiresAt })
      }))
    }

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
            Effect.map(engine.inspect(queueOf(tenant, params.queueId)), publicQueue)
          )
        ),
      enter: ({ params }) =>
        orQueueAnswer(
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId, isGuest }) => {
            const queue = queueOf(tenant, params.queueId)
            return Effect.flatMap(loyaltyScore(queue, consumerId), (score) =>
              change(queue, { _tag: "Enter", consumerId, isGuest, loyaltyScore: score })
            )
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
      admit: ({ params, payload }) => changeByServer(params.queueId, { _tag: "Admit", ...payload }),
      deny: ({ params, payload }) => changeByServer(params.queueId, { _tag: "Deny", ...payload }),
      complete: ({ params, payload }) => changeByServer(params.queueId, { _tag: "Complete", ...payload }),
      validate: ({ params: { queueId }, payload: { consumerId, token } }) =>
        orQueueAnswer(
          Effect.gen(function* () {
            const { tenant } = yield* CurrentTenant
            const view = yield* engine.view(queueOf(tenant, queueId), consumerId)
            const grant = yield* grants.verify(token)
            return validity(grant, { queueId, consumerId, tenant }, view)
          })
        )
    })
  })
)

const orQueueAnswer = orAnswer("queue")

const queueOf = (tenant: Tenant, id: string): QueueRef => ({ kind: "queue", id, tenant })

/** The public view of a queue: what was set is there, or null. */
const publicQueue = ({ identity, configuration, status, lifecycle }: Inspection<"queue">): typeof PublicQueue.Type => ({
  id: identity.id,
  experienceId: identity.experienceId,
  sequenceId: identity.sequenceId,
  name: configuration.name,
  timeZone: configuration.timeZone,
  openAt: configuration.openAt ?? null,
  closeAt: configuration.closeAt ?? null,
  lobbyOpenAt: configuration.lobbyOpenAt ?? null,
  admitRate: configuration.admitRate,
  admissionExpirationSeconds: configuration.admissionExpirationSeconds ?? null,
  capacity: configuration.capacity ?? null,
  maxAdmissions: configuration.maxAdmissions ?? null,
  supportsGuest: configuration.supportsGuest,
  loyaltyBiasEnabled: configuration.loyaltyBiasEnabled,
  lifecycle,
  statusOverride: status.statusOverride,
  statusOverrideAt: status.statusOverrideAt,
  statusOverrideBy: status.statusOverrideBy,
  teardownStatus: status.teardownStatus
})

/** Whether the token is the grant that this consumer holds in this queue at this moment. */
function validity(
  grant: Result.Result<GrantClaims, GrantProblem>,
  shown: { readonly queueId: string; readonly consumerId: string; readonly tenant: Tenant },
  view: View
): typeof Validity.Type {
  if (Result.isFailure(grant)) return grant.failure === "GRANT_EXPIRED" ? expired : invalid
  const { jti, distributionId, consumerId, organizationId } = grant.success
  if (organizationId !== shown.tenant.organizationId) return invalid
  if (distributionId !== shown.queueId) return no("WRONG_DISTRIBUTION", "The grant is for another distribution")
  if (consumerId !== shown.consumerId) return no("WRONG_CONSUMER", "The grant is another consumer's")
  switch (view.status) {
    case "GRANTED":
      return jti === grantName(shown.queueId, view.grantSequence) || no("GRANT_REPLACED", "The grant has been replaced")
    case "COMPLETED":
      return no("GRANT_COMPLETED", "The grant has been used")
    case "DENIED":
      return view.reason === "ADMISSION_EXPIRED" ? expired : no("GRANT_DENIED", "The grant has been denied")
    default:
      return no("NOT_GRANTED", "The consumer holds no grant")
  }
}

const no = (code: string, error: string) => ({ valid: false, error, code }) as const
const invalid = no("INVALID_TOKEN", "The token is not a grant")
const expired = no("GRANT_EXPIRED", "The grant has expired")
