/**
 * What the states of all kinds have in common.
 */
import type { Millis } from "../values/Time.ts"
import { type LifecycleState, newLifecycle } from "./Lifecycle.ts"

export interface MechanismState<Configuration, Status extends string = string> extends LifecycleState {
  /** How many events were applied. */
  sequence: number
  /** The last event's instant. */
  lastAt: Millis
  /** The configuration on record: as an admin set it, with the experience's window. */
  configured: Configuration
  /** The configuration in force: the same, with the opening and the closing that the window leaves. */
  configuration: Configuration
  /** How many places are in each status. */
  readonly counts: { [S in Status]: number }
}

/** Returns the common part of a state before the first event. */
export const newState = <Configuration, Status extends string>(
  unconfigured: Configuration,
  counts: { [S in Status]: number }
): MechanismState<Configuration, Status> => ({
  sequence: 0,
  lastAt: 0,
  configured: unconfigured,
  configuration: unconfigured,
  counts,
  ...newLifecycle()
})
