/**
 * What the states of all kinds have in common.
 */
import type { Millis } from "../values/Time.ts"
import type { EntryRisks } from "./EntryRisk.ts"
import { type LifecycleState, newLifecycle } from "./Lifecycle.ts"

export interface MechanismState<Configuration, Status extends string = string> extends LifecycleState, EntryRisks {
  /** The number of events that were applied. */
  sequence: number
  /** The last event's instant. */
  lastAt: Millis
  /** The recorded configuration: what an admin set, with the experience's window. */
  configured: Configuration
  /** The configuration in force: the same, with the opening and the closing bounded by the window. */
  configuration: Configuration
  /** The number of places in each status. */
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
  risks: new Map(),
  ...newLifecycle()
})
