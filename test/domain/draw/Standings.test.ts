import { assert, describe, it } from "@effect/vitest"
import { at, byAdmin, complete, denied, deny, entered, given, type History, leave, left, remove } from "./history.ts"

const names = ["ada", "bob", "eve", "joe", "kim"]

/** Five entries in a draw with the settings of the test. */
const five = (settings: Parameters<typeof given>[0] = {}): History =>
  given(
    settings,
    names.map((name, index) => entered(index, name))
  )

/** Returns the drawn order of the five entries. */
const order = (): ReadonlyArray<string> => {
  const draw = five({ winnerCount: 5 })
  draw.until(200)
  return draw.winners
}

describe("the time of the drawing", () => {
  it("is in every view, so that a consumer that may still win can see that the draw has taken place", () => {
    const draw = five({ continueSelectingUntilCompleted: true })
    const told = (seconds: number, name: string) => {
      const { status, drawnAt } = draw.view(seconds, name)
      return [status, drawnAt]
    }
    draw.when(50, leave(names[4]!))
    draw.until(199)
    for (const name of [...names, "nobody"]) assert.strictEqual(told(199, name)[1], undefined)
    draw.until(200)
    const [first] = draw.winners as [string]
    const [second, third] = names.filter((name) => name !== first) as [string, string]
    assert.deepStrictEqual(told(200, first), ["WON", at(200)])
    assert.deepStrictEqual(told(200, second), ["ENTERED", at(200)])
    assert.deepStrictEqual(told(200, names[4]!), ["NOT_ENTERED", at(200)])
    assert.deepStrictEqual(told(200, "nobody"), ["NOT_ENTERED", at(200)])
    draw.when(230, deny(third))
    assert.deepStrictEqual(told(230, third), ["DENIED", at(200)])
    draw.when(231, complete(first))
    assert.deepStrictEqual(told(231, first), ["COMPLETED", at(200)])
  })
})

describe("an archived consumer", () => {
  it("withdraws, also after the closing, and then cannot win", () => {
    const all = order()
    const draw = five({ winnerCount: 2 })
    draw.until(150)
    assert.deepStrictEqual(draw.when(150, remove(all[0]!)), [byAdmin(left(150, all[0]!))])
    assert.deepStrictEqual(draw.when(151, remove(all[0]!)), [])
    assert.deepStrictEqual(draw.when(151, remove("nobody")), [])
    draw.until(200)
    assert.deepStrictEqual(draw.winners, [all[1]!, all[2]!])
  })

  it("loses its win, which goes to the next consumer if selection continues", () => {
    const draw = five({ continueSelectingUntilCompleted: true })
    draw.until(200)
    const [winner, next] = order() as [string, string]
    assert.deepStrictEqual(draw.when(210, remove(winner)), [denied(210, winner, "ADMIN_ACTION")])
    draw.until(210)
    assert.deepStrictEqual(draw.winners, [winner, next])
    assert.deepStrictEqual(draw.when(211, remove(winner)), [])
  })

  it("keeps completed wins and those lost before", () => {
    const draw = five()
    draw.until(200)
    const [winner, other] = order() as [string, string]
    draw.when(210, complete(winner))
    assert.deepStrictEqual(draw.when(211, remove(winner)), [])
    assert.deepStrictEqual(draw.when(211, remove(other)), [])
  })
})
