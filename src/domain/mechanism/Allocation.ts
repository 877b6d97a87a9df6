/**
 * The units that a mechanism has from a stock. Its grants are decided from them in memory, as from a setting; nothing
 * is asked of the stock.
 *
 * A transfer between the stock and a mechanism is two events with one number: the giver records that the units left, and
 * the taker that they came. Each side numbers what it gives, and takes a number once. The giver has one transfer under
 * way at a time, so the last number that was taken says everything.
 */
import { Schema } from "effect"
import { Id } from "../values/Ids.ts"
import { at } from "./Lifecycle.ts"
import type { Transfer } from "./UnitProtocol.ts"

/** The most units of a stock, and in one transfer. */
export const unitsMax = 100_000_000

/** The setting `stockId`: the stock that a mechanism sells from. Absent: its other settings say how many units it has. */
export const stockId = Schema.optionalKey(Id)

/** The fields of a {@link Transfer} in an event. */
export const transferFields = { transfer: Schema.Int, units: Schema.Int }

/** The events of an allocation. They concern no consumer. */
export const unitEvents = {
  /** Units came from the stock. */
  UnitsCame: { at, ...transferFields },
  /** Units left for the stock. */
  UnitsLeft: { at, ...transferFields },
  /** The stock has taken the units that left. */
  UnitsTaken: { at, transfer: Schema.Int }
}

/** The names of these events. */
export const unitTags = ["UnitsCame", "UnitsLeft", "UnitsTaken"] as const

export type UnitEvent =
  | ({ readonly _tag: "UnitsCame" | "UnitsLeft"; readonly at: number } & Transfer)
  | { readonly _tag: "UnitsTaken"; readonly at: number; readonly transfer: number }

export interface Allocation {
  /** The units here: held by grants, or free. */
  units: number
  /** Units that were sold here. */
  sold: number
  /** The number of the last transfer that came; 0: none. */
  came: number
  /** The number of the last transfer that left; 0: none. */
  left: number
  /** The transfer that left and that the stock is not known to have taken. */
  leaving: Transfer | undefined
}

export const newAllocation = (): Allocation => ({ units: 0, sold: 0, came: 0, left: 0, leaving: undefined })

/** The part of a state that has an allocation. */
export interface Allocated {
  readonly configuration: { readonly stockId?: string | undefined }
  readonly allocation: Allocation
}

/** Returns how many units grants may still take, of which `held` are; Infinity if the mechanism sells from no stock. */
export const unitsFree = ({ configuration, allocation }: Allocated, held: number): number =>
  configuration.stockId === undefined ? Infinity : allocation.units - held

/** Applies an event of the allocation. */
export const evolveUnits = (allocation: Allocation, event: UnitEvent): void => {
  switch (event._tag) {
    case "UnitsCame":
      allocation.units += event.units
      allocation.came = event.transfer
      return
    case "UnitsLeft":
      allocation.units -= event.units
      allocation.left = event.transfer
      allocation.leaving = { transfer: event.transfer, units: event.units }
      return
    case "UnitsTaken":
      allocation.leaving = undefined
  }
}

/** Records that the unit of a grant was sold. */
export const noteSale = ({ configuration, allocation }: Allocated): void => {
  if (configuration.stockId === undefined) return
  allocation.units--
  allocation.sold++
}
