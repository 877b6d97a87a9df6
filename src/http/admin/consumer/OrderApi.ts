/** Orders on the Admin API: the declaration (completions 4, "Orders"). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Id } from "../../../domain/values/Ids.ts"
import { Order, OrderStatus, Settings } from "../../../domain/consumer/Order.ts"
import * as Orders from "../../../store/consumer/Orders.ts"
import { Conflict, NotFound, StockConflict } from "../../errors/Errors.ts"
import { listAnnotations, listQuery, pageOf, searchQuery } from "../records/Lists.ts"
import { changeFields, createFields } from "../records/Payloads.ts"
import { operationsOn } from "../records/RecordApi.ts"

const described = (description: string) => Id.pipe(Schema.annotateEncoded({ description }))

const reference = (description: string) => Schema.optionalKey(Schema.NullOr(described(description)))

/** The body of `POST /orders`. */
export const CreateOrder = Schema.Struct({
  consumerId: Id,
  experienceId: reference("Follows from the sequence, if one is named."),
  sequenceId: reference("Follows from the distribution, if one is named."),
  distributionId: reference("The mechanism that let the consumer order: its grant, or its booking, is completed."),
  ...createFields(Settings.fields, [])
}).annotate({ identifier: "CreateOrder" })

/** The body of `PUT /orders/{id}`. */
export const ChangeOrder = Schema.Struct({
  ...changeFields(Settings.fields, ["status", "currencyCode", "placedAt"])
}).annotate({ identifier: "ChangeOrder" })

const only = (what: string) => Schema.optionalKey(described(`Only those of this ${what}.`))

const { create, get, change } = operationsOn({ name: "Order", aNoun: "an order", path: "orders", record: Order })

export class OrderApi extends HttpApiGroup.make("orders")
  .add(
    create({
      payload: CreateOrder,
      error: [Conflict, StockConflict],
      description:
        "`status` defaults to `CREATED`, `placedAt` to now, `currencyCode` to the experience's or else the organization's, `items` to none, and `total` to the exact sum of the items, with as many digits after the point as the longest of their prices has; a `total` that differs from it is taken as it is, since there are discounts and fees. Prices stay as they were written. Products are not looked up: an item may name any. " +
        "Items that name a variant of this organization count its `inventoryQuantity` down, unless its `inventoryPolicy` is `untracked`. By `deny` it never falls below zero: where too little is left for one item the whole order is refused (409 `OUT_OF_STOCK` with the `productVariantId` and how many units are `available`), nothing is counted, and no grant is completed. An archived variant is counted as well. " +
        "An order that names a distribution completes the consumer's grant there, or its booking, unless it is created as `CANCELLED`; if the consumer holds none it is refused (409 `INVALID_STATUS`), not written and not counted. Completing is idempotent: after an error the same request can be sent again. One grant has one order that is not cancelled (409 `GRANT_HAS_ORDER`); a booking may have several. " +
        "An `externalId` that another order has is refused (409 `EXTERNAL_ID_TAKEN`): with it, an order that is sent twice is written once, and where it completed a grant of the same consumer the first order is the answer again. Orders that are not cancelled count in the consumer's `orderCount`, `totalOrderValues` (a sum for each currency), `totalOrderValue` (the sum in the organization's currency) and `lastOrderAt`, and toward the sequence's `orderLimitPerConsumer`."
    }),
    HttpApiEndpoint.get("listOrders", "/orders", {
      query: {
        ...listQuery(Orders.shape),
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
        description: "Sorted by `total`, amounts are compared as numbers, whatever their currency."
      })
    ),
    get(),
    change({
      payload: ChangeOrder,
      error: [NotFound, Conflict, StockConflict],
      description:
        "Send the fields to change: one that is absent keeps its value, null takes an optional one back to its default; a `total` that was never set follows the items. `status` goes from `CREATED` over `PAID` to `FULFILLED`, and may skip; any but `FULFILLED` can become `CANCELLED`; anything else is refused (409 `ORDER_STATUS`). The consumer and where the order comes from stay as they are, and a grant that was completed stays so, also if the order is cancelled. " +
        "A change of the items counts the difference in the stock of the variants, and is refused as a whole where too little is left (409 `OUT_OF_STOCK`). An order that becomes `CANCELLED` gives the units back that it took, once, whatever the variants' policies have become; units that were not counted when they were ordered are not given back."
    })
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Orders",
      description: "What consumers have ordered. An order that names a mechanism completes the grant it was made with."
    })
  ) {}
