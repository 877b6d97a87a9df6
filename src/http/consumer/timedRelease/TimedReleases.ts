/** The handlers of timed releases: each one expression around the engine. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { ConsumerCommand, MechanismRef } from "../../../domain/mechanism/Mechanism.ts"
import type { View } from "../../../domain/timedRelease/TimedRelease.ts"
import { Engine, type EngineError } from "../../../engine/Engine.ts"
import { AssignedProducts } from "../../../store/experience/AssignedProducts.ts"
import { ShownProducts } from "../../../store/experience/ShownProducts.ts"
import { CurrentConsumer, CurrentTenant } from "../../credentials/Credentials.ts"
import { orAnswer } from "../../errors/Refusals.ts"
import * as ServerActions from "../../server/ServerActions.ts"
import { ConsumerApi } from "../Api.ts"
import * as GrantAnswers from "../mechanism/GrantAnswers.ts"
import * as LiveUpdates from "../mechanism/LiveUpdates.ts"
import * as Protection from "../experience/Protection.ts"
import { publicView } from "../mechanism/PublicMechanism.ts"
import { PublicTimedRelease, TimedReleaseState } from "./TimedReleaseApi.ts"

type TimedReleaseRef = MechanismRef<"timed_release">

/** The handlers of the group `timedReleases`; needs the engine, grants, and the products that are picked and offered. */
export const layer = HttpApiBuilder.group(
  ConsumerApi,
  "timedReleases",
  Effect.fnUntraced(function* (handlers) {
    const engine = yield* Engine
    const grants = yield* GrantAnswers.make
    const ifInvited = yield* Protection.make
    const { onGrant } = yield* ServerActions.make("timed_release")
    const assigned = yield* AssignedProducts
    const products = yield* ShownProducts

    /** A consumer's view as it is sent: a grant comes with its token. */
    const sent = (
      release: TimedReleaseRef,
      consumerId: string,
      view: View
    ): Effect.Effect<TimedReleaseState, EngineError> => {
      if (view.status !== "ENTERED") return Effect.succeed(view)
      const { grantSequence: _, ...shown } = view
      return Effect.map(grants.token(release, consumerId, grantOf(view)), (admissionGrant) => ({
        ...shown,
        admissionGrant
      }))
    }

    const events = (yield* LiveUpdates.make)("timed_release", TimedReleaseState, sent)

    /**
     * What a consumer selects, and whether it may: a variant of the product that the system has picked for it, and where
     * nothing is picked one that the experience offers.
     */
    const selection = Effect.fnUntraced(function* (release: TimedReleaseRef, consumerId: string, variantId?: string) {
      if (variantId === undefined) return {}
      const identity = yield* engine.identity(release)
      const product = yield* assigned.of(identity, consumerId)
      if (product !== undefined) return { variantId, isUnassigned: !product.variantIds.has(variantId) }
      const offered = yield* products.variantIds(identity.organizationId, identity.experienceId)
      return { variantId, isNotOffered: !offered.has(variantId) }
    })

    /** Runs a consumer's command; answers its standing. */
    const change = (release: TimedReleaseRef, command: ConsumerCommand<"timed_release">) =>
      Effect.flatMap(engine.send(release, command), (view) => sent(release, command.consumerId, view))

    return handlers.handleAll({
      get: ({ params }) =>
        orReleaseAnswer(
          Effect.flatMap(CurrentTenant, ({ tenant }) =>
            Effect.map(engine.inspect(releaseOf(tenant, params.timedReleaseId)), (inspection) =>
              publicView(PublicTimedRelease, inspection)
            )
          )
        ),
      enter: ({ params, payload }) =>
        orReleaseAnswer(
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId, isGuest }) => {
            const release = releaseOf(tenant, params.timedReleaseId)
            const entry = Effect.flatMap(selection(release, consumerId, payload?.variantId ?? undefined), (selected) =>
              change(release, { _tag: "Enter", consumerId, isGuest, ...selected })
            )
            return ifInvited(release, consumerId, entry)
          })
        ),
      leave: ({ params }) =>
        orReleaseAnswer(
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId, by }) =>
            change(releaseOf(tenant, params.timedReleaseId), { _tag: "Leave", consumerId, by })
          )
        ),
      status: ({ params }) =>
        orReleaseAnswer(
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId }) => {
            const release = releaseOf(tenant, params.timedReleaseId)
            return Effect.flatMap(engine.view(release, consumerId), (view) => sent(release, consumerId, view))
          })
        ),
      events: ({ params, headers }) => events(params.timedReleaseId, headers),
      deny: ({ params, payload: { consumerId, reason } }) =>
        onGrant({ mechanismId: params.timedReleaseId, consumerId }, (release, by) =>
          change(release, { _tag: "Deny", consumerId, reason, by })
        ),
      complete: ({ params, payload: { consumerId } }) =>
        onGrant({ mechanismId: params.timedReleaseId, consumerId }, (release, by) =>
          change(release, { _tag: "Complete", consumerId, by })
        ),
      validate: ({ params, payload }) =>
        onGrant({ mechanismId: params.timedReleaseId, consumerId: payload.consumerId }, (release) =>
          Effect.flatMap(engine.view(release, payload.consumerId), (view) =>
            grants.validate(release, payload, standingOf(view))
          )
        )
    })
  })
)

const orReleaseAnswer = orAnswer("timed_release")

const releaseOf = (tenant: Tenant, id: string): TimedReleaseRef => ({ kind: "timed_release", id, tenant })

/** The grant of a place: it was made with the entry. */
const grantOf = ({
  enteredAt,
  expiresAt,
  grantSequence
}: Extract<View, { readonly status: "ENTERED" }>): GrantAnswers.HeldGrant => ({
  grantSequence,
  grantedAt: enteredAt,
  ...(expiresAt !== undefined && { expiresAt })
})

/** What became of the consumer's grant, if it had one. */
function standingOf(view: View): GrantAnswers.GrantStatus {
  switch (view.status) {
    case "ENTERED":
      return grantOf(view)
    case "COMPLETED":
      return "completed"
    case "EXPIRED":
      return "expired"
    case "DENIED":
      return "denied"
    default:
      return "none"
  }
}
