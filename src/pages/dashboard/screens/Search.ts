/** The search from the rail: drops, consumers, products, stocks and orders, each by the search of its list. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { isolated } from "../../../domain/values/Direction.ts"
import { searchLengthMin } from "../../../domain/values/Lists.ts"
import { type Html, html } from "../../Html.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { pathOf } from "../drop/Drop.ts"
import { nameOf } from "../Names.ts"
import { count } from "../Parts.ts"
import { get, type RouteRequest } from "../Route.ts"
import { stocksPath } from "../stocks/Words.ts"
import { instant, table, zonedInstant } from "../Table.ts"
import { orderTable } from "./Orders.ts"

/** Results of each section. The list of the section has the others. */
const resultsMax = 10

/** Characters that are searched for. */
const searchLengthMax = 200

/** The routes of the search. */
export const make = (api: AdminApiClient["Service"]) => {
  const sections = makeSections(api)
  return [
    get(
      "/search",
      Effect.fnUntraced(function* (operator: Operator, { query }: RouteRequest) {
        const sought = [...(query.get("search")?.trim() ?? "")].slice(0, searchLengthMax).join("")
        if ([...sought].length < searchLengthMin)
          return {
            title: "Search",
            body: html`<p class="lead">
              Nothing was searched for. Type at least ${searchLengthMin} characters of a name, a mail, a phone number or
              an order’s number.
            </p>`
          }
        return { title: `Results for “${isolated(sought, "")}”`, body: yield* sections(operator, sought) }
      })
    )
  ]
}

/** Makes the function that searches in every section. */
const makeSections = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator, search: string) {
    const query = { search, sortDir: "desc", first: `${resultsMax}` }
    const [drops, consumers, products, stocks, orders] = yield* Effect.all(
      [
        api.run(operator, "experiences", "listExperiences", { query }),
        api.run(operator, "consumers", "listConsumers", { query }),
        api.run(operator, "products", "listProducts", { query }),
        api.run(operator, "stocks", "listStocks", { query }),
        api.run(operator, "orders", "listOrders", { query })
      ],
      { concurrency: 4 }
    )
    const rest = (path: string, { data }: { readonly data: ReadonlyArray<unknown> }): Html | false =>
      data.length === resultsMax && html`<p><a href="${`${path}?${new URLSearchParams({ search })}`}">Show all</a></p>`
    return html`
      ${table(
        "Drops",
        drops.data,
        [
          { title: "Drop", cell: ({ id, name }) => html`<a href="${pathOf(id)}">${name}</a>` },
          { title: "Opens", cell: ({ openAt, timeZone }) => zonedInstant(openAt, timeZone) },
          { title: "Created", cell: ({ createdAt }) => instant(createdAt) }
        ],
        html`No drop has this name. <a href="/dashboard">Show all drops</a>`
      )}
      ${rest("/dashboard", drops)} ${consumersOf(consumers.data)} ${rest("/dashboard/consumers", consumers)}
      ${table(
        "Products",
        products.data,
        [
          { title: "Product", cell: ({ id, name }) => html`<a href="/dashboard/catalogue/${id}">${name}</a>` },
          { title: "Sizes", cell: ({ variants }) => variants.length },
          { title: "Created", cell: ({ createdAt }) => instant(createdAt) }
        ],
        html`No product has this name. <a href="/dashboard/catalogue">Show the catalogue</a>`
      )}
      ${rest("/dashboard/catalogue", products)}
      ${table(
        "Stocks",
        stocks.data,
        [
          { title: "Stock", cell: ({ id, name }) => html`<a href="${stocksPath}/${id}">${name}</a>` },
          { title: "On hand", cell: ({ onHand }) => count(onHand) }
        ],
        html`No stock has this name. <a href="${stocksPath}">Show all stocks</a>`
      )}
      ${rest(stocksPath, stocks)}
      ${orderTable(
        "Orders",
        orders.data,
        html`No order has this number. <a href="/dashboard/orders">Show all orders</a>`
      )}
      ${rest("/dashboard/orders", orders)}
    `
  })

type Consumers = AdminAnswer<"consumers", "listConsumers">["data"]

const consumersOf = (consumers: Consumers): Html =>
  table(
    "Consumers",
    consumers,
    [
      {
        title: "Consumer",
        cell: ({ id, ...known }) =>
          html`<a href="/dashboard/consumers/${id}">${nameOf({ ...known, consumerId: id })}</a>`
      },
      { title: "Mail", cell: ({ email }) => email ?? "–" },
      { title: "Phone", cell: ({ phone }) => phone ?? "–" },
      { title: "Orders", cell: ({ orderCount }) => orderCount }
    ],
    html`No consumer has this name, mail or phone. <a href="/dashboard/consumers">Show the audience</a>`
  )
