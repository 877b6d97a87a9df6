/** The window of an experience, told as plainly as possible, for the references of all kinds. */
import type { ExperienceWindow } from "../../../src/domain/experience/ExperienceWindow.ts"

interface Settings {
  readonly openAt?: number
  readonly closeAt?: number
  readonly experienceWindow?: ExperienceWindow
}

/** The opening and the closing that hold. */
export const held = ({ openAt, closeAt, experienceWindow }: Settings): { openAt?: number; closeAt?: number } => {
  const openings = [openAt, experienceWindow?.openAt].filter((at) => at !== undefined).toSorted((a, b) => b - a)
  const closings = [closeAt, experienceWindow?.closeAt].filter((at) => at !== undefined).toSorted((a, b) => a - b)
  return {
    ...(openings[0] !== undefined && { openAt: openings[0] }),
    ...(closings[0] !== undefined && { closeAt: closings[0] })
  }
}

/** What is recorded of a window that a mechanism is told, as settings; undefined if nothing is. */
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

/** The settings that someone sends, who need not know the window that the mechanism is in. */
export const keepingWindow = <S extends Settings>(wanted: S, current: S): S => {
  const { experienceWindow: _, ...rest } = wanted
  return (current.experienceWindow === undefined ? rest : { ...rest, experienceWindow: current.experienceWindow }) as S
}

/** What the window may come to be: mostly a new one, at times one that is known. */
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
