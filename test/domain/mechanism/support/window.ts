/** A plain model of an experience's window, for the references of all kinds. */
import type { ExperienceWindow } from "../../../../src/domain/experience/ExperienceWindow.ts"

interface Settings {
  readonly openAt?: number
  readonly closeAt?: number
  readonly experienceWindow?: ExperienceWindow
}

/** Returns the opening and the closing in force. */
export const held = ({ openAt, closeAt, experienceWindow }: Settings): { openAt?: number; closeAt?: number } => {
  const openings = [openAt, experienceWindow?.openAt].filter((at) => at !== undefined).toSorted((a, b) => b - a)
  const closings = [closeAt, experienceWindow?.closeAt].filter((at) => at !== undefined).toSorted((a, b) => a - b)
  return {
    ...(openings[0] !== undefined && { openAt: openings[0] }),
    ...(closings[0] !== undefined && { closeAt: closings[0] })
  }
}

/** Returns the recorded settings after a command that sets the window; undefined if it changes nothing. */
export const afterWindow = <S extends Settings>(
  settings: S,
  told: ExperienceWindow,
  hasOpened: boolean
): S | undefined => {
  const { revision: known = 0, openAt: former } = settings.experienceWindow ?? {}
  if (told.revision <= known) return undefined
  const { openAt, ...window } = told
  const opening = hasOpened ? former : openAt
  return { ...settings, experienceWindow: opening === undefined ? window : { ...window, openAt: opening } }
}

/** Returns the settings of a caller that does not know the window. */
export const keepingWindow = <S extends Settings>(wanted: S, current: S): S => {
  const { experienceWindow: _, ...rest } = wanted
  return (current.experienceWindow === undefined ? rest : { ...rest, experienceWindow: current.experienceWindow }) as S
}

/** Generates a window: usually a new revision, sometimes a known one. */
export const windowOf = (
  {
    windowOpenAt: openAt,
    windowCloseAt: closeAt
  }: { readonly windowOpenAt: number | undefined; readonly windowCloseAt: number | undefined },
  { experienceWindow }: Settings
): ExperienceWindow => ({
  revision: (experienceWindow?.revision ?? 0) + (openAt === undefined && closeAt !== undefined ? 0 : 1),
  ...(openAt !== undefined && { openAt }),
  ...(closeAt !== undefined && { closeAt })
})
