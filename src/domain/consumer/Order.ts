/** The order: a consumer's purchase, as reported by the organization's shop. */
import { Schema } from "effect"
import { orderableKinds, type OrderableKind } from "../mechanism/Mechanism.ts"
import { type Amount, amountMax, digitsOf, ofText, Price, toText } from "../values/Amount.ts"
import { Id } from "../values/Ids.ts"
import { recordSchema } from "../values/Record.ts"
import { CurrencyCode } from "../values/Locale.ts"
import { JsonObject, key, text } from "../values/Text.ts"
import { type Millis, Timestamp } from "../values/Time.ts"

/** Limit of items per order. */
export const itemsMax = 200

/** Limit of pieces per item. */
const quantityMax = 1_000_000

/** The status of an order. It advances from left to right. Every status but FULFILLED can change to CANCELLED. */
export const OrderStatus = Schema.Literals(["CREATED", "PAID", "FULFILLED", "CANCELLED"])
export type OrderStatus = typeof OrderStatus.Type

/** A line of an order. Products are not looked up: an order keeps its items when the catalogue changes. */
export const Item = Schema.Struct({
  productId: Schema.optionalKey(Schema.NullOr(Id)),
  productVariantId: Schema.optionalKey(Schema.NullOr(Id)),
  quantity: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: quantityMax })),
  unitPrice: Price
})
export type Item = typeof Item.Type

/** The fields an admin sets. */
export const Settings = Schema.Struct({
  /** The shop's own identifier, unique among the tenant's orders. */
  externalId: Schema.optionalKey(key({ minLength: 1, maxLength: 200 })),
  /** The order number that the shop shows to its customers. */
  number: Schema.optionalKey(text({ minLength: 1, maxLength: 200 })),
  status: OrderStatus,
  currencyCode: CurrencyCode,
  /** Absent: the sum of the items. */
  total: Schema.optionalKey(Price),
  items: Schema.Array(Item).check(Schema.isMaxLength(itemsMax)),
  metadata: Schema.optionalKey(JsonObject),
  /** When the consumer ordered. */
  placedAt: Timestamp
})
export type Settings = typeof Settings.Type

/** True if an order can complete an admission of this kind of mechanism. */
export const isOrderable = (kind: string): kind is OrderableKind =>
  (orderableKinds as ReadonlyArray<string>).includes(kind)

/** The consumer of an order, and the mechanism it comes from. Fixed at creation. */
export const originFields = {
  consumerId: Id,
  experienceId: Schema.NullOr(Id),
  sequenceId: Schema.NullOr(Id),
  distributionId: Schema.NullOr(Id),
  distributionType: Schema.NullOr(Schema.Literals(orderableKinds))
}

/** The order in responses. Unset fields are null. */
export const Order = recordSchema("Order", {
  ...originFields,
  externalId: Schema.NullOr(Schema.String),
  number: Schema.NullOr(Schema.String),
  status: OrderStatus,
  currencyCode: Schema.String,
  total: Price,
  items: Schema.Array(
    Schema.Struct({
      productId: Schema.NullOr(Id),
      productVariantId: Schema.NullOr(Id),
      quantity: Schema.Int,
      unitPrice: Price
    })
  ),
  metadata: Schema.NullOr(JsonObject),
  placedAt: Timestamp,
  /** When the order reached each status; null if it has not, or skipped it. */
  paidAt: Schema.NullOr(Timestamp),
  fulfilledAt: Schema.NullOr(Timestamp),
  cancelledAt: Schema.NullOr(Timestamp),
  grantLapsed: Schema.Boolean.annotate({
    description: "True if a receiver reported the payment after the grant had ended. A person has to decide."
  })
})
export type Order = typeof Order.Type

/** The fields that determine the total of an order. */
export interface Priced {
  readonly total?: Price | undefined
  readonly items: ReadonlyArray<Item>
}

/** Returns the sum of the items. */
const sumOf = (items: ReadonlyArray<Item>): Amount =>
  items.reduce((sum, { quantity, unitPrice }) => sum + BigInt(quantity) * ofText(unitPrice), 0n)

/**
 * Returns the given total, or else the sum of the items with as many digits after the point as their most precise
 * price. The two may differ because of discounts and fees.
 */
export const totalOf = ({ total, items }: Priced): Price =>
  total ?? toText(sumOf(items), Math.max(0, ...items.map(({ unitPrice }) => digitsOf(unitPrice))))

/** True if the sum of the items exceeds the largest amount. */
export const isBeyondAmounts = ({ total, items }: Priced): boolean => total === undefined && sumOf(items) > amountMax

const rank: { readonly [S in OrderStatus]: number } = { CREATED: 0, PAID: 1, FULFILLED: 2, CANCELLED: 3 }

/** True if the status may change: to itself, or to a later one. FULFILLED and CANCELLED are final. */
export const mayBecome = (from: OrderStatus, to: OrderStatus): boolean =>
  from === to || (from !== "FULFILLED" && rank[from] < rank[to])

/** When an order reached each status that it can change to. */
export interface Moments {
  readonly paidAt: Millis | null
  readonly fulfilledAt: Millis | null
  readonly cancelledAt: Millis | null
}

/** Returns the times after the change to a status. A status reached before keeps its time. */
export const momentsAt = (moments: Moments, status: OrderStatus, at: Millis): Moments => ({
  paidAt: status === "PAID" ? (moments.paidAt ?? at) : moments.paidAt,
  fulfilledAt: status === "FULFILLED" ? (moments.fulfilledAt ?? at) : moments.fulfilledAt,
  cancelledAt: status === "CANCELLED" ? (moments.cancelledAt ?? at) : moments.cancelledAt
})

/** How the list of orders can be sorted. The first is the default. */
export const orderSorts = ["createdAt", "updatedAt", "total"] as const
