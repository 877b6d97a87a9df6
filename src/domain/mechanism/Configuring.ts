/**
 * Rules for changes of a configuration, shared by all kinds.
 */
import { Equal } from "effect"
import { type ExperienceWindow, movedTo, type Windowed } from "../experience/ExperienceWindow.ts"
import type { Millis } from "../values/Time.ts"
import { reasoned, type StaffReason } from "./Author.ts"

interface Configured<Configuration> {
  readonly _tag: "Configured"
  readonly at: Millis
  readonly configuration: Configuration
  readonly by: string
  readonly reason?: StaffReason
}

/** Returns the first event of a mechanism. */
export const first = <Configuration>(
  { configuration, by }: { readonly configuration: Configuration; readonly by: string },
  at: Millis
): ReadonlyArray<Configured<Configuration>> => [{ _tag: "Configured", at, configuration, by }]

/** Returns the event of a change by `by`; none if the configuration is the same as the recorded one. */
export const configured = <Configuration>(
  state: { readonly configured: Configuration },
  configuration: Configuration,
  { by, reason }: { readonly by: string; readonly reason?: StaffReason | undefined },
  at: Millis
): ReadonlyArray<Configured<Configuration>> =>
  Equal.equals(configuration, state.configured)
    ? []
    : [{ _tag: "Configured", at, configuration, by, ...reasoned(reason) }]

/**
 * Returns the event of a change of the experience's window. A mechanism that has closed stays closed, and one that has
 * opened keeps its opening, whatever the new window says.
 */
export const setWindow = <Configuration extends Windowed>(
  state: { readonly configured: Configuration },
  { window, by }: { readonly window: ExperienceWindow; readonly by: string },
  { isClosed, hasOpened }: { readonly isClosed: boolean; readonly hasOpened: boolean },
  at: Millis
): ReadonlyArray<Configured<Configuration>> => {
  const configuration = isClosed ? undefined : movedTo(state.configured, window, hasOpened)
  return configuration === undefined ? [] : [{ _tag: "Configured", at, configuration, by }]
}
