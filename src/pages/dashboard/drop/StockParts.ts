/** The stocks from which a drop sells, each as a part of the tab Now that the script replaces. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import { html, type Html } from "../../Html.ts"
import { makeMechanisms } from "../NamedMechanisms.ts"
import { count } from "../Parts.ts"
import { stockIdOf } from "../stocks/Naming.ts"
import { allocationTable, stockBar } from "../stocks/StockBar.ts"
import { levelBadge, stocksPath } from "../stocks/Words.ts"
import type { Mechanism } from "./Drop.ts"

/** Makes the function that writes the stocks of mechanisms. One that does not answer is left out. */
export const makeStockParts = (api: AdminApiClient["Service"]) => {
  const named = makeMechanisms(api)
  const partOf = Effect.fnUntraced(function* (operator: Operator, id: string) {
    const stock = yield* api.run(operator, "stocks", "getStock", { params: { id } })
    const names = yield* named(
      operator,
      stock.allocations.map(({ distributionId }) => distributionId)
    )
    return html`<section class="card stock" data-part="stock-${id}">
      <h2>
        <a href="${stocksPath}/${id}"><bdi>${stock.name}</bdi></a> <small>${count(stock.onHand)} units on hand</small>
        ${levelBadge(stock.level)}
      </h2>
      ${stockBar(stock)} ${allocationTable(stock, names)}
    </section>`
  })
  return (operator: Operator, mechanisms: ReadonlyArray<Mechanism>) =>
    Effect.forEach(new Set(mechanisms.flatMap((one) => stockIdOf(one) ?? [])), (id) =>
      Effect.catchTag(partOf(operator, id), "Refusal", () => Effect.succeed<Html | false>(false))
    )
}
