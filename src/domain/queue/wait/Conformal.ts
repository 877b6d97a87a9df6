/**
 * Adaptive conformal inference (Gibbs and Candès, "Adaptive Conformal Inference Under Distribution Shift", NeurIPS
 * 2021): a range covers a wanted share of outcomes although nothing is known of their distribution, and it changes. The
 * range lies between two quantiles of recent errors. One number, the level, says which ones: each miss lowers it, which
 * widens the range, and each hit raises it a little.
 */

/** The share of ranges that miss. */
export const missShare = 0.1

/** How far one outcome moves the level. */
const step = 0.02

/** Outcomes are known late. So a row of misses must not widen ranges for ever, nor a row of hits make them a point. */
const levelMin = -1
const levelMax = 0.5

/** The errors that are kept. */
const errorsMax = 256

export interface Conformal {
  /** The share of outcomes outside of the quantiles. At 0 or below the range is wider than all recent errors. */
  level: number
  /** The recent errors, the oldest first. */
  readonly recent: Array<number>
  /** The same, sorted. */
  readonly sorted: Array<number>
  /** The ranges whose outcome is known, and those of them that covered it. */
  outcomes: number
  covered: number
}

export const newConformal = (level: number, errors: ReadonlyArray<number>): Conformal => ({
  level,
  recent: [...errors],
  sorted: errors.toSorted((one, two) => one - two),
  outcomes: 0,
  covered: 0
})

/** Notes how a prediction came out. */
export const noteOutcome = (conformal: Conformal, error: number, isCovered: boolean): void => {
  const { recent, sorted } = conformal
  conformal.outcomes++
  if (isCovered) conformal.covered++
  const moved = conformal.level + step * (missShare - (isCovered ? 0 : 1))
  conformal.level = Math.min(levelMax, Math.max(levelMin, moved))
  if (recent.length >= errorsMax) sorted.splice(indexIn(sorted, recent.shift()!), 1)
  recent.push(error)
  sorted.splice(indexIn(sorted, error), 0, error)
}

/** Returns the errors between which the outcome lies. */
export const errorRange = ({ level, sorted }: Conformal): readonly [number, number] => [
  quantile(sorted, level / 2),
  quantile(sorted, 1 - level / 2)
]

/** Interpolates between the errors. Beyond the last one it goes on by their whole spread for each half. */
const quantile = (sorted: ReadonlyArray<number>, share: number): number => {
  const last = sorted.length - 1
  const [least, most] = [sorted[0]!, sorted[last]!]
  const spread = most - least + 1
  if (share < 0) return least + share * 2 * spread
  if (share > 1) return most + (share - 1) * 2 * spread
  const place = share * last
  const below = Math.floor(place)
  return sorted[below]! + (place - below) * (sorted[Math.min(last, below + 1)]! - sorted[below]!)
}

/** Returns the index of the first error that is not less. */
const indexIn = (sorted: ReadonlyArray<number>, error: number): number => {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle]! < error) low = middle + 1
    else high = middle
  }
  return low
}
