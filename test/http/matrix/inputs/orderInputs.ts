/** Inputs of the operations on orders and analytics. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { MakeInput, Name } from "../inputs.ts"
import { byServer, type Side, type World } from "../world.ts"

const ordered = ({ consumerId, ...side }: Side) =>
  Effect.map(byServer("admin", side, "/orders", { consumerId }), ({ id }) => id as string)

/** The same record of each tenant. */
const named = (key: "consumerId" | "sequenceId" | "queueId" | "experienceId", { sides }: World): Name => ({
  own: sides.own[key],
  others: [sides.test[key], sides.foreign[key]],
  unknown: randomUUID()
})

/** Creates an order in each tenant. The request is about the own one. */
const onOrder =
  (body?: object): MakeInput =>
  (own, { sides }) =>
    Effect.gen(function* () {
      const id = yield* ordered(own)
      const others = [yield* ordered(sides.test), yield* ordered(sides.foreign)]
      const names = [{ own: id, others, unknown: randomUUID() }]
      return { params: { id }, names, status: 200, ...(body && { body }) }
    })

/** The inputs, by operation. */
export const orderInputs: { readonly [operation: string]: MakeInput } = {
  "POST /api/orders": ({ consumerId, sequenceId }, world) =>
    Effect.succeed({
      body: { consumerId, sequenceId },
      status: 201,
      strangerStatus: 400,
      isEchoed: true,
      names: [named("consumerId", world), named("sequenceId", world)]
    }),
  "GET /api/orders": (own, world) =>
    Effect.map(ordered(own), (id) => ({
      query: `consumerId=${own.consumerId}&experienceId=${own.experienceId}&distributionId=${own.queueId}`,
      status: 200,
      strangerStatus: 200,
      names: [named("consumerId", world), named("experienceId", world), named("queueId", world)],
      secrets: [id]
    })),
  "GET /api/orders/:id": onOrder(),
  "PUT /api/orders/:id": onOrder({ status: "PAID" }),
  "POST /api/analytics/query": ({ queueId, sequenceId }, world) => {
    const today = new Date().toISOString().slice(0, 10)
    return Effect.succeed({
      body: {
        interval: "1d",
        timeRange: `${today}T00:00:00Z/${today}T23:59:00Z`,
        measures: [{ name: "made", event: "queue_configured", op: "count", unit: "queues" }],
        where: { distributionId: queueId, sequenceId }
      },
      status: 200,
      strangerStatus: 200,
      names: [named("queueId", world), named("sequenceId", world)],
      secrets: ['"made":1']
    })
  }
}
