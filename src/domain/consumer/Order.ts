/**
 * The order: what a consumer bought, as the organization's shop tells it (completions 1 and 4, "Orders").
 */
import { Schema } from "effect"
import { type Amount, amountMax, digitsOf, ofText, Price, toText } from "../values/Amount.ts"
import { stampFields } from "../experience/Experience.ts"
import { Id } from "../values/Ids.ts"
import { CurrencyCode } from "../values/Locale.ts"
import { JsonObject, text } from "../values/Text.ts"
import { type Millis, Timestamp } from "../values/Time.ts"

/** Items of one order at most. */
export const itemsMax = 200

/** Pieces of one item at most. */
const quantityMax = 1_000_000

/** Where an order stands. It goes from left to right; every status but FULFILLED can also end as CANCELLED. */
export const OrderStatus = Schema.Literals(["CREATED", "PAID", "FULFILLED", "CANCELLED"])
export type OrderStatus = typeof OrderStatus.Type

/** A line of an order. Products are not looked up: an order keeps what was sold, whatever becomes of the catalogue. */
export const Item = Schema.Struct({
  productId: Schema.optionalKey(Schema.NullOr(Id)),
  productVariantId: Schema.optionalKey(Schema.NullOr(Id)),
  quantity: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: quantityMax })),
  unitPrice: Price
})
export type Item = typeof Item.Type

/** A name that a shop gives to an order. */
const ShopText = text({ minLength: 1, maxLength: 200 })

/** What an admin sets. */
export const Settings = Schema.Struct({
  /** The shop's own identifier; no two orders of a tenant have the same. */
  externalId: Schema.optionalKey(ShopText),
  /** What the shop and its customers call the order. */
  number: Schema.optionalKey(ShopText),
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

/** The kinds of mechanism that end with an order; a waitlist has nothing to complete. */
export const orderableKinds = ["queue", "draw", "auction", "appointment", "timed_release"] as const
export type OrderableKind = (typeof orderableKinds)[number]

/** True if an order can complete what a mechanism of this kind has given. */
export const isOrderable = (kind: string): kind is OrderableKind =>
  (orderableKinds as ReadonlyArray<string>).includes(kind)

/** What an order is for, and where it comes from; fixed with its creation. */
export const originFields = {
  consumerId: Id,
  experienceId: Schema.NullOr(Id),
  sequenceId: Schema.NullOr(Id),
  distributionId: Schema.NullOr(Id),
  distributionType: Schema.NullOr(Schema.Literals(orderableKinds))
}

/** The order as it goes out; what is not set is null. */
export const Order = Schema.Struct({
  id: Id,
  organizationId: Id,
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
  /** When it became each; null where it has not, or went past it. */
  paidAt: Schema.NullOr(Timestamp),
  fulfilledAt: Schema.NullOr(Timestamp),
  cancelledAt: Schema.NullOr(Timestamp),
  ...stampFields
}).annotate({ identifier: "Order" })
export type Order = typeof Order.Type

/** What decides what an order costs. */
export interface Priced {
  readonly total?: Price | undefined
  readonly items: ReadonlyArray<Item>
}

/** What the items cost together. */
const sumOf = (items: ReadonlyArray<Item>): Amount =>
  items.reduce((sum, { quantity, unitPrice }) => sum + BigInt(quantity) * ofText(unitPrice), 0n)

/**
 * What the order costs: what was said, or else the sum of its items, with as many digits after the point as the longest
 * of their prices has. Both may differ, as there are discounts and fees.
 */
export const totalOf = ({ total, items }: Priced): Price =>
  total ?? toText(sumOf(items), Math.max(0, ...items.map(({ unitPrice }) => digitsOf(unitPrice))))

/** True if there is no amount for what the order costs. */
export const isBeyondAmounts = ({ total, items }: Priced): boolean => total === undefined && sumOf(items) > amountMax

const rank: { readonly [S in OrderStatus]: number } = { CREATED: 0, PAID: 1, FULFILLED: 2, CANCELLED: 3 }

/** True if an order of one status may get the other: the same, or one further on. FULFILLED and CANCELLED are final. */
export const mayBecome = (from: OrderStatus, to: OrderStatus): boolean =>
  from === to || (from !== "FULFILLED" && rank[from] < rank[to])

/** When an order became each status it can become. */
export interface Moments {
  readonly paidAt: Millis | null
  readonly fulfilledAt: Millis | null
  readonly cancelledAt: Millis | null
}

/** The moments once the order has this status: a status that it had already, or that it went past, is not entered again. */
export const momentsAt = (moments: Moments, status: OrderStatus, at: Millis): Moments => ({
  paidAt: status === "PAID" ? (moments.paidAt ?? at) : moments.paidAt,
  fulfilledAt: status === "FULFILLED" ? (moments.fulfilledAt ?? at) : moments.fulfilledAt,
  cancelledAt: status === "CANCELLED" ? (moments.cancelledAt ?? at) : moments.cancelledAt
})
