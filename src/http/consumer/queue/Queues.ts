/** The handlers of queues on the Consumer API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Engine } from "../../../engine/Engine.ts"
import * as Admissions from "../../../engine/lifecycle/Admissions.ts"
import { CurrentTenant } from "../../../api/Credentials.ts"
import { ConsumerApi } from "../../../api/consumer/ConsumerApi.ts"
import { makeGrantHandlers } from "../mechanism/GrantHandlers.ts"
import { location } from "../../../api/consumer/QueueApi.ts"
import * as Passes from "./Passes.ts"
import * as Renewals from "./Renewals.ts"

export const layer = HttpApiBuilder.group(ConsumerApi, "queues", (handlers) =>
  Effect.gen(function* () {
    const engine = yield* Engine
    const admitNext = yield* Admissions.make
    const queue = yield* makeGrantHandlers({
      kind: "queue",
      ...location,
      grantedAt: (view) => view.grantedAt,
      standing: (view) => view
    })

    const enter = queue.loyalEntry((ref, { consumerId, isGuest, risk }, _, loyaltyScore) =>
      engine.send(ref, { _tag: "Enter", consumerId, isGuest, loyaltyScore, risk })
    )

    const admitByCount = (request: { readonly params: { readonly queueId: string } }, count: number) =>
      queue.orHttpAnswer(
        Effect.flatMap(CurrentTenant, ({ tenant, by }) =>
          Effect.map(admitNext(queue.refOf(tenant, request), count, { by }), (consumerIds) => ({
            admitted: consumerIds.length,
            consumerIds
          }))
        )
      )

    return handlers.handleAll({
      ...queue.reads,
      ...queue.grantActions,
      enter,
      pass: yield* Passes.make(enter),
      renew: yield* Renewals.make,
      leave: queue.act(({ consumerId, by }) => ({ _tag: "Leave", consumerId, by })),
      admit: ({ params, payload: { consumerId, count } }) =>
        typeof count === "number"
          ? admitByCount({ params }, count)
          : queue.onPlace({ mechanismId: params.queueId, consumerId }, (ref, by) =>
              queue.change(ref, { _tag: "Admit", consumerId, by })
            )
    })
  })
)
