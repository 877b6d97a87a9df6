/**
 * How orders count down the stock of variants. A variant of policy `deny` is sold as long as units are left, one of
 * `continue` also beyond that, and one of `untracked` is never counted. A quantity that is not set counts as 0.
 *
 * An order remembers the units it took, and gives back no others: those of a variant that was untracked when it was
 * ordered were never taken. What it took it gives back whatever the variant's policy has become.
 */
import { Result, Schema } from "effect"
import { type InventoryPolicy, quantityBounds } from "./Variant.ts"
import type { Item, OrderStatus } from "../consumer/Order.ts"

/** An order asks for more units of a variant than are left. Nothing was counted. 409 */
export class OutOfStock extends Schema.TaggedError<OutOfStock>()("OutOfStock", {
  productVariantId: Schema.String,
  /** Units that the order asks for beyond those it has. */
  requested: Schema.Int,
  available: Schema.Int
}) {}

/** Units by variant. */
export type Units = ReadonlyMap<string, number>

/** How much of a variant there is. */
export interface Stock {
  readonly policy: typeof InventoryPolicy.Type
  readonly quantity: number
}

/** What an order needs of a variant's stock: more units, or fewer than it took. */
export interface Need {
  readonly variantId: string
  /** Units it has taken and keeps. */
  readonly kept: number
  /** Units it wants beyond those of before, if they are counted. */
  readonly more: number
  /** Units it gives back. */
  readonly back: number
}

/** What an order leaves behind: the units it has taken, and the quantities it has changed. */
export interface Counted {
  readonly taken: Units
  readonly quantities: Units
}

/** The units an order sells of each variant; none once it is cancelled. */
export const unitsOf = (order: { readonly status: OrderStatus; readonly items: ReadonlyArray<Item> }): Units => {
  const units = new Map<string, number>()
  if (order.status === "CANCELLED") return units
  for (const { productVariantId: id, quantity } of order.items) {
    if (id !== undefined && id !== null) units.set(id, (units.get(id) ?? 0) + quantity)
  }
  return units
}

/** What an order that took units needs when it sells others than before; the variants that it leaves alone are not among it. */
export const needsOf = (taken: Units, before: Units, now: Units): ReadonlyArray<Need> =>
  [...new Set([...taken.keys(), ...now.keys()])].flatMap((variantId) => {
    const has = taken.get(variantId) ?? 0
    const wanted = now.get(variantId) ?? 0
    const kept = Math.min(has, wanted)
    const need = { variantId, kept, more: Math.max(0, wanted - (before.get(variantId) ?? 0)), back: has - kept }
    return need.more > 0 || need.back > 0 ? [need] : []
  })

/** Counts what is needed; a variant that has no stock here is not counted. */
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
        const said = { productVariantId: variantId, requested: takes, available: Math.max(0, available) }
        return Result.fail(new OutOfStock(said))
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
