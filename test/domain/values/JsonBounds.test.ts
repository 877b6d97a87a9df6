import { assert, describe, it } from "@effect/vitest"
import { exceededBy, publicBounds, secretBounds } from "../../../src/domain/values/JsonBounds.ts"

const bounds = { bytesMax: 1_000, depthMax: 3, valuesMax: 6 }

describe("The bounds of a JSON text", () => {
  it("allow as many levels as they state, and no more", () => {
    assert.isUndefined(exceededBy("[[[]]]", bounds))
    assert.isUndefined(exceededBy("[[[]],[[]]]", bounds))
    assert.strictEqual(exceededBy("[[[[]]]]", bounds), "depth")
    assert.strictEqual(exceededBy('{"a":{"b":[{}]}}', bounds), "depth")
  })

  it("allow as many fields and items as they state, and no more", () => {
    assert.isUndefined(exceededBy("[1,2,3,4,5,6]", bounds))
    assert.strictEqual(exceededBy("[1,2,3,4,5,6,7]", bounds), "values")
    assert.isUndefined(exceededBy('{"a":1,"b":{"c":1,"d":[]}}', bounds))
    assert.strictEqual(exceededBy('{"a":1,"b":{"c":1,"d":[1,2,3]}}', bounds), "values")
  })

  it("ignore brackets and commas within strings, also after escaped quotes", () => {
    assert.isUndefined(exceededBy('{"a":"[[[[,,,,,,,,,"}', bounds))
    assert.isUndefined(exceededBy(String.raw`["\"[[[[,,,,,,,,,","\\"]`, bounds))
    assert.strictEqual(exceededBy(String.raw`["\\",[[[[]]]]]`, bounds), "depth")
  })

  it("leave text that is not JSON to the parser", () => {
    assert.isUndefined(exceededBy('{"a', bounds))
    assert.isUndefined(exceededBy("]]]]]]]]]]", bounds))
    assert.isUndefined(exceededBy("", bounds))
  })

  it("find a hostile text of any size in time that grows with its length only", () => {
    const hostile = `"${"\\".repeat(500_000)}"`
    const from = performance.now()
    exceededBy(`[${hostile}]`, secretBounds)
    assert.isBelow(performance.now() - from, 20_000)
    assert.strictEqual(exceededBy("[".repeat(16_384), publicBounds), "depth")
    assert.strictEqual(exceededBy("0,".repeat(8_192), publicBounds), "values")
  })
})
