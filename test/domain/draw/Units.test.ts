import { assert, describe, it } from "@effect/vitest"
import { decider } from "../../../src/domain/draw/Draw.ts"
import { verify } from "../../../src/domain/draw/proof/Verification.ts"
import { decodeProof, proofText } from "../../../src/domain/draw/proof/Proof.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import { arrives, stockId, taken } from "../mechanism/support/units.ts"
import { at, complete, configure, deny, end, given, type History } from "./history.ts"

const crowd = ["a", "b", "c", "d", "e"]

const drawOf = (settings: Parameters<typeof given>[0] = {}): History => {
  const draw = given({ stockId, winnerCount: 3, ...settings })
  draw.enter(1, ...crowd)
  return draw
}

const report = (draw: History) => decider.units!(draw.state)!

describe("a draw with a stock", () => {
  it("draws as many winners as it has units, and at most its number of winners", () => {
    for (const [units, winners] of [
      [2, 2],
      [9, 3]
    ] as const) {
      const draw = drawOf()
      draw.when(2, arrives(units))
      draw.until(201)
      assert.lengthOf(draw.winners, winners)
    }
  })

  it("proves its winners", () => {
    const draw = drawOf()
    draw.when(2, arrives(2))
    draw.until(201)
    const proof = decodeProof(JSON.parse([...proofText(draw.state, "draw")].join("")))
    assert(proof._tag === "Success")
    assert.strictEqual(proof.success.winnerCount, 2)
    assert.isEmpty(verify(proof.success).checks.filter(({ holds }) => !holds))
  })

  it("waits for its first unit, unless staff end it", () => {
    const draw = drawOf()
    assert.isEmpty(draw.until(300).filter(({ _tag }) => _tag === "Drawn"))
    assert.strictEqual(report(draw).needed, 3)
    draw.when(300, arrives(1))
    draw.until(301)
    assert.lengthOf(draw.winners, 1)
    const ended = drawOf()
    ended.when(300, end)
    ended.until(301)
    assert.isEmpty(ended.winners)
  })

  it("gives back the units that nobody can win any more", () => {
    const draw = drawOf()
    draw.when(2, arrives(9))
    draw.until(100)
    assert.deepInclude(draw.events.at(-1), { _tag: "UnitsLeft", at: at(100), units: 6 })
    draw.when(101, taken(1))
    draw.until(201)
    draw.when(202, deny(draw.winners[0]!))
    assert.deepInclude(draw.until(202)[0], { _tag: "UnitsLeft", transfer: 2, units: 1 })
  })

  it("lets the next in the drawn order win with a unit that comes later, who is none of the drawn winners", () => {
    const draw = drawOf({ continueSelectingUntilCompleted: true })
    draw.when(2, arrives(1))
    draw.until(201)
    draw.when(202, complete(draw.winners[0]!))
    assert.deepInclude(report(draw), { units: 0, sold: 1, needed: 2 })
    draw.when(203, arrives(1, 2))
    draw.until(203)
    assert.lengthOf(draw.winners, 2)
    assert.lengthOf(draw.state.winners, 1)
  })

  it("keeps its stock once it has opened", () => {
    const draw = given()
    assertRefused(draw.when(1, configure({ stockId })), "ConfigurationFixed", { setting: "stockId" })
  })
})
