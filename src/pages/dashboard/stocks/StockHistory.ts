/** The history of a stock in words, newest first: each transfer, correction and order. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { isolated } from "../../../domain/values/Direction.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import { html, type Html } from "../../Html.ts"
import { makeMechanisms, type NamedMechanisms } from "../NamedMechanisms.ts"
import { get, type Route } from "../Route.ts"
import { makeAuthorNames } from "../screens/People.ts"
import { instant, listQueryOf, pager, table } from "../Table.ts"
import { eventText, type StockEvent, stocksPath } from "./Words.ts"

type Api = AdminApiClient["Service"]

/** The page of a history, with the names of the mechanisms and authors in it. */
export interface Names {
  readonly mechanisms: NamedMechanisms
  readonly author: (by: unknown) => string
}

/** Makes the function that reads a page of a stock's history. */
export const makeEvents = (api: Api) => {
  const mechanisms = makeMechanisms(api)
  const authors = makeAuthorNames(api)
  return Effect.fnUntraced(function* (operator: Operator, id: string, query: { readonly [name: string]: string }) {
    const page = yield* api.run(operator, "stocks", "listStockHistory", {
      params: { id },
      query: { sortDir: "desc", ...query }
    })
    const ids = page.data.flatMap(({ data: { distributionId } }) =>
      typeof distributionId === "string" ? [distributionId] : []
    )
    const names: Names = { mechanisms: yield* mechanisms(operator, ids), author: yield* authors(operator) }
    return { ...page, names }
  })
}

/** The events. */
export const eventList = (events: ReadonlyArray<StockEvent>, { mechanisms, author }: Names): Html =>
  table<StockEvent>(
    "Events, newest first",
    events,
    [
      { title: "What happened", cell: (event) => eventText(event, mechanisms) },
      { title: "When", cell: ({ at }) => instant(at) },
      { title: "By", cell: ({ data: { by } }) => (by === undefined ? "–" : author(by)) }
    ],
    "Nothing has happened yet. Events appear here when units move."
  )

/** The routes of the whole history. */
export const make = (api: Api): ReadonlyArray<Route> => {
  const eventsOf = makeEvents(api)
  return [
    get(
      "/stocks/:id/history",
      Effect.fnUntraced(function* (operator, { params, query }) {
        const id = params["id"]!
        const { name } = yield* api.run(operator, "stocks", "getStock", { params: { id } })
        const page = yield* eventsOf(operator, id, listQueryOf(query))
        const path = `${stocksPath}/${id}`
        return {
          title: `History of ${isolated(name, "")}`,
          body: html`
            <p><a href="${path}">Back to the stock</a>. Every event is kept permanently.</p>
            ${eventList(page.data, page.names)} ${pager(page, `${path}/history`, query)}
          `
        }
      })
    )
  ]
}
