/** The sizes of which a stock can be made: those that no stock has. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { nameOfVariant } from "../catalogue/ProductScreen.ts"
import { count } from "../Parts.ts"

type Api = AdminApiClient["Service"]
type Variant = Pick<AdminAnswer<"variants", "getVariant">, "id" | "inventoryQuantity" | "options" | "sku">

interface Product {
  readonly name: string
  readonly variants: ReadonlyArray<Variant>
}

/** Products and stocks that are read. The newest are. */
const readMax = "100"

/** Sizes that a form offers. */
const sizesMax = 300

/** A size in a form. */
export interface Size {
  readonly id: string
  readonly label: string
  /** Units that the catalogue counts. */
  readonly units: number
}

/** The newest stocks. */
export const newestStocks = (api: Api, operator: Operator) =>
  Effect.map(
    api.run(operator, "stocks", "listStocks", { query: { first: readMax, sortDir: "desc" } }),
    ({ data }) => data
  )

/** Makes the function that returns the sizes of these products, or of the newest in the catalogue. */
export const makeSizes = (api: Api) =>
  Effect.fnUntraced(function* (operator: Operator, products?: ReadonlyArray<Product>) {
    const stocks = yield* newestStocks(api, operator)
    const taken = new Set(stocks.flatMap(({ variantIds }) => variantIds))
    const all =
      products ??
      (yield* api.run(operator, "products", "listProducts", { query: { first: readMax, sortDir: "desc" } })).data
    return all
      .flatMap(({ name, variants }) =>
        variants.flatMap((variant): ReadonlyArray<Size> => {
          const units = Math.max(0, variant.inventoryQuantity ?? 0)
          const label = `${name} · ${nameOfVariant(variant)} (${count(units)})`
          return taken.has(variant.id) ? [] : [{ id: variant.id, label, units }]
        })
      )
      .slice(0, sizesMax)
  })
