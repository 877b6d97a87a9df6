/** The handlers of timed releases: each one expression around the engine. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { Tenant } from "../../domain/Ids.ts"
import type { ConsumerCommand, MechanismRef } from "../../domain/Mechanism.ts"
import type { View } from "../../domain/TimedRelease.ts"
import { Engine, type EngineError } from "../../engine/Engine.ts"
import { AssignedProducts } from "../../store/AssignedProducts.ts"
import { CurrentConsumer, CurrentTenant } from "../Credentials.ts"
import { orAnswer } from "../Refusals.ts"
import { ConsumerApi } from "./Api.ts"
import * as GrantAnswers from "./GrantAnswers.ts"
import * as LiveUpdates from "./LiveUpdates.ts"
import * as Protection from "./Protection.ts"
import { publicView } from "./PublicMechanism.ts"
import { PublicTimedRelease, TimedReleaseState } from "./TimedReleaseApi.ts"

type TimedReleaseRef = MechanismRef<"timed_release">

/** The handlers of the group `timedReleases`; needs the engine, grants and the products that are picked. */
export const layer = HttpApiBuilder.group(
  ConsumerApi,
  "timedReleases",
  Effect.fnUntraced(function* (handlers) {
    const engine = yield* Engine
    const grants = yield* GrantAnswers.make
    const ifInvited = yield* Protection.make
    const assigned = yield* AssignedProducts

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

    /** What a consumer selects, and whether it is of another product than the one the system has picked for it. */
    const selection = Effect.fnUntraced(function* (release: TimedReleaseRef, consumerId: string, variantId?: string) {
      if (variantId === undefined) return {}
      const product = yield* assigned.of(yield* engine.identity(release), consumerId)
      return { variantId, isUnassigned: product !== undefined && !product.variantIds.has(variantId) }
    })

    /** Runs a consumer's command; answers its standing. */
    const change = (release: TimedReleaseRef, command: ConsumerCommand<"timed_release">) =>
      Effect.flatMap(engine.send(release, command), (view) => sent(release, command.consumerId, view))

    /** The same for an organization's server, which names the consumer. */
    const changeByServer = (id: string, command: ConsumerCommand<"timed_release">) =>
      orReleaseAnswer(Effect.flatMap(CurrentTenant, ({ tenant }) => change(releaseOf(tenant, id), command)))

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
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId }) =>
            change(releaseOf(tenant, params.timedReleaseId), { _tag: "Leave", consumerId })
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
      deny: ({ params, payload }) => changeByServer(params.timedReleaseId, { _tag: "Deny", ...payload }),
      complete: ({ params, payload }) => changeByServer(params.timedReleaseId, { _tag: "Complete", ...payload }),
      validate: ({ params, payload }) =>
        orReleaseAnswer(
          Effect.gen(function* () {
            const { tenant } = yield* CurrentTenant
            const release = releaseOf(tenant, params.timedReleaseId)
            const view = yield* engine.view(release, payload.consumerId)
            return yield* grants.validate(release, payload, standingOf(view))
          })
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
function standingOf(view: View): GrantAnswers.Standing {
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
