/** Orders on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Id } from "../../domain/values/Ids.ts"
import { Order, OrderStatus, Settings, orderSorts } from "../../domain/consumer/Order.ts"
import { Conflict, NotFound, StockConflict } from "../Errors.ts"
import { listAnnotations, listQuery, pageOf, searchQuery } from "./Lists.ts"
import { changeFields, createFields } from "./Payloads.ts"
import { operationsOn } from "./RecordApi.ts"

const described = (description: string) => Id.pipe(Schema.annotateEncoded({ description }))

const reference = (description: string) => Schema.optionalKey(Schema.NullOr(described(description)))

/** The body of `POST /orders`. */
export const CreateOrder = Schema.Struct({
  consumerId: Id,
  experienceId: reference("Taken from the sequence, if the order names one."),
  sequenceId: reference("Taken from the distribution, if the order names one."),
  distributionId: reference(
    "The mechanism that allowed the order. The consumer's grant or booking there is completed."
  ),
  ...createFields(Settings.fields, [])
}).annotate({ identifier: "CreateOrder" })

/** The body of `PUT /orders/{id}`. */
export const ChangeOrder = Schema.Struct({
  ...changeFields(Settings.fields, ["status", "currencyCode", "placedAt"])
}).annotate({ identifier: "ChangeOrder" })

const only = (what: string) => Schema.optionalKey(described(`Only those of this ${what}.`))

const { create, get, change } = operationsOn(Order, { name: "Order", aNoun: "an order", path: "orders" })

export class OrderApi extends HttpApiGroup.make("orders")
  .add(
    create({
      payload: CreateOrder,
      error: [Conflict, StockConflict],
      description:
        "Defaults: `status` is `CREATED`, `placedAt` is now, `currencyCode` is the experience's or else the " +
        "organization's, and `items` is empty. `total` defaults to the exact sum of the items, with as many decimal " +
        "places as the longest price. A different `total` is accepted, because there are discounts and fees. It is in " +
        "whole minor units of the currency by ISO 4217 (else a 400). Prices are kept as they were written. Products are not looked up: an item may name any.\n\nStock: items that name a variant " +
        "of this organization count its `inventoryQuantity` down, unless its `inventoryPolicy` is `untracked`. Archived " +
        "variants are counted too. With `deny` the count never falls below zero. If too little is left for one item, the " +
        "whole order is refused (409 `OUT_OF_STOCK` with the `productVariantId` and the units `available`). Then nothing " +
        "is counted and no grant is completed.\n\nGrants: an order that names a distribution completes the consumer's " +
        "grant or booking there, unless it is created as `CANCELLED`. If the consumer holds neither, the order is " +
        "refused (409 `INVALID_STATUS`), not written and not counted. After an error the same request can be repeated, " +
        "because completing is idempotent. A grant has at most one order that is not cancelled (409 `GRANT_HAS_ORDER`); " +
        "a booking may have several.\n\nAn `externalId` that another order has is refused (409 `EXTERNAL_ID_TAKEN`), so a " +
        "repeated order is written once. If the first order completed a grant of the same consumer, the response is that " +
        "first order.\n\nOrders that are not cancelled count in the consumer's `orderCount`, `totalOrderValues` (one sum " +
        "for each currency), `totalOrderValue` (the sum in the organization's currency) and `lastOrderAt`. They also " +
        "count toward the sequence's `orderLimitPerConsumer`."
    }),
    HttpApiEndpoint.get("listOrders", "/orders", {
      query: {
        ...listQuery(orderSorts),
        ...searchQuery("the external id and the number"),
        status: Schema.optionalKey(OrderStatus.annotate({ description: "Only those in this status." })),
        consumerId: only("consumer"),
        experienceId: only("experience"),
        distributionId: only("distribution")
      },
      success: pageOf(Order).annotate({ identifier: "OrderPage" })
    }).annotateMerge(
      listAnnotations({
        summary: "List orders",
        description: "With a sort by `total`, amounts are compared as numbers, whatever their currency."
      })
    ),
    get(),
    change({
      payload: ChangeOrder,
      error: [NotFound, Conflict, StockConflict],
      description:
        "Send only the fields to change. An absent field keeps its value; null resets an optional one to its default. A " +
        "`total` that was never set follows the items.\n\n`status` goes from `CREATED` over `PAID` to `FULFILLED`, and may " +
        "skip a step. Any status but `FULFILLED` can become `CANCELLED`. Every other change is refused (409 " +
        "`ORDER_STATUS`). The consumer and the origin of the order cannot be changed. A completed grant stays completed, " +
        "even if the order is cancelled.\n\nA change of the items counts the difference in the variants' stock. It is " +
        "refused as a whole where too little is left (409 `OUT_OF_STOCK`). An order that becomes `CANCELLED` returns its " +
        "units once, whatever the variants' policies are now. Units that the order did not count are not returned."
    })
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Orders",
      description: "Orders of consumers. An order that names a mechanism completes the consumer's grant there."
    })
  ) {}
