/** The state of a stock. */
import type { Transfer } from "../mechanism/UnitProtocol.ts"
import { type MechanismState, newState } from "../mechanism/State.ts"
import type { AdjustmentReason, Level } from "./Protocol.ts"
import { type Configuration, unconfigured } from "./Configuration.ts"

/** What the stock knows of the units of one mechanism. */
export interface Account {
  /** Units that are there, or on their way back. */
  allocated: number
  sold: number
  /** The number of the last transfer to it; 0: none. */
  sent: number
  /** The number of the last transfer from it; 0: none. */
  taken: number
  /** The transfer that left and that the mechanism is not known to have taken. */
  underway: Transfer | undefined
}

export const newAccount = (): Account => ({ allocated: 0, sold: 0, sent: 0, taken: 0, underway: undefined })

export interface State extends MechanismState<Configuration, never> {
  /** All units, sold ones included. */
  onHand: number
  free: number
  /** Units that orders took here, less those of cancelled orders. */
  soldByOrders: number
  /** Units that were sold in mechanisms. */
  soldByMechanisms: number
  /** The reason of the last adjustment. */
  adjustedFor: AdjustmentReason | undefined
  /** The last recorded level; undefined before the first. */
  level: Level | undefined
  /** By mechanism. */
  readonly accounts: Map<string, Account>
  /** The units of orders that were counted here. */
  readonly orders: Map<string, number>
  /** The orders whose units are free again. */
  readonly cancelled: Set<string>
}

export const initial = (): State => ({
  ...newState<Configuration, never>(unconfigured, {}),
  onHand: 0,
  free: 0,
  soldByOrders: 0,
  soldByMechanisms: 0,
  adjustedFor: undefined,
  level: undefined,
  accounts: new Map(),
  orders: new Map(),
  cancelled: new Set()
})

/** Whether no unit is outside: with a mechanism, or under way. */
export const isComplete = ({ accounts }: State): boolean =>
  [...accounts.values()].every(({ allocated, underway }) => allocated === 0 && underway === undefined)

/** Returns the units that are not sold, wherever they are. */
export const unsold = ({ onHand, soldByOrders, soldByMechanisms }: State): number =>
  onHand - soldByOrders - soldByMechanisms

/** Returns the level of the units that are not sold. */
export const levelOf = (state: State): Level => {
  const units = unsold(state)
  return units <= 0 ? "EMPTY" : units <= (state.configuration.lowAt ?? 0) ? "LOW" : "AVAILABLE"
}
