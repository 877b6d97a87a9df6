import { assert, describe, it } from "@effect/vitest"
import { courseOf, type Sample } from "../proofs/SteadyProof.ts"

const megabyte = 2 ** 20

/** Returns one sample per second. */
const samples = (count: number, bytesAt: (second: number) => number): ReadonlyArray<Sample> =>
  Array.from({ length: count }, (_, second) => ({ seconds: second, heapBytes: bytesAt(second) }))

describe("the course of a heap", () => {
  it("is flat if it varies around one size after any start", () => {
    const { isFlat, bytesPerMinute } = courseOf(
      samples(40, (second) => (second < 8 ? 20 : 50 + (second % 3)) * megabyte)
    )
    assert.isTrue(isFlat)
    assert.isBelow(Math.abs(bytesPerMinute), 2 * megabyte)
  })

  it("is not flat if it keeps growing, and has a growth rate", () => {
    const { isFlat, bytesPerMinute, secondQuarter, lastQuarter } = courseOf(
      samples(40, (second) => (50 + second / 4) * megabyte)
    )
    assert.isFalse(isFlat)
    assert.closeTo(bytesPerMinute, 15 * megabyte, 1)
    assert.closeTo(lastQuarter - secondQuarter, 5 * megabyte, 1)
  })
})
