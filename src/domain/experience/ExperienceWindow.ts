/**
 * An experience's own `openAt` and `closeAt`, which bound its mechanisms: the later opening and the earlier closing
 * apply.
 *
 * A mechanism records the window with its settings. So its rules need nothing from outside, and replaying its journal
 * gives the same times. The settings stay as the admin set them; {@link bounded} returns the effective ones.
 */
import { Schema } from "effect"
import { type Millis, Timestamp } from "../values/Time.ts"

/** The window. `revision` counts its changes, so that a change that arrives late does not undo a later one. */
export const ExperienceWindow = Schema.Struct({
  revision: Schema.Int,
  openAt: Schema.optionalKey(Timestamp),
  closeAt: Schema.optionalKey(Timestamp)
})
export type ExperienceWindow = typeof ExperienceWindow.Type

/** The settings of a mechanism that the window affects. */
export interface Windowed {
  readonly openAt?: Millis
  readonly closeAt?: Millis
  readonly experienceWindow?: ExperienceWindow
}

/** A setting that contradicts another one, or is not valid by itself. */
export interface SettingProblem<Setting extends string> {
  readonly field: Setting
  readonly message: string
}

/** Returns the contradiction in a window that closes before or when it opens. */
export const windowProblems = ({ openAt, closeAt }: Windowed): ReadonlyArray<SettingProblem<"closeAt">> =>
  openAt !== undefined && closeAt !== undefined && closeAt <= openAt
    ? [{ field: "closeAt", message: "closeAt must be after openAt" }]
    : []

/** Returns the window that an experience gives its mechanisms; undefined if it never had one. */
export const windowOf = (
  { openAt, closeAt }: Omit<ExperienceWindow, "revision">,
  revision: number
): ExperienceWindow | undefined =>
  revision === 0 && openAt === undefined && closeAt === undefined
    ? undefined
    : { revision, ...(openAt !== undefined && { openAt }), ...(closeAt !== undefined && { closeAt }) }

/** Returns the window without its opening, for the phase before the opening. */
export const withoutOpening = ({ openAt: _, ...rest }: ExperienceWindow): ExperienceWindow => rest

/** Returns the window, with a closing at or after `closeAt`. A window that never closes stays as it is. */
export const closingNoEarlier = (window: ExperienceWindow, closeAt: Millis): ExperienceWindow =>
  window.closeAt === undefined ? window : { ...window, closeAt: Math.max(window.closeAt, closeAt) }

/** Returns the settings with this window in place of their own. */
export const withWindow = <C extends Windowed>(settings: C, window: ExperienceWindow | undefined): C => {
  const { experienceWindow: _, ...own } = settings
  return (window === undefined ? own : { ...own, experienceWindow: window }) as C
}

/** Returns the settings with the effective opening and closing. */
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
 * Returns the settings with a changed window, or undefined if the mechanism already has this revision or a later one.
 * An opening that has passed stays.
 */
export const movedTo = <C extends Windowed>(
  settings: C,
  changed: ExperienceWindow,
  hasOpened: boolean
): C | undefined => {
  const known = settings.experienceWindow
  if (changed.revision <= (known?.revision ?? 0)) return undefined
  const openAt = hasOpened ? known?.openAt : changed.openAt
  return withWindow(settings, { ...withoutOpening(changed), ...(openAt !== undefined && { openAt }) })
}
