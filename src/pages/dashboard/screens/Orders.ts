/** Orders: the list, and one order. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { kindNames } from "../../../domain/mechanism/Mechanism.ts"
import { OrderStatus } from "../../../domain/consumer/Order.ts"
import { type Html, html, type Inserted } from "../../Html.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { makeNames } from "../Names.ts"
import { get, type RouteRequest } from "../Route.ts"
import { facts, filter, filters, instant, listQueryOf, pager, search, table } from "../Table.ts"

type Order = AdminAnswer<"orders", "getOrder">

const path = "/dashboard/orders"

/** The routes of orders. */
export const make = (api: AdminApiClient["Service"]) => [
  get("/orders", (operator, { query }) =>
    Effect.map(
      api.run(operator, "orders", "listOrders", {
        query: { sortDir: "desc", ...listQueryOf(query, ["search", "status"]) }
      }),
      (page) => ({
        title: "Orders",
        body: html`
          ${filters(
            path,
            html`${search("Number or external id", query)} ${filter("Status", "status", OrderStatus.literals, query)}`
          )}
          ${orderTable(
            "Orders, newest first",
            page.data,
            query.size > 0
              ? html`No matching orders. <a href="${path}">Show all</a>`
              : html`No orders yet. Your shop reports them with <code>POST /orders</code>, or a payment provider with a
                  receiver.`
          )}
          ${pager(page, path, query)}
        `
      })
    )
  ),
  get(
    "/orders/:id",
    Effect.fnUntraced(function* (operator: Operator, { params }: RouteRequest) {
      const order = yield* api.run(operator, "orders", "getOrder", { params: { id: params["id"]! } })
      const names = yield* makeNames(api)(operator, [order.consumerId])
      return {
        title: `Order ${order.number ?? order.externalId ?? order.id}`,
        body: orderOf(order, names.get(order.consumerId)!)
      }
    })
  )
]

/** A table of orders. */
export const orderTable = (caption: string, orders: ReadonlyArray<Order>, empty: Inserted): Html =>
  table<Order>(
    caption,
    orders,
    [
      {
        title: "Order",
        cell: ({ id, number, externalId }) => html`<a href="${path}/${id}">${number ?? externalId ?? id}</a>`
      },
      { title: "Status", cell: ({ status }) => status },
      { title: "Total", cell: ({ total, currencyCode }) => `${total} ${currencyCode}` },
      { title: "Placed", cell: ({ placedAt }) => instant(placedAt) },
      { title: "Attention", cell: ({ grantLapsed }) => grantLapsed && "Paid after the grant ended" }
    ],
    empty
  )

const orderOf = (order: Order, consumer: string): Html => html`
  <section class="card">
    ${facts([
      ["Id", order.id],
      ["External id", order.externalId],
      ["Status", order.status],
      ["Total", `${order.total} ${order.currencyCode}`],
      ["Consumer", html`<a href="/dashboard/consumers/${order.consumerId}">${consumer}</a>`],
      [
        "Experience",
        order.experienceId !== null &&
          html`<a href="/dashboard/experiences/${order.experienceId}">${order.experienceId}</a>`
      ],
      [
        "Completed",
        order.distributionType === null ? "–" : `A grant of a ${kindNames[order.distributionType].toLowerCase()}`
      ],
      ["Placed", instant(order.placedAt)],
      ["Paid", instant(order.paidAt)],
      ["Fulfilled", instant(order.fulfilledAt)],
      ["Cancelled", instant(order.cancelledAt)],
      ["Attention", order.grantLapsed && "It was paid after the grant had ended. Refund it, or fulfil it."]
    ])}
  </section>
  ${table<Order["items"][number]>(
    "Items",
    order.items,
    [
      { title: "Variant or product", cell: ({ productVariantId, productId }) => productVariantId ?? productId ?? "–" },
      { title: "Quantity", cell: ({ quantity }) => quantity },
      { title: "Unit price", cell: ({ unitPrice }) => `${unitPrice} ${order.currencyCode}` }
    ],
    "The shop listed no items."
  )}
`
