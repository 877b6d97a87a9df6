/** The handlers of waitlists on the Consumer API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { MechanismRef } from "../../../domain/mechanism/Mechanism.ts"
import type { View } from "../../../domain/waitlist/Waitlist.ts"
import { Engine } from "../../../engine/Engine.ts"
import { ConsumerApi } from "../../../api/consumer/ConsumerApi.ts"
import { location, type WaitlistState } from "../../../api/consumer/WaitlistApi.ts"
import { makeGrantHandlers } from "../mechanism/GrantHandlers.ts"

export const layer = HttpApiBuilder.group(ConsumerApi, "waitlists", (handlers) =>
  Effect.gen(function* () {
    const engine = yield* Engine
    const list = yield* makeGrantHandlers({
      kind: "waitlist",
      ...location,
      grantedAt: (view) => view.offeredAt,
      standing,
      held: ({ status, enteredAt, offeredAt, expiresAt, admissionGrant }, { id: waitlistId }) => ({
        waitlistId,
        isEntered: true,
        enteredAt,
        position: null,
        status,
        admissionGrant,
        offeredAt,
        ...(expiresAt !== undefined && { expiresAt })
      }),
      reasonsWithoutGrant: ["WAITLIST_CLOSED"]
    })
    const leave = list.act(({ consumerId, by }) => ({ _tag: "Leave", consumerId, by }))
    return handlers.handleAll({
      ...list.reads,
      ...list.grantActions,
      enter: list.entry((waitlist, { consumerId, isGuest, risk }) =>
        engine.send(waitlist, { _tag: "Enter", consumerId, isGuest, risk })
      ),
      leave,
      leaveByDelete: leave
    })
  })
)

/** The standing of a consumer that holds no offer. */
const standing = (
  view: Exclude<View, { readonly status: "OFFERED" }>,
  { id: waitlistId }: MechanismRef<"waitlist">
): WaitlistState => {
  const outside = { waitlistId, isEntered: false, enteredAt: null, position: null }
  switch (view.status) {
    case "ENTERED":
    case "NOTIFIED":
      return { waitlistId, isEntered: true, enteredAt: view.enteredAt, position: view.position }
    case "COMPLETED":
      return { ...outside, status: view.status, completedAt: view.completedAt }
    case "EXPIRED":
      return { ...outside, status: view.status, expiresAt: view.expiresAt }
    default:
      return outside
  }
}
