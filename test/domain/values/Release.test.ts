import { assert, describe, it } from "@effect/vitest"
import { conflictOf, type Release, release, textOf } from "../../../src/domain/values/Release.ts"

const former: Release = { version: "1.0.0", protocol: [1, 1], level: [1, 2], schema: [36, 40] }

describe("two releases", () => {
  it("work together while all their ranges overlap", () => {
    assert.isUndefined(conflictOf(former, former))
    assert.isUndefined(conflictOf(former, { protocol: [1, 2], level: [2, 3], schema: [40, 44] }))
    assert.isUndefined(conflictOf({ ...former, schema: [40, 44] }, former))
  })

  for (const name of ["protocol", "level", "schema"] as const) {
    it(`do not work together without a common ${name}, and the reason names both ranges`, () => {
      const other = { ...former, [name]: [90, 91] }
      assert.strictEqual(conflictOf(former, other), `${name} ${textOf(former[name])} here, 90 to 91 there`)
      assert.strictEqual(conflictOf(other, former), `${name} 90 to 91 here, ${textOf(former[name])} there`)
    })
  }

  it("name their ranges in ascending order", () => {
    for (const [min, max] of [release.protocol, release.level, release.schema]) assert.isAtMost(min, max)
  })
})
