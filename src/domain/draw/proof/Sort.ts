/**
 * Sorting that can be interrupted. A million members take some seconds, and other mechanisms need the process
 * meanwhile.
 */

/** Runs of this length are sorted at once, and then merged. */
const runLength = 32

/** Merged members between two pauses: about the time that one key takes. */
const mergedPerStep = 64

/** Sorts the numbers from 0 to `count − 1` with `compare`; pauses every few microseconds. */
export function* sorted(count: number, compare: (a: number, b: number) => number): Generator<undefined, Uint32Array> {
  let from = new Uint32Array(count)
  for (let index = 0; index < count; index++) from[index] = index
  for (let start = 0; start < count; start += runLength) {
    from.subarray(start, start + runLength).sort(compare)
    yield
  }
  let to = new Uint32Array(count)
  for (let length = runLength; length < count; length *= 2) {
    for (let start = 0; start < count; start += 2 * length) {
      const middle = Math.min(start + length, count)
      const end = Math.min(middle + length, count)
      let left = start
      let right = middle
      for (let index = start; index < end; index++) {
        const takesLeft = left < middle && (right >= end || compare(from[left]!, from[right]!) <= 0)
        to[index] = takesLeft ? from[left++]! : from[right++]!
        if (index % mergedPerStep === 0) yield
      }
    }
    ;[from, to] = [to, from]
  }
  return from
}
