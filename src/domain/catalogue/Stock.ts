/**
 * How orders change the stock of variants. A variant with policy `deny` is sold while units are left, with `continue`
 * also beyond that, and with `untracked` it is never counted. An unset quantity counts as 0.
 *
 * An order records the units it took, and returns only those. Units of a variant that was untracked at the time of the
 * order were never taken. The order returns the units it took whatever the variant's policy is now.
 */
import { Result, Schema } from "effect"
import { type InventoryPolicy, quantityBounds } from "./Variant.ts"
import type { Item, OrderStatus } from "../consumer/Order.ts"

/** An order requests more units of a variant than are left. Nothing was counted. 409 */
export class OutOfStock extends Schema.TaggedError<OutOfStock>()("OutOfStock", {
  productVariantId: Schema.String,
  /** Units requested in addition to those the order already has. */
  requested: Schema.Int,
  available: Schema.Int
}) {}

/** Number of units by variant id. */
export type Units = ReadonlyMap<string, number>

/** The stock of a variant. */
export interface Stock {
  readonly policy: typeof InventoryPolicy.Type
  readonly quantity: number
}

/** The change that an order needs in a variant's stock: more units, or fewer than it took. */
export interface Need {
  readonly variantId: string
  /** Units the order has taken and keeps. */
  readonly kept: number
  /** Additional units, if the variant is counted. */
  readonly more: number
  /** Units the order returns. */
  readonly back: number
}

/** The result of an order's change: the units it has taken, and the new quantities of variants. */
export interface Counted {
  readonly taken: Units
  readonly quantities: Units
}

/** Returns the units an order sells of each variant; none if it is cancelled. */
export const unitsOf = (order: { readonly status: OrderStatus; readonly items: ReadonlyArray<Item> }): Units => {
  const units = new Map<string, number>()
  if (order.status === "CANCELLED") return units
  for (const { productVariantId: id, quantity } of order.items) {
    if (id !== undefined && id !== null) units.set(id, (units.get(id) ?? 0) + quantity)
  }
  return units
}

/** Returns the changes for an order that took units and now sells other ones. Unchanged variants are omitted. */
export const needsOf = (taken: Units, before: Units, now: Units): ReadonlyArray<Need> =>
  [...new Set([...taken.keys(), ...now.keys()])].flatMap((variantId) => {
    const has = taken.get(variantId) ?? 0
    const wanted = now.get(variantId) ?? 0
    const kept = Math.min(has, wanted)
    const need = { variantId, kept, more: Math.max(0, wanted - (before.get(variantId) ?? 0)), back: has - kept }
    return need.more > 0 || need.back > 0 ? [need] : []
  })

/** Applies the changes. A variant without an entry in `stocks` is not counted. */
export const counted = (
  taken: Units,
  needs: ReadonlyArray<Need>,
  stocks: ReadonlyMap<string, Stock>
): Result.Result<Counted, OutOfStock> => {
  const [left, quantities] = [new Map(taken), new Map<string, number>()]
  for (const { variantId, kept, more, back } of needs) {
    const stock = stocks.get(variantId)
    const takes = stock === undefined || stock.policy === "untracked" ? 0 : more
    if (stock !== undefined && takes > 0) {
      const available = stock.quantity - (stock.policy === "deny" ? 0 : quantityBounds.minimum)
      if (takes > available) {
        const shortage = { productVariantId: variantId, requested: takes, available: Math.max(0, available) }
        return Result.fail(new OutOfStock(shortage))
      }
    }
    if (kept + takes > 0) left.set(variantId, kept + takes)
    else left.delete(variantId)
    if (stock !== undefined && takes !== back) {
      quantities.set(variantId, Math.min(quantityBounds.maximum, stock.quantity + back - takes))
    }
  }
  return Result.succeed({ taken: left, quantities })
}
