/** The result of extending a mechanism, computed naively from the settings and the grants that are held. */
import type { Extend } from "../../../../src/domain/mechanism/extension/Extension.ts"
import type { ExperienceWindow } from "../../../../src/domain/experience/ExperienceWindow.ts"

interface Settings {
  readonly closeAt?: number
  readonly drawAt?: number
  readonly experienceWindow?: ExperienceWindow
}

interface Around<C> {
  readonly configuration: C
  /** The closing in force; undefined: none, or it has passed. */
  readonly closeAt: number | undefined
  readonly holding: ReadonlyArray<{ readonly consumerId: string; readonly expiresAt: number }>
}

/** Returns the events of the command, without their instant. */
export const extension = <C extends Settings>(
  { to, after, by }: Extend,
  { configuration, closeAt, holding }: Around<C>
) => {
  const later = (instant: number) => ("seconds" in to ? instant + 1000 * to.seconds : Math.max(to.until, instant))
  const millis = closeAt === undefined || after !== undefined ? 0 : later(closeAt) - closeAt
  const moved = { ...configuration } as { -readonly [K in keyof Settings]: Settings[K] }
  if (moved.closeAt !== undefined) moved.closeAt += millis
  if (moved.drawAt !== undefined) moved.drawAt += millis
  const { experienceWindow: window } = moved
  if (window?.closeAt !== undefined) moved.experienceWindow = { ...window, closeAt: window.closeAt + millis }
  return [
    ...(millis > 0 ? [{ _tag: "Configured" as const, configuration: moved as C, by }] : []),
    ...holding
      .filter(({ expiresAt }) => expiresAt < Infinity && later(expiresAt) !== expiresAt)
      .toSorted((a, b) => a.consumerId.localeCompare(b.consumerId))
      .map(({ consumerId, expiresAt }) => ({
        _tag: "GrantExtended" as const,
        consumerId,
        expiresAt: later(expiresAt),
        by
      }))
  ]
}
