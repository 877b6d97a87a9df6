/** The handlers of waitlists: each one expression around the engine. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { ConsumerCommand, MechanismRef } from "../../../domain/mechanism/Mechanism.ts"
import type { View } from "../../../domain/waitlist/Waitlist.ts"
import { Engine } from "../../../engine/Engine.ts"
import { CurrentConsumer, CurrentTenant } from "../../credentials/Credentials.ts"
import { orAnswer } from "../../errors/Refusals.ts"
import { ConsumerApi } from "../Api.ts"
import * as LiveUpdates from "../mechanism/LiveUpdates.ts"
import * as Protection from "../experience/Protection.ts"
import { publicView } from "../mechanism/PublicMechanism.ts"
import { PublicWaitlist, WaitlistState } from "./WaitlistApi.ts"

type WaitlistRef = MechanismRef<"waitlist">

/** The handlers of the group `waitlists`; needs the engine. */
export const layer = HttpApiBuilder.group(
  ConsumerApi,
  "waitlists",
  Effect.fnUntraced(function* (handlers) {
    const engine = yield* Engine
    const ifInvited = yield* Protection.make
    const events = (yield* LiveUpdates.make)("waitlist", WaitlistState, (waitlist, _, view) =>
      Effect.succeed(stateOf(waitlist, view))
    )

    /** Runs a consumer's command; answers its standing. */
    const change = (waitlist: WaitlistRef, command: ConsumerCommand<"waitlist">) =>
      Effect.map(engine.send(waitlist, command), (view) => stateOf(waitlist, view))

    const leave = (waitlistId: string) =>
      orWaitlistAnswer(
        Effect.flatMap(CurrentConsumer, ({ tenant, consumerId, by }) =>
          change(waitlistOf(tenant, waitlistId), { _tag: "Leave", consumerId, by })
        )
      )

    return handlers.handleAll({
      get: ({ params }) =>
        orWaitlistAnswer(
          Effect.flatMap(CurrentTenant, ({ tenant }) =>
            Effect.map(engine.inspect(waitlistOf(tenant, params.waitlistId)), (inspection) =>
              publicView(PublicWaitlist, inspection)
            )
          )
        ),
      enter: ({ params }) =>
        orWaitlistAnswer(
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId }) => {
            const waitlist = waitlistOf(tenant, params.waitlistId)
            return ifInvited(waitlist, consumerId, change(waitlist, { _tag: "Enter", consumerId }))
          })
        ),
      leave: ({ params }) => leave(params.waitlistId),
      leaveByDelete: ({ params }) => leave(params.waitlistId),
      status: ({ params }) =>
        orWaitlistAnswer(
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId }) => {
            const waitlist = waitlistOf(tenant, params.waitlistId)
            return Effect.map(engine.view(waitlist, consumerId), (view) => stateOf(waitlist, view))
          })
        ),
      events: ({ params, headers }) => events(params.waitlistId, headers)
    })
  })
)

const orWaitlistAnswer = orAnswer("waitlist")

const waitlistOf = (tenant: Tenant, id: string): WaitlistRef => ({ kind: "waitlist", id, tenant })

const stateOf = ({ id: waitlistId }: WaitlistRef, view: View): WaitlistState =>
  view.status === "ENTERED" || view.status === "NOTIFIED"
    ? { waitlistId, isEntered: true, enteredAt: view.enteredAt, position: view.position }
    : { waitlistId, isEntered: false, enteredAt: null, position: null }
