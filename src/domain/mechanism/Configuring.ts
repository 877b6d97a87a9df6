/**
 * The settings that several kinds have, and the rules for changes of a configuration, shared by all kinds.
 */
import { Equal, Schema } from "effect"
import { ExperienceWindow, movedTo, type Windowed } from "../experience/ExperienceWindow.ts"
import { isAtLeast, isAtMost } from "../values/Text.ts"
import type { Millis } from "../values/Time.ts"
import { reasoned, type StaffReason } from "./Author.ts"
import { hasOpened, type PlacesState } from "./State.ts"

/** A number from 1 to `maximum`. */
export const count = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))

/** The name of a mechanism. */
export const name = Schema.String.check(isAtLeast(1), isAtMost(200))

/** The seconds after which a grant expires; absent: it does not. */
export const admissionExpirationSeconds = Schema.optionalKey(count(31_536_000))

/** The experience's own window, which bounds the mechanism's: see ExperienceWindow.ts. Admins do not set it here. */
export const experienceWindow = Schema.optionalKey(ExperienceWindow)

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

/** Returns `openAt` if `next` changes the opening after it has passed. */
export const fixedOpening = (state: PlacesState, next: Windowed, at: Millis): "openAt" | undefined =>
  hasOpened(state, at) && next.openAt !== state.configured.openAt ? "openAt" : undefined

/** Returns `openAt` or `stockId` if `next` changes it after the opening has passed. */
export const fixedAtOpening = (
  state: PlacesState & { readonly configured: Selling },
  next: Windowed & Selling,
  at: Millis
): "openAt" | "stockId" | undefined =>
  fixedOpening(state, next, at) ??
  (hasOpened(state, at) && next.stockId !== state.configured.stockId ? "stockId" : undefined)

interface Selling {
  readonly stockId?: string
}

/**
 * Returns the event of a change of the experience's window. A closed mechanism stays closed, and an opened one keeps
 * its opening, whatever the new window.
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
