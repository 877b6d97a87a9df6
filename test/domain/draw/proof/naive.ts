/**
 * A second implementation of the algorithm, from its description alone: integers of any length, Node's HMAC, one sort.
 */
import { createHash, createHmac } from "node:crypto"

export interface Entry {
  readonly id: string
  readonly weight: number
}

export const digest = (entries: ReadonlyArray<Entry>): string =>
  createHash("sha256")
    .update(entries.map(({ id, weight }) => `${id},${weight}\n`).join(""))
    .digest("hex")

export const score = (u: bigint, weight: number, isWeighted: boolean): bigint => {
  if (!isWeighted) return 2n ** 52n - 1n - u
  return ((52n * 2n ** 44n - logarithm(u + 1n)) * 2n ** 22n) / BigInt(weight)
}

const logarithm = (x: bigint): bigint => {
  const k = BigInt(x.toString(2).length - 1)
  let m = (x * 2n ** 51n) / 2n ** k
  let l = k
  for (let bit = 0; bit < 44; bit++) {
    m = (m * m) / 2n ** 51n
    l = 2n * l
    if (m >= 2n ** 52n) {
      m = m / 2n
      l = l + 1n
    }
  }
  return l
}

/** Returns all entries in the drawn order. */
export const order = (
  { seed, entriesDigest, beacon }: { readonly seed: string; readonly entriesDigest: string; readonly beacon: string },
  entries: ReadonlyArray<Entry>
): ReadonlyArray<string> => {
  const isWeighted = new Set(entries.map(({ weight }) => weight)).size > 1
  const scored = entries.map(({ id, weight }) => {
    const key = createHmac("sha256", Buffer.from(seed, "hex"))
      .update(entriesDigest + beacon + id)
      .digest("hex")
    return { id, score: score(BigInt(`0x${key.slice(0, 13)}`), weight, isWeighted) }
  })
  const before = (a: (typeof scored)[number], b: (typeof scored)[number]) =>
    a.score === b.score ? a.id < b.id : a.score < b.score
  return scored.toSorted((a, b) => (before(a, b) ? -1 : 1)).map(({ id }) => id)
}
