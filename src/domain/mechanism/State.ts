/** The part of the state that all kinds share, and the questions about it that have the same answer in several kinds. */
import { bounded, type Windowed } from "../experience/ExperienceWindow.ts"
import { type Millis, toText } from "../values/Time.ts"
import type { PlaceRow } from "./Decider.ts"
import type { EntryRisks } from "./EntryRisk.ts"
import * as Lifecycle from "./Lifecycle.ts"

export interface MechanismState<Configuration, Status extends string = string>
  extends Lifecycle.LifecycleState, EntryRisks {
  /** The number of events that were applied. */
  sequence: number
  /** The last event's instant. */
  lastAt: Millis
  /** The recorded configuration: the admin's settings with the experience's window. */
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
  ...Lifecycle.newLifecycle()
})

/** Records a configuration, and puts it in force. */
export const setConfiguration = <Configuration extends Windowed>(
  state: MechanismState<Configuration>,
  configuration: Configuration
): void => {
  state.configured = configuration
  state.configuration = bounded(configuration)
}

/** Returns the closing as of `now`, even if its event is not recorded yet; Infinity if the mechanism is not closed. */
export const closedAsOf = (state: MechanismState<Windowed>, now: Millis): Millis =>
  Lifecycle.closedAsOf(state, state.configuration.closeAt, now)

/** Whether the mechanism has closed at `now`, even if the event is not recorded yet. */
export const isClosed = (state: MechanismState<Windowed>, now: Millis): boolean => closedAsOf(state, now) !== Infinity

/** The state of a kind whose consumers enter places. */
export interface PlacesState extends MechanismState<Windowed> {
  readonly places: ReadonlyMap<string, unknown>
}

/** Whether the mechanism has opened. An absent `openAt` means open from the beginning. */
export const hasOpened = ({ places, configuration }: PlacesState, at: Millis): boolean =>
  places.size > 0 || (configuration.openAt ?? 0) <= at

/** A place whose status was recorded at `since`. */
interface RecordedPlace {
  readonly status: string
  readonly enteredAt: Millis
  readonly since: Millis
}

/** Returns a place's row in the projection: the recorded status, with the fields that the kind shows of it. */
export const placeRow = <P extends RecordedPlace>(
  place: P | undefined,
  fieldsOf: (place: P) => PlaceRow["fields"]
): PlaceRow | undefined => {
  if (place === undefined) return undefined
  const { status, enteredAt, since } = place
  return { status, enteredAt, updatedAt: since, fields: fieldsOf(place) }
}

/** Returns the fields of a place that has ended, as the projection shows them. */
export const endedFields = (
  status: "COMPLETED" | "DENIED" | "LEFT",
  { since, reason }: { readonly since: Millis; readonly reason: string | undefined }
): PlaceRow["fields"] => {
  switch (status) {
    case "COMPLETED":
      return { completedAt: toText(since) }
    case "DENIED":
      return { reason, deniedAt: toText(since) }
    case "LEFT":
      return { leftAt: toText(since) }
  }
}

/** Returns the number of units as JSON can hold it: null for no limit. */
export const finite = (units: number): number | null => (units === Infinity ? null : units)

/** Whether as many places are taken as the mechanism has. */
export const isFull = (places: number, { capacity = Infinity }: { readonly capacity?: number | undefined }): boolean =>
  places >= capacity
