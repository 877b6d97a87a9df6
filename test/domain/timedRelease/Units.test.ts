import { assert, describe, it } from "@effect/vitest"
import { decider } from "../../../src/domain/timedRelease/TimedRelease.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import { arrives, stockId, taken } from "../mechanism/support/units.ts"
import { at, complete, configure, end, enter, given, leave, tornDown } from "./history.ts"

describe("a timed release with a stock", () => {
  it("sells the units that it has, and those that come back", () => {
    const release = given({ stockId })
    assertRefused(release.when(0, enter("a")), "SoldOut")
    release.when(1, arrives(1))
    release.when(2, enter("a"))
    assertRefused(release.when(3, enter("b")), "SoldOut")
    release.when(4, leave("a"))
    release.when(5, enter("b"))
    release.when(6, complete("b"))
    assertRefused(release.when(7, enter("c")), "SoldOut")
    release.when(8, arrives(1, 2))
    release.when(9, enter("c"))
    assert.deepInclude(decider.units!(release.state)!, { units: 1, held: 1, sold: 1, needed: 0, isShelf: true })
  })

  it("sells no more than its capacity", () => {
    const release = given({ stockId, capacity: 1 })
    release.when(1, arrives(5))
    release.when(2, enter("a"))
    assertRefused(release.when(3, enter("b")), "SoldOut")
  })

  it("gives its units back when it has closed", () => {
    const release = given({ stockId })
    release.when(1, arrives(5))
    release.when(2, end)
    assert.deepStrictEqual(release.until(3), [{ _tag: "UnitsLeft", at: at(2), transfer: 1, units: 5 }])
    release.when(4, taken(1))
    assert.deepStrictEqual(release.until(4), [tornDown(4)])
  })

  it("keeps its stock once it has opened", () => {
    const release = given()
    assertRefused(release.when(1, configure({ stockId })), "ConfigurationFixed", { setting: "stockId" })
  })
})
