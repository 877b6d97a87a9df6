/**
 * How many who wait will still be there when they are called. People leave at a rate that depends on how long they have
 * waited, so the leavers and the time that others stayed are counted for each class of age.
 */

/** The ages at which a class ends, in seconds; each is twice the one before. */
const classEnds = [15, 30, 60, 120, 240, 480, 960, 1_920, 3_840, 7_680, 15_360, Infinity] as const

/** What a line has shown of leaving: for each class of age. */
export interface Leaving {
  readonly leavers: Array<number>
  /** The sum of the seconds for which consumers stayed. */
  readonly staySeconds: Array<number>
}

/** Before anything is known: one in a hundred leaves in a minute, and an hour of one consumer's stay outweighs it. */
export const defaultLeaving: Leaving = {
  leavers: classEnds.map(() => 0.6),
  staySeconds: classEnds.map(() => 3_600)
}

/** Counts consumers that left at an age in seconds. */
export const noteLeft = ({ leavers }: Leaving, age: number): void => {
  leavers[classOf(age)]! += 1
}

/** Counts that as many consumers of an age in seconds stayed for so long. */
export const noteStayed = ({ staySeconds }: Leaving, age: number, seconds: number): void => {
  staySeconds[classOf(age)]! += seconds
}

/** Returns the share of those of an age who are still there `seconds` later. */
export const shareThatStays = ({ leavers, staySeconds }: Leaving, age: number, seconds: number): number => {
  let hazard = 0
  let left = seconds
  let from = age
  for (let index = classOf(age); left > 0; index++) {
    const span = Math.min(left, classEnds[index]! - from)
    hazard += (span * leavers[index]!) / staySeconds[index]!
    left -= span
    from += span
  }
  return Math.exp(-hazard)
}

const classOf = (age: number): number => {
  let index = 0
  while (age >= classEnds[index]!) index++
  return index
}
