/** The lists of stocks. */
import { Effect } from "effect"
import type { Organization } from "../adminFixture.ts"
import { type MakeList, name, records, request, sorted } from "./listRows.ts"

/** Creates a stock of a new variant. */
const aStock = Effect.fnUntraced(function* (as: Organization, n: number) {
  const { id: productId } = yield* request(as, "POST", "/products", { name: name(n) })
  const { id } = yield* request(as, "POST", "/variants", { productId })
  return yield* request(as, "POST", "/stocks", { name: name(n), variantIds: [id] })
})

export const stocks: MakeList = (as) =>
  Effect.map(records("/stocks", sorted, () => ({}))(as), (list) => ({ ...list, make: (n) => aStock(as, n) }))

/** The recorded events of a stock: one for its creation, and one for each adjustment. */
export const stockHistory: MakeList = (as) =>
  Effect.map(aStock(as, 0), ({ id }) => ({
    path: `/stocks/${id}/history`,
    sorts: { sequence: ({ sequence }) => sequence },
    idOf: ({ sequence }) => sequence,
    filter: "type=Adjusted",
    make: () => request(as, "POST", `/stocks/${id}/adjust`, { by: 1, reason: "DELIVERED" })
  }))
