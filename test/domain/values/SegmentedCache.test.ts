import { assert, describe, it } from "@effect/vitest"
import { SegmentedCache } from "../../../src/domain/values/SegmentedCache.ts"

describe("A segmented cache", () => {
  it("keeps at least as many entries as its capacity, and at most twice as many", () => {
    const recent = new SegmentedCache<number>(100)
    for (let n = 0; n < 1_000; n++) recent.set(`${n}`, n)
    const kept = Array.from({ length: 1_000 }, (_, n) => n).filter((n) => recent.get(`${n}`) !== undefined)
    assert.isTrue(kept.length >= 100 && kept.length <= 200)
    for (let n = 900; n < 1_000; n++) assert.include(kept, n)
  })

  it("keeps entries that are used", () => {
    const recent = new SegmentedCache<string>(10)
    recent.set("used", "still here")
    for (let n = 0; n < 1_000; n++) {
      recent.set(`${n}`, "")
      assert.strictEqual(recent.get("used"), "still here")
    }
  })

  it("with a TTL drops entries that were not used for that time, and keeps others", () => {
    let now = 0
    const recent = new SegmentedCache<string>(10, { afterMillis: 60, now: () => now })
    recent.set("used", "here")
    recent.set("left", "here")
    for (now = 0; now < 1_000; now += 50) assert.strictEqual(recent.get("used"), "here")
    assert.isUndefined(recent.get("left"))
    recent.set("fresh", "here")
    now += 59
    assert.strictEqual(recent.get("fresh"), "here")
    now += 120
    assert.isUndefined(recent.get("fresh"))
  })

  it("drops an entry that is deleted", () => {
    const recent = new SegmentedCache<number>(2)
    for (let n = 0; n < 3; n++) recent.set(`${n}`, n)
    for (let n = 0; n < 3; n++) recent.delete(`${n}`)
    for (let n = 0; n < 3; n++) assert.isUndefined(recent.get(`${n}`))
  })
})
