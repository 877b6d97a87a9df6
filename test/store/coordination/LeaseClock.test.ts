import { assert, describe, it } from "@effect/vitest"
import { Clock } from "effect"
import {
  laterOf,
  millisAtLeast,
  millisAtMost,
  readClocks,
  monotonicMillisOf
} from "../../../src/store/coordination/LeaseClock.ts"

/** A machine's two clocks, each set by the test. */
const clocks = () => {
  const shown = { wallMillis: 1_000_000, monotonicMillis: 5_000 }
  const clock: Clock.Clock = {
    ...Clock.Clock.defaultValue(),
    currentTimeMillisUnsafe: () => shown.wallMillis,
    monotonicTimeNanosUnsafe: () => BigInt(shown.monotonicMillis) * 1_000_000n
  }
  return { clock, shown }
}

describe("The elapsed time", () => {
  it("is the same by both clocks while neither is set", () => {
    const { clock, shown } = clocks()
    const since = readClocks(clock)
    shown.wallMillis += 700
    shown.monotonicMillis += 700
    assert.deepStrictEqual([millisAtMost(clock, since), millisAtLeast(clock, since)], [700, 700])
    assert.strictEqual(monotonicMillisOf(clock), 5_700)
  })

  it("lies between both clocks if the wall clock was set or the machine slept", () => {
    for (const [wall, monotonic, atMost, atLeast] of [
      [-60_000, 700, 700, -60_000],
      [3_600_000, 700, 3_600_000, 700],
      [90_000, 10, 90_000, 10]
    ] as const) {
      const { clock, shown } = clocks()
      const since = readClocks(clock)
      shown.wallMillis += wall
      shown.monotonicMillis += monotonic
      assert.deepStrictEqual([millisAtMost(clock, since), millisAtLeast(clock, since)], [atMost, atLeast])
    }
  })

  it("finds the later of two readings even if the wall clock was set", () => {
    const { clock, shown } = clocks()
    const first = readClocks(clock)
    shown.wallMillis -= 60_000
    shown.monotonicMillis += 1
    const second = readClocks(clock)
    assert.strictEqual(laterOf(first, second), second)
    assert.strictEqual(laterOf(second, first), second)
    assert.strictEqual(laterOf(undefined, first), first)
  })
})
