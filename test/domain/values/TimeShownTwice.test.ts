import { assert, describe, it } from "@effect/vitest"
import { isShownTwice } from "../../../src/domain/values/TimeShownTwice.ts"

const minute = 60_000

describe("The question whether a clock shows a time twice", () => {
  it("is answered at the edges of the hour that comes again", () => {
    // Put back by 30 minutes at 1,000 minutes.
    const ahead = (at: number) => (at < 1_000 * minute ? 30 : 0) * minute
    for (const [at, isTwice] of [
      [969, false],
      [970, true],
      [999, true],
      [1_000, true],
      [1_029, true],
      [1_030, false]
    ] as const) {
      assert.strictEqual(isShownTwice(at * minute, ahead), isTwice, `${at}`)
      // Put forward, it shows nothing twice.
      assert.isFalse(isShownTwice(at * minute, (instant) => -ahead(instant)))
    }
  })
})
