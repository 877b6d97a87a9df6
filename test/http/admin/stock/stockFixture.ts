/** Stocks on the Admin API, with the workers that carry units and tell stocks of orders. */
import { Effect, Layer, Schedule } from "effect"
import { StockMessages } from "../../../../src/store/stock/StockMessages.ts"
import { Stocks } from "../../../../src/store/stock/Stocks.ts"
import * as StockRecords from "../../../../src/workers/StockRecords.ts"
import * as StockTransfers from "../../../../src/workers/StockTransfers.ts"
import { Admin, aSequence, layer as admin, type Organization } from "../adminFixture.ts"
import { aProduct, aVariant } from "../catalogue/catalogueFixture.ts"

export const layer = Layer.mergeAll(StockTransfers.layer, StockRecords.layer).pipe(
  Layer.provide(Layer.merge(StockMessages.layer, Stocks.layer)),
  Layer.provideMerge(admin)
)

/** Creates a variant with so many units. */
export const variantOf = Effect.fnUntraced(function* (inventoryQuantity: number, as?: Organization) {
  const { id: productId } = yield* aProduct({}, as)
  const { id } = yield* aVariant({ productId, inventoryPolicy: "deny", inventoryQuantity }, as)
  return id as string
})

/** Creates a stock of a new variant with so many units. */
export const stockOf = Effect.fnUntraced(function* (
  units: number,
  body: { readonly [name: string]: unknown } = {},
  as?: Organization
) {
  const { call } = yield* Admin
  const variantId = yield* variantOf(units, as)
  const answer = yield* call("POST", "/stocks", { name: "Pairs", variantIds: [variantId], ...body }, as)
  if (answer.status !== 201) throw new Error(`no stock: ${answer.status} ${answer.text}`)
  const id = answer.body.id as string
  const read = Effect.map(call("GET", `/stocks/${id}`, undefined, as), ({ body }) => body)
  return {
    id,
    variantId,
    read,
    items: (quantity: number) => [{ productVariantId: variantId, quantity, unitPrice: "9" }]
  }
})

/** Creates a mechanism that sells from the stock, in a sequence of its own unless one is named. */
export const sellingFrom = Effect.fnUntraced(function* (
  stockId: string,
  path: string,
  body: { readonly [name: string]: unknown },
  as?: Organization
) {
  const { call } = yield* Admin
  const { id: sequenceId } = yield* aSequence({}, as)
  const answer = yield* call("POST", path, { name: "Sale", sequenceId, stockId, ...body }, as)
  if (answer.status !== 201) throw new Error(`no mechanism: ${answer.status} ${answer.text}`)
  return answer.body.id as string
})

/** Reads until the answer fits. */
export const until = <A, E, R>(read: Effect.Effect<A, E, R>, fits: (answer: A) => boolean) =>
  Effect.flatMap(read, (answer) => (fits(answer) ? Effect.succeed(answer) : Effect.fail("not yet" as const))).pipe(
    Effect.retry({ while: (error) => error === "not yet", schedule: Schedule.spaced(50), times: 1_200 })
  )
