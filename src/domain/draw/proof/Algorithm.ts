/**
 * How the winners of a draw follow from its seed: the algorithm `usher-draw`, version 1. The description is exact
 * enough to implement it in another language. Texts are ASCII, hexadecimal digits are lower case, ‖ concatenates texts,
 * and every number is an integer.
 *
 * 1. An entry has an id of 26 hexadecimal digits, and a weight, from 1,000,000 to 1,001,000,000. Only the proportions of
 *    the weights count. They are millionths; in a draw that weighs the risk of entries, hundredths of millionths.
 * 2. `seed` is 32 bytes, shown as 64 digits. `seedCommitment` is the SHA-256 of these 32 bytes.
 * 3. The list of entries is sorted by id. `entriesDigest` is the SHA-256 of the list's text: of each entry its id, a
 *    comma, its weight in decimal, and a line feed (byte 10).
 * 4. `beacon` is the randomness of the beacon's round, as 64 digits; the empty text if the draw names no beacon.
 * 5. Of each entry, `u` is the first 13 digits of HMAC-SHA256(key = the 32 bytes of `seed`, message = `entriesDigest` ‖
 *    `beacon` ‖ id), read as a number: 0 to 2^52 − 1.
 * 6. An entry's score is a number, and the smaller it is the better. It orders the entries as u^(1/w) does, the largest
 *    first, where w is the weight.
 *    a. If all weights of the list are the same, the score is 2^52 − 1 − u.
 *    b. Otherwise it is floor((52 × 2^44 − L) × 2^22 / weight), where L is log2(u + 1) × 2^44, cut off in this way:
 *
 *           x = u + 1;  k = the number for which 2^k ≤ x < 2^(k + 1);  m = x × 2^51 / 2^k  (exact for all x)
 *           L = k
 *           44 times:  m = floor(m × m / 2^51);  L = 2 × L
 *                      if m ≥ 2^52:  m = floor(m / 2);  L = L + 1
 *
 * 7. The drawn order sorts the entries by score, and those of the same score by id. The winners are the first of them,
 *    as many as the draw has winners, without those who withdrew between the closing and the drawing.
 *
 * Every step of 6b stays below 2^53 if m × m is computed in parts, so doubles hold it exactly; integers of any length
 * give the same results. The cut-off keeps the order of u and moves a weighted chance by less than one part in 2^40.
 */
import { hmacSha256, runningSha256, sha256OfHex } from "../../values/Digest.ts"

export const algorithm = { name: "usher-draw", version: "1" } as const

/** Digits of an entry's id: two halves of 13, each of which fits in a double. */
export const idLength = 26

/** The weight of an entry without loyalty, in millionths; no weight is less. */
export const weightMin = 1_000_000

/** How much larger all weights are in a draw that weighs the risk. The least factor of a risk is a hundredth. */
export const weightsWithRisk = 100

/** Returns the commitment to a seed, published before the drawing. */
export const commitmentOf = (seed: string): string => sha256OfHex(seed)

/** Digests a list of entries. The caller adds them in the order of their ids. */
export const entriesDigest = () => {
  const running = runningSha256()
  return {
    add: (id: string, weight: number): void => running.add(`${id},${weight}\n`),
    digest: running.digest
  }
}

/** The inputs that determine the scores of a draw. */
export interface Chance {
  /** 32 bytes in hex. */
  readonly seed: string
  readonly entriesDigest: string
  /** The randomness of the beacon's round; empty without a beacon. */
  readonly beacon: string
}

/** Returns the function that scores an entry, for a list with equal weights or with different ones. */
export const scoring = ({ seed, entriesDigest, beacon }: Chance, isWeighted: boolean) => {
  const digestOf = hmacSha256(seed, entriesDigest + beacon, idLength)
  return (id: string, weight: number): number => {
    const u = Number.parseInt(digestOf(id).slice(0, 13), 16)
    return isWeighted ? weightedScore(u, weight) : 2 ** 52 - 1 - u
  }
}

/** Returns floor((52 × 2^44 − L) × 2^22 / weight), divided in two steps so that every number stays below 2^53. */
export const weightedScore = (u: number, weight: number): number => {
  const dividend = shortfall(u)
  const rest = dividend % weight
  const whole = (dividend - rest) / weight
  const shifted = rest * 2 ** 22
  return whole * 2 ** 22 + (shifted - (shifted % weight)) / weight
}

/** Returns 52 × 2^44 − L: the maximum minus the logarithm of `u`. Divided by the weight, it sorts like u^(1/w). */
export const shortfall = (u: number): number => 52 * 2 ** 44 - log2(u + 1)

/** Returns log2(x) × 2^44, cut off; x from 1 to 2^52. */
const log2 = (x: number): number => {
  let logarithm = 52
  let m = x / 2
  for (; m < 2 ** 51; m *= 2) logarithm--
  for (let bit = 0; bit < 44; bit++) {
    m = squared(m)
    logarithm *= 2
    if (m >= 2 ** 52) {
      m = Math.floor(m / 2)
      logarithm++
    }
  }
  return logarithm
}

/** Returns floor(m × m / 2^51) for m below 2^52, computed from its halves of 26 bits. */
const squared = (m: number): number => {
  const high = Math.floor(m / 2 ** 26)
  const low = m - high * 2 ** 26
  return 2 * high * high + Math.floor((2 * high * low + Math.floor((low * low) / 2 ** 26)) / 2 ** 25)
}
