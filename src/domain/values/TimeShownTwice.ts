/** The hour that a clock shows twice when it is put back. */

const dayMillis = 86_400_000

/**
 * True if a clock shows the same time at this instant and at another one near it.
 *
 * @param aheadMillisAt how far the clock is ahead of UTC at an instant
 */
export const isShownTwice = (at: number, aheadMillisAt: (at: number) => number): boolean => {
  const ahead = aheadMillisAt(at)
  return [at - dayMillis, at + dayMillis].some((near) => {
    const other = aheadMillisAt(near)
    return other !== ahead && aheadMillisAt(at + ahead - other) === other
  })
}
