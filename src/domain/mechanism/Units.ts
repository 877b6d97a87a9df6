/**
 * How a mechanism and its stock exchange units, the same for each kind that sells units. A kind declares how many units
 * its grants hold, and how many more it could use ({@link UnitUse}).
 */
import type { Millis } from "../values/Time.ts"
import { unchanged } from "./Administration.ts"
import type { Allocated, UnitEvent } from "./Allocation.ts"
import type { TimedTransition } from "./Timed.ts"
import type { SettleUnits, UnitsReport } from "./UnitProtocol.ts"

/** The state of a mechanism that can sell from a stock. */
interface Selling extends Allocated {
  readonly closedAt: Millis
  readonly lastAt: Millis
  readonly tornDown: boolean
}

/** How a kind uses units. */
export interface UnitUse<State> {
  /** Returns how many units live grants hold. */
  readonly held: (state: State) => number
  /** Returns how many more units those who wait could use. */
  readonly needed: (state: State) => number
  /** See {@link UnitsReport}. */
  readonly isShelf?: true
}

/** Returns the rules of a kind that uses units in this way. */
export const unitRules = <State extends Selling>({ held, needed, isShelf }: UnitUse<State>) => {
  const freeUnits = (state: State): number => state.allocation.units - held(state)
  return {
    /** Takes what is under way, learns what came to the stock, and gives back what others need. */
    settle: (state: State, { arriving, taken, giveBack = 0 }: SettleUnits, at: Millis): ReadonlyArray<UnitEvent> => {
      const { allocation, configuration, tornDown } = state
      if (configuration.stockId === undefined || tornDown) return unchanged
      const events: Array<UnitEvent> = []
      const { leaving, left, came } = allocation
      const isTaken = leaving !== undefined && taken >= leaving.transfer
      if (isTaken) events.push({ _tag: "UnitsTaken", at, transfer: leaving.transfer })
      if (arriving !== undefined && arriving.transfer > came) events.push({ _tag: "UnitsCame", at, ...arriving })
      const units = Math.min(giveBack, freeUnits(state))
      if (units > 0 && (leaving === undefined || isTaken)) {
        events.push({ _tag: "UnitsLeft", at, transfer: left + 1, units })
      }
      return events
    },

    /** After the closing, the units that nobody can use any more go back. */
    giving: {
      dueAt: (state) => {
        const { configuration, allocation, closedAt, lastAt } = state
        if (configuration.stockId === undefined || closedAt === Infinity || allocation.leaving !== undefined) {
          return Infinity
        }
        return freeUnits(state) > needed(state) ? Math.max(lastAt, closedAt) : Infinity
      },
      make: (state, at) => ({
        _tag: "UnitsLeft",
        at,
        transfer: state.allocation.left + 1,
        units: freeUnits(state) - needed(state)
      })
    } satisfies TimedTransition<State, UnitEvent>,

    /** Returns what the mechanism says of its units; undefined if it sells from no stock. */
    report: (state: State): UnitsReport | undefined => {
      const { configuration, allocation, closedAt, tornDown } = state
      if (configuration.stockId === undefined) return undefined
      const { units, sold, came, leaving } = allocation
      return {
        stockId: configuration.stockId,
        units,
        held: held(state),
        sold,
        needed: needed(state),
        isOpen: closedAt === Infinity,
        isShelf: isShelf === true,
        came,
        ...(leaving !== undefined && { leaving }),
        isOver: tornDown
      }
    }
  }
}

/** Whether no unit is left that has to go back to the stock. */
export const isGivenBack = ({ allocation: { units, leaving } }: Allocated): boolean =>
  units === 0 && leaving === undefined
