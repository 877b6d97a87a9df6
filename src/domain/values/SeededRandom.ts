/**
 * Repeatable randomness: the generator xoshiro128** (Blackman and Vigna, 2018), started from a recorded seed. So
 * replaying a mechanism's events gives the same order. It is uniform but not secret: only the seed is unpredictable.
 */

/** Returns the next number, 0 to 2^32 − 1, all equally likely. */
export type Random32 = () => number

/** Creates a generator from 16 bytes in hex. */
export const seededRandom = (seed: string): Random32 => {
  let a = word(seed, 0)
  let b = word(seed, 1)
  let c = word(seed, 2)
  let d = word(seed, 3)
  // A state of all zeros would produce only zeros.
  if ((a | b | c | d) === 0) a = 1
  return () => {
    const result = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0
    const shifted = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = rotate(d, 11)
    return result
  }
}

/**
 * Returns a number from 0 to `bound − 1`, all exactly equally likely. Numbers that would favour small results are drawn
 * again.
 */
export const below = (random: Random32, bound: number): number => {
  const fair = 4_294_967_296 - (4_294_967_296 % bound)
  let number = random()
  while (number >= fair) number = random()
  return number % bound
}

/** Shuffles in place (Fisher and Yates): every order is equally likely. */
export const shuffle = <A>(items: Array<A>, random: Random32): void => {
  for (let last = items.length - 1; last > 0; last--) {
    const chosen = below(random, last + 1)
    const item = items[last]!
    items[last] = items[chosen]!
    items[chosen] = item
  }
}

/**
 * Shuffles in place: each item is drawn from the rest with a chance proportional to its weight, more than 0 to 1. All
 * numbers are compared as integers, so replaying gives the same order everywhere. A weight of w costs up to 1 / w numbers.
 */
export const shuffleByWeight = <A>(items: Array<A>, random: Random32, weightOf: (item: A) => number): void => {
  for (let first = 0; first < items.length - 1; first++) {
    let chosen = first + below(random, items.length - first)
    while (random() >= Math.ceil(weightOf(items[chosen]!) * 4_294_967_296)) {
      chosen = first + below(random, items.length - first)
    }
    const item = items[first]!
    items[first] = items[chosen]!
    items[chosen] = item
  }
}

const word = (seed: string, index: number): number => Number.parseInt(seed.slice(index * 8, index * 8 + 8), 16) | 0

const rotate = (word: number, by: number): number => (word << by) | (word >>> (32 - by))
