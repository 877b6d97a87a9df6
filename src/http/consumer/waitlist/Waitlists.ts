/** The handlers of waitlists on the Consumer API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { MechanismRef } from "../../../domain/mechanism/Mechanism.ts"
import type { View } from "../../../domain/waitlist/Waitlist.ts"
import { Engine } from "../../../engine/Engine.ts"
import { ConsumerApi } from "../../../api/consumer/ConsumerApi.ts"
import { makeHandlers } from "../mechanism/MechanismHandlers.ts"
import { PublicWaitlist, WaitlistState } from "../../../api/consumer/WaitlistApi.ts"

export const layer = HttpApiBuilder.group(ConsumerApi, "waitlists", (handlers) =>
  Effect.gen(function* () {
    const engine = yield* Engine
    const { reads, act, entry } = yield* makeHandlers(
      { kind: "waitlist", param: "waitlistId", Public: PublicWaitlist, State: WaitlistState },
      (waitlist, _, view) => Effect.succeed(stateOf(waitlist, view))
    )
    const leave = act(({ consumerId, by }) => ({ _tag: "Leave", consumerId, by }))

    return handlers.handleAll({
      ...reads,
      enter: entry((waitlist, { consumerId, isGuest, risk }) =>
        engine.send(waitlist, { _tag: "Enter", consumerId, isGuest, risk })
      ),
      leave,
      leaveByDelete: leave
    })
  })
)

const stateOf = ({ id: waitlistId }: MechanismRef<"waitlist">, view: View): WaitlistState =>
  view.status === "ENTERED" || view.status === "NOTIFIED"
    ? { waitlistId, isEntered: true, enteredAt: view.enteredAt, position: view.position }
    : { waitlistId, isEntered: false, enteredAt: null, position: null }
