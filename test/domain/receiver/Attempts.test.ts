import { assert, describe, it } from "@effect/vitest"
import { nextDelayMillis } from "../../../src/domain/receiver/Attempts.ts"

describe("The attempts to handle an event", () => {
  it("are nine, within four days, each delay longer than the one before", () => {
    const delays: Array<number> = []
    for (let delay = nextDelayMillis(1); delay !== undefined; delay = nextDelayMillis(delays.length + 1))
      delays.push(delay)
    assert.lengthOf(delays, 8)
    assert.deepStrictEqual(
      delays,
      delays.toSorted((a, b) => a - b)
    )
    assert.isBelow(
      delays.reduce((sum, delay) => sum + delay, 0),
      4 * 86_400_000
    )
  })
})
