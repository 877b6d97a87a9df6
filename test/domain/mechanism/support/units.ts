/** What a stock says to a mechanism, in histories. */
import type { SettleUnits } from "../../../../src/domain/mechanism/UnitProtocol.ts"

export const stockId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

/** The transfer of this number arrives. */
export const arrives = (units: number, transfer = 1): SettleUnits => ({
  _tag: "SettleUnits",
  taken: 0,
  arriving: { transfer, units }
})

/** The stock asks for units. */
export const giveBack = (units: number, taken = 0): SettleUnits => ({ _tag: "SettleUnits", taken, giveBack: units })

/** The stock has taken the transfer of this number. */
export const taken = (transfer: number): SettleUnits => ({ _tag: "SettleUnits", taken: transfer })

/** The stock says whether units may still come. */
export const told = (mayReturn: boolean): SettleUnits => ({ _tag: "SettleUnits", taken: 0, mayReturn })
