/** Stocks behind pages, with the worker that carries their units. */
import { Effect, Layer, Schedule } from "effect"
import { randomUUID } from "node:crypto"
import * as StockTransfers from "../../../src/workers/StockTransfers.ts"
import { type Answer, layer as usher } from "../../http/support/usherFixture.ts"
import { brand } from "./roomFixture.ts"

/** Both APIs and the pages, and units that move. */
export const layer = StockTransfers.layer.pipe(Layer.provideMerge(usher))

/** A product with one counted size. */
export const counted = Effect.fnUntraced(function* (units: number) {
  const name = `Sneaker ${randomUUID().slice(0, 8)}`
  const sized = { options: [{ option: "Size", value: "42" }], inventoryPolicy: "deny", inventoryQuantity: units }
  const { id, variants } = yield* brand("POST", "/products", { name, variants: [{ ...sized, price: "129.00" }] })
  return { productId: id as string, name, variantId: variants[0].id as string }
})

/** A stock of one size. */
export const aStock = Effect.fnUntraced(function* (units: number, more: object = {}) {
  const { variantId } = yield* counted(units)
  const name = `Pairs ${randomUUID().slice(0, 8)}`
  const { id } = yield* brand("POST", "/stocks", { name, variantIds: [variantId], ...more })
  return { id: id as string, name, variantId, path: `/dashboard/stocks/${id}`, read: brand("GET", `/stocks/${id}`) }
})

/** Reads until it is so. */
export const until = <A, E, R>(read: Effect.Effect<A, E, R>, isSo: (read: A) => boolean) =>
  Effect.repeat(read, { until: isSo, schedule: Schedule.spaced("20 millis") })

/** The sum of all places of a stock's units. */
export const placesOf = ({ free, underway, sold, allocations }: any): number =>
  allocations.reduce((sum: number, { allocated }: any) => sum + allocated, free + underway + sold)

/** The values of the fields with this beginning, as a browser would send them. */
export const valuesIn = (page: Answer, beginning: string): { readonly [name: string]: string } => {
  const inputs = [...page.text.matchAll(/<input([^>]*)>/g)].map(([, attributes]) => [
    / name="([^"]*)"/.exec(attributes!)?.[1] ?? "",
    / value="([^"]*)"/.exec(attributes!)?.[1] ?? ""
  ])
  const selects = [...page.text.matchAll(/<select[^>]* name="([^"]+)"[^>]*>([^]*?)<\/select>/g)].map(
    ([, name, options]) => [name!, /value="([^"]*)"[^>]* selected/.exec(options!)?.[1] ?? ""]
  )
  return Object.fromEntries([...inputs, ...selects].filter(([name]) => name!.startsWith(beginning)))
}
