import { assert, describe, it } from "@effect/vitest"
import { nextDelayMillis } from "../../../src/domain/webhook/Attempts.ts"
import type { RetrySchedule } from "../../../src/domain/webhook/Webhook.ts"

/** The delays in minutes until the schedule ends. */
const delays = (schedule: RetrySchedule, dice: number) => {
  const minutes: Array<number> = []
  for (let attempts = 1; ; attempts++) {
    const delay = nextDelayMillis(schedule, attempts, dice, 0)
    if (delay === undefined) return minutes
    minutes.push(delay / 60_000)
  }
}

describe("A failed delivery", () => {
  it("is repeated after 1 min, 5 min, 30 min, 2 h and 12 h, and then has failed", () => {
    assert.deepStrictEqual(delays("standard", 0), [1, 5, 30, 120, 720])
  })

  it("is repeated four more times under the extended schedule", () => {
    assert.deepStrictEqual(delays("extended", 0).slice(5), [840, 1_200, 1_440, 1_440])
  })

  it("waits up to a tenth longer, so that retries do not arrive together", () => {
    assert.deepStrictEqual(delays("standard", 1), [1.1, 5.5, 33, 132, 792])
  })

  it("waits as long as the endpoint asks, at most a day", () => {
    assert.strictEqual(nextDelayMillis("standard", 1, 0, 90_000), 90_000)
    assert.strictEqual(nextDelayMillis("standard", 1, 0, 10_000), 60_000)
    assert.strictEqual(nextDelayMillis("standard", 1, 0, 30 * 86_400_000), 86_400_000)
  })
})
