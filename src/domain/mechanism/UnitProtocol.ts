/** What a stock and its mechanisms say to each other. */

/** Units on their way. */
export interface Transfer {
  /** Counts what one side has given to the other, from 1. */
  readonly transfer: number
  readonly units: number
}

/** What the stock says: what is under way to the mechanism, and what came from it. A command that is repeated changes nothing. */
export interface SettleUnits {
  readonly _tag: "SettleUnits"
  /** Absent: nothing is under way. */
  readonly arriving?: Transfer
  /** The number of the last transfer that the stock has taken; 0: none. */
  readonly taken: number
  /** Units that others need. The mechanism gives back those of them that no grant holds. Absent: none. */
  readonly giveBack?: number
  /** Whether units may still come. Absent: nothing new is said of it. */
  readonly mayReturn?: boolean
}

/** What a mechanism says of its units. */
export interface UnitsReport {
  readonly stockId: string
  /** The units here: held by grants, or free. */
  readonly units: number
  readonly held: number
  readonly sold: number
  /** How many more units those who wait could use than grants hold. */
  readonly needed: number
  /** True while it is not closed, so that it may reserve units for people who are still to come. */
  readonly isOpen: boolean
  /** True if nobody waits for units here: people come and take them. */
  readonly isShelf: boolean
  /** The number of the last transfer that came; 0: none. */
  readonly came: number
  /** Absent: nothing is on its way to the stock. */
  readonly leaving?: Transfer
  /** What it was told last of units that may still come. Absent: its consumers are not to be told now. */
  readonly mayReturn?: boolean
  /** True if it takes no more units, and has none. */
  readonly isOver: boolean
}
