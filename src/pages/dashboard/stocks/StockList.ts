/** The list of stocks, each with its units. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { mayDo } from "../../../domain/organization/Person.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { html, type Html } from "../../Html.ts"
import { count, counted, linkButton } from "../Parts.ts"
import type { RouteRequest } from "../Route.ts"
import { filters, listQueryOf, pager, search, table } from "../Table.ts"
import { levelBadge, stocksPath } from "./Words.ts"

type Listed = AdminAnswer<"stocks", "listStocks">["data"][number]

export const makeShowAll = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator, { query }: RouteRequest) {
    const page = yield* api.run(operator, "stocks", "listStocks", {
      query: { sortDir: "desc", ...listQueryOf(query, ["search"]) }
    })
    const mayChange = mayDo(operator.role, "operator")
    return {
      title: "Stocks",
      ...(mayChange && { links: linkButton(`${stocksPath}/new`, "New stock", "primary") }),
      body: html`
        <p class="muted">
          A stock has the units of some sizes, and gives them to the mechanisms of its list in their order. So each unit
          is in one place, and what one does not sell goes to the next.
        </p>
        ${filters(stocksPath, search("Name", query))}
        ${table<Listed>(
          "Stocks, newest first",
          page.data,
          [
            { title: "Stock", cell: ({ id, name }) => html`<a href="${stocksPath}/${id}">${name}</a>` },
            { title: "Level", cell: ({ level }) => levelBadge(level) },
            { title: "On hand", cell: ({ onHand }) => count(onHand) },
            { title: "Sizes", cell: ({ variantIds }) => count(variantIds.length) },
            { title: "Gives to", cell: ({ takers }) => counted(takers.length, "mechanism", "mechanisms") }
          ],
          query.has("search")
            ? html`No stock has this name. <a href="${stocksPath}">Show all</a>`
            : emptyText(mayChange)
        )}
        ${pager(page, stocksPath, query)}
      `
    }
  })

const emptyText = (mayChange: boolean): Html =>
  mayChange
    ? html`No stock yet. <a href="${stocksPath}/new">Make a stock</a>, or begin a
        <a href="/dashboard/new?then=stock">drop that sells from one</a>.`
    : html`No stock yet. An operator can make one.`
