import { assert, describe, it } from "@effect/vitest"
import { bodyBounds, isRecent, jsonOf, textOf } from "../../../src/domain/receiver/Adapter.ts"

describe("The body of a request", () => {
  it("is text only as UTF-8 without NUL", () => {
    assert.strictEqual(textOf(Buffer.from("ä€😀")), "ä€😀")
    assert.isUndefined(textOf(Buffer.from([0xff, 0xfe])))
    assert.isUndefined(textOf(Buffer.from("a\u0000b")))
  })

  it("is parsed only within its bounds", () => {
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels)
    assert.deepStrictEqual(jsonOf('{"a":[1]}'), { a: [1] })
    assert.isArray(jsonOf(nested(bodyBounds.depthMax)))
    assert.isUndefined(jsonOf(nested(bodyBounds.depthMax + 50)))
    assert.isUndefined(jsonOf(`[${"1,".repeat(bodyBounds.valuesMax)}1]`))
    assert.isUndefined(jsonOf(`"${"a".repeat(bodyBounds.bytesMax)}"`))
    assert.isUndefined(jsonOf("{"))
  })
})

describe("The time of a request", () => {
  it("is recent within 300 s of the clock, in both directions", () => {
    for (const [seconds, isIt] of [
      ["1000", true],
      ["1300", true],
      ["1301", false],
      ["700", true],
      ["699", false],
      ["1e3", false],
      ["", false],
      ["-1000", false],
      [undefined, false]
    ] as const) {
      assert.strictEqual(isRecent(seconds, 1_000_000), isIt, seconds)
    }
  })
})
