import { assert, describe, it } from "@effect/vitest"
import { RateMeter } from "../../../src/engine/actor/ActorMeter.ts"

describe("the rate meter", () => {
  it("counts the events of the last sixty seconds", () => {
    const meter = new RateMeter()
    for (const second of [0, 1, 1, 30, 59]) meter.add(second * 1000)
    assert.strictEqual(meter.perMinute(59_999), 5)
  })

  it("drops events older than a minute, even if none is added later", () => {
    const meter = new RateMeter()
    meter.add(5_000)
    meter.add(65_000)
    assert.strictEqual(meter.perMinute(65_000), 1)
    assert.strictEqual(meter.perMinute(1_000_000), 0)
  })
})
