/** Orders on the Admin API, and grants that they complete. */
import { Effect } from "effect"
import { Engine } from "../../../../src/engine/Engine.ts"
import { aConsumer } from "../../../store/support/recordsFixture.ts"
import { Admin, aQueue, type Organization } from "../adminFixture.ts"

/** Creates a consumer of the organization. */
export const consumerOf = ({ tenant }: Organization) => Effect.orDie(aConsumer(tenant))

/** Creates an order, for a new consumer unless one is named. */
export const anOrder = Effect.fnUntraced(function* (
  body: { readonly [name: string]: unknown } = {},
  as?: Organization
) {
  const { call, brand } = yield* Admin
  const consumerId = body["consumerId"] ?? (yield* consumerOf(as ?? brand))
  const answer = yield* call("POST", "/orders", { ...body, consumerId }, as)
  if (answer.status !== 201) throw new Error(`no order: ${answer.status} ${answer.text}`)
  return answer.body
})

/** Creates a queue in which a consumer holds a grant. */
export const aGrant = Effect.gen(function* () {
  const { brand } = yield* Admin
  const engine = yield* Engine
  const { id, sequenceId, experienceId } = yield* aQueue()
  const consumerId = yield* consumerOf(brand)
  const queue = { kind: "queue", id, tenant: brand.tenant } as const
  yield* engine.send(queue, { _tag: "Enter", consumerId, isGuest: false, loyaltyScore: 0 })
  yield* engine.send(queue, { _tag: "Admit", consumerId, by: "admin" })
  const status = Effect.map(engine.view(queue, consumerId), (view) => view.status)
  return { queue, consumerId, distributionId: id, sequenceId, experienceId, status }
})

/** Returns the consumer's orders. */
export const ordersOf = Effect.fnUntraced(function* (consumerId: string) {
  const { call } = yield* Admin
  return (yield* call("GET", `/orders?consumerId=${consumerId}`)).body.data as ReadonlyArray<{ readonly id: string }>
})
