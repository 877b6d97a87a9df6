/**
 * An experience's own `openAt` and `closeAt`, which bound its mechanisms: the later opening and the earlier closing hold
 * (completions 3, "Shared").
 *
 * A mechanism records the window with its settings, so that its rules need nothing from outside and replaying its journal
 * gives the same instants. The settings stay what the admin set; {@link bounded} says what holds.
 */
import { Schema } from "effect"
import { type Millis, Timestamp } from "../values/Time.ts"

/** `revision` counts the changes of the experience's window, so that a change that arrives late does not undo a later one. */
export const ExperienceWindow = Schema.Struct({
  revision: Schema.Int,
  openAt: Schema.optionalKey(Timestamp),
  closeAt: Schema.optionalKey(Timestamp)
})
export type ExperienceWindow = typeof ExperienceWindow.Type

/** What of a mechanism's settings the window concerns. */
export interface Windowed {
  readonly openAt?: Millis
  readonly closeAt?: Millis
  readonly experienceWindow?: ExperienceWindow
}

/** The window that an experience with these settings gives its mechanisms; undefined while it has never had one. */
export const windowOf = (
  { openAt, closeAt }: Omit<ExperienceWindow, "revision">,
  revision: number
): ExperienceWindow | undefined =>
  revision === 0 && openAt === undefined && closeAt === undefined
    ? undefined
    : { revision, ...(openAt !== undefined && { openAt }), ...(closeAt !== undefined && { closeAt }) }

/** The window without its opening, for what comes before the opening. */
export const withoutOpening = ({ openAt: _, ...rest }: ExperienceWindow): ExperienceWindow => rest

/** The window, open at least until then if it closes at all. */
export const closingNoEarlier = (window: ExperienceWindow, closeAt: Millis): ExperienceWindow =>
  window.closeAt === undefined ? window : { ...window, closeAt: Math.max(window.closeAt, closeAt) }

/** The settings below this window, whatever window they name themselves. */
export const withWindow = <C extends Windowed>(settings: C, window: ExperienceWindow | undefined): C => {
  const { experienceWindow: _, ...own } = settings
  return (window === undefined ? own : { ...own, experienceWindow: window }) as C
}

/** The settings with the opening and the closing that hold. */
export const bounded = <C extends Windowed>(settings: C): C => {
  const { openAt, closeAt, experienceWindow } = settings
  if (experienceWindow === undefined) return settings
  const opening = Math.max(openAt ?? -Infinity, experienceWindow.openAt ?? -Infinity)
  const closing = Math.min(closeAt ?? Infinity, experienceWindow.closeAt ?? Infinity)
  return {
    ...settings,
    ...(opening !== -Infinity && { openAt: opening }),
    ...(closing !== Infinity && { closeAt: closing })
  }
}

/**
 * The settings below the window that a mechanism is told; undefined if it knows this window, or a later one. An opening
 * that has passed stays.
 */
export const movedTo = <C extends Windowed>(settings: C, told: ExperienceWindow, hasOpened: boolean): C | undefined => {
  const known = settings.experienceWindow
  if (told.revision <= (known?.revision ?? 0)) return undefined
  const openAt = hasOpened ? known?.openAt : told.openAt
  return withWindow(settings, { ...withoutOpening(told), ...(openAt !== undefined && { openAt }) })
}
