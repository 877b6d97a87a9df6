/** The handlers of timed releases on the Consumer API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { MechanismIdentity } from "../../../domain/mechanism/Mechanism.ts"
import { Engine } from "../../../engine/Engine.ts"
import { AssignedProducts } from "../../../store/experience/AssignedProducts.ts"
import { ShownProducts } from "../../../store/experience/ShownProducts.ts"
import { ConsumerApi } from "../../../api/consumer/ConsumerApi.ts"
import { makeGrantHandlers } from "../mechanism/GrantHandlers.ts"
import type { ToEntry } from "../mechanism/Handling.ts"
import { location } from "../../../api/consumer/TimedReleaseApi.ts"

/** The handlers of the group `timedReleases`. */
export const layer = HttpApiBuilder.group(ConsumerApi, "timedReleases", (handlers) =>
  Effect.gen(function* () {
    const engine = yield* Engine
    const assigned = yield* AssignedProducts
    const products = yield* ShownProducts
    const release = yield* makeGrantHandlers({
      kind: "timed_release",
      ...location,
      grantedAt: (view) => view.enteredAt,
      standing: (view) => view
    })

    /**
     * The consumer's selection, and whether it may select the variant. If the system has assigned a product to the
     * consumer, the variant must be one of that product; otherwise the experience must offer it.
     */
    const selection = Effect.fnUntraced(function* (identity: MechanismIdentity, consumerId: string, variantId: string) {
      const product = yield* assigned.of(identity, consumerId)
      if (product !== undefined) return { variantId, isUnassigned: !product.variantIds.has(variantId) }
      const offered = yield* products.variantIds(identity.organizationId, identity.experienceId)
      return { variantId, isNotOffered: !offered.has(variantId) }
    })

    return handlers.handleAll({
      ...release.reads,
      ...release.grantActions,
      enter: release.entry((ref, { consumerId, isGuest, risk }, { payload }: ToEnter, identity) => {
        const variantId = payload?.variantId ?? undefined
        if (variantId === undefined) return engine.send(ref, { _tag: "Enter", consumerId, isGuest, risk })
        return Effect.flatMap(selection(identity, consumerId, variantId), (selected) =>
          engine.send(ref, { _tag: "Enter", consumerId, isGuest, risk, ...selected })
        )
      }),
      leave: release.act(({ consumerId, by }) => ({ _tag: "Leave", consumerId, by }))
    })
  })
)

interface ToEnter extends ToEntry<"timedReleaseId"> {
  readonly payload: { readonly variantId?: string | null } | null
}
