/**
 * Counts a mechanism's failures and decides: restart it after a pause, or park it.
 *
 * Only defects count towards parking: a rule that throws, or an event that cannot be decoded. An unreachable database
 * or another writer says nothing about the mechanism itself.
 */
import type { Millis } from "../../domain/values/Time.ts"

/** The number of defects within {@link failureWindowMillis} that parks a mechanism, until an operator unparks it. */
export const failuresMax = 5

/** The time in which {@link failuresMax} defects park a mechanism. */
export const failureWindowMillis = 60_000

const firstPauseMillis = 100
const longestPauseMillis = 5_000

export class RestartHistory {
  /** Instants of the defects inside the window. */
  private defects: ReadonlyArray<Millis> = []
  /** Failures of any kind since the actor last ran well. */
  private consecutive = 0
  /** How often the actor was rebuilt after a failure. */
  restarts = 0
  parked = false

  /** Records a failure. Returns the pause before the next attempt, or undefined if the mechanism is parked. */
  note(failure: { readonly isDefect: boolean; readonly at: Millis }): number | undefined {
    if (failure.isDefect) {
      this.defects = [...this.defects.filter((at) => at > failure.at - failureWindowMillis), failure.at]
      if (this.defects.length >= failuresMax) this.parked = true
    }
    this.consecutive += 1
    this.restarts += 1
    if (this.parked) return undefined
    return Math.min(firstPauseMillis * 2 ** (this.consecutive - 1), longestPauseMillis)
  }

  /** Resets the pause, because the actor runs again. */
  recovered(): void {
    this.consecutive = 0
  }

  unpark(): void {
    this.defects = []
    this.consecutive = 0
    this.parked = false
  }
}
