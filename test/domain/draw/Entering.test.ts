import { assert, describe, it } from "@effect/vitest"
import { decider } from "../../../src/domain/draw/Draw.ts"
import { placesMax } from "../../../src/domain/draw/Configuration.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import { at, complete, deny, denied, enter, enterAsGuest, entered, given, leave, left } from "./history.ts"

describe("entering a draw", () => {
  it("makes an entry and shows it with its own id", () => {
    const draw = given()
    assert.deepStrictEqual(draw.view(0, "ada"), { status: "NOT_ENTERED" })
    assert.deepStrictEqual(draw.when(1, enter("ada")), [entered(1, "ada")])
    assert.deepStrictEqual(draw.view(2, "ada"), { status: "ENTERED", enteredAt: at(1), entryId: draw.entryId("ada") })
    assert.match(draw.entryId("ada"), /^[0-9a-f]{26}$/)
  })

  it("again changes nothing", () => {
    const draw = given({}, [entered(1, "ada")])
    assert.deepStrictEqual(draw.when(2, enter("ada")), [])
  })

  it("gives each entry its own id, which cannot be computed from its number without the salt", () => {
    const draw = given()
    draw.enter(1, "ada", "bob")
    const other = given()
    other.state.salt = "ff".repeat(16)
    other.enter(1, "ada", "bob")
    const names = ["ada", "bob"].flatMap((consumerId) => [draw.entryId(consumerId), other.entryId(consumerId)])
    assert.lengthOf(new Set(names), 4)
  })

  it("records the loyalty score in steps of a millionth, limited to 1, and omits a score of 0", () => {
    const draw = given()
    assert.deepStrictEqual(draw.when(1, enter("ada", 1 / 3)), [entered(1, "ada", 0.333333)])
    assert.deepStrictEqual(draw.when(1, enter("bob", 7)), [entered(1, "bob", 1)])
    assert.deepStrictEqual(draw.when(1, enter("eve", 0.0000001)), [entered(1, "eve")])
  })

  it("weights by loyalty only if the draw is biased", () => {
    const weight = (settings: object, score: number) => {
      const draw = given(settings)
      draw.when(1, enter("ada", score))
      return draw.state.places.get("ada")!.weight
    }
    assert.strictEqual(weight({}, 1), 1_000_000)
    assert.strictEqual(weight({ loyaltyBiasEnabled: true }, 0), 1_000_000)
    assert.strictEqual(weight({ loyaltyBiasEnabled: true }, 0.5), 1_500_000)
    assert.strictEqual(weight({ loyaltyBiasEnabled: true, loyaltyWeight: 2.5 }, 0.333333), 1_833_333)
    assert.strictEqual(weight({ loyaltyBiasEnabled: true, loyaltyWeight: 1_000 }, 1), 1_001_000_000)
  })

  it("is refused before it opens, from its closing on, and after it ended", () => {
    const draw = given({ openAt: at(10) })
    assertRefused(draw.when(9.999, enter("ada")), "NotOpen", { opensAt: at(10) })
    draw.enter(10, "ada")
    assertRefused(draw.unnoticed(100, enter("bob")), "Closed")
    assertRefused(draw.when(100, enter("bob")), "Closed")
    assert.deepStrictEqual(draw.when(100, enter("ada")), [])
    const ended = given()
    ended.when(1, { _tag: "End", by: "admin" })
    assertRefused(ended.when(1, enter("ada")), "Closed")
  })

  it("is refused to guests if they are not supported", () => {
    assertRefused(given({ supportsGuest: false }).when(1, enterAsGuest("ada")), "GuestsRefused")
    assert.deepStrictEqual(given().when(1, enterAsGuest("ada")), [entered(1, "ada")])
  })

  it("is refused at the maximum of entries, until one leaves or is denied", () => {
    const draw = given({ capacity: 2 }, [entered(1, "ada"), entered(1, "bob")])
    assertRefused(draw.when(2, enter("eve")), "Full", { retryAfterSeconds: 60 })
    assert.deepStrictEqual(draw.when(2, enter("ada")), [])
    draw.when(3, leave("ada"))
    draw.enter(3, "eve")
    assertRefused(draw.when(3, enter("ada")), "Full", { retryAfterSeconds: 60 })
    draw.when(4, deny("eve"))
    draw.enter(4, "ada")
  })

  it("is refused at the maximum of known consumers, but not to known ones", () => {
    const draw = given({}, [entered(1, "ada"), left(2, "ada")])
    const { places } = draw.state
    Object.defineProperty(places, "size", { value: placesMax })
    assertRefused(draw.unnoticed(3, enter("bob")), "Full", { retryAfterSeconds: 60 })
    assert.deepStrictEqual(draw.unnoticed(3, enter("ada")), [entered(3, "ada")])
  })
})

describe("leaving a draw", () => {
  it("withdraws the entry: the consumer counts as one that never entered", () => {
    const draw = given({}, [entered(1, "ada")])
    assert.deepStrictEqual(draw.when(2, leave("ada")), [left(2, "ada")])
    assert.deepStrictEqual(draw.view(3, "ada"), { status: "NOT_ENTERED", leftAt: at(2) })
    assert.deepStrictEqual(decider.place(draw.state, "ada"), {
      status: "LEFT",
      enteredAt: at(1),
      updatedAt: at(2),
      fields: { leftAt: "2026-11-21T18:00:02.000Z" }
    })
    assert.deepStrictEqual(decider.counts(draw.state), { ENTERED: 0, WON: 0, COMPLETED: 0, DENIED: 0, LEFT: 1 })
  })

  it("lets it enter again, with another entry", () => {
    const draw = given({}, [entered(1, "ada")])
    const before = draw.entryId("ada")
    draw.when(2, leave("ada"))
    assert.deepStrictEqual(draw.when(3, enter("ada")), [entered(3, "ada")])
    assert.notStrictEqual(draw.entryId("ada"), before)
    assert.deepInclude(draw.view(3, "ada"), { status: "ENTERED", enteredAt: at(3) })
    assert.deepStrictEqual(decider.counts(draw.state), { ENTERED: 1, WON: 0, COMPLETED: 0, DENIED: 0, LEFT: 0 })
  })

  it("is refused without an entry, also the second time", () => {
    const draw = given({}, [entered(1, "ada"), left(2, "ada")])
    assertRefused(draw.when(3, leave("ada")), "NotEntered")
    assertRefused(draw.when(3, leave("bob")), "NotEntered")
  })

  it("is possible between the closing and the drawing, and is then final", () => {
    const draw = given({}, [entered(1, "ada"), entered(1, "bob")])
    draw.until(150)
    assert.deepStrictEqual(draw.when(150, leave("ada")), [left(150, "ada")])
    assertRefused(draw.when(151, enter("ada")), "Closed")
    draw.until(200)
    assert.deepStrictEqual(draw.winners, ["bob"])
  })

  it("is refused once it has won, or is denied", () => {
    const draw = given({ winnerCount: 2 }, [entered(1, "ada"), entered(1, "bob"), entered(1, "eve"), entered(1, "joe")])
    draw.when(2, deny("joe"))
    assertRefused(draw.when(2, leave("joe")), "WrongStatus", { status: "DENIED" })
    draw.until(200)
    const [first, second] = draw.winners as [string, string]
    const loser = ["ada", "bob", "eve"].find((consumerId) => !draw.winners.includes(consumerId))!
    draw.when(201, complete(second))
    assertRefused(draw.when(201, leave(first)), "AlreadyGranted")
    assertRefused(draw.when(201, leave(second)), "AlreadyGranted")
    assertRefused(draw.when(201, leave(loser)), "WrongStatus", { status: "DENIED" })
  })
})

describe("denying an entry", () => {
  it("removes it from the draw, with the reason", () => {
    const draw = given({}, [entered(1, "ada")])
    assert.deepStrictEqual(draw.when(2, deny("ada")), [denied(2, "ada")])
    assert.deepStrictEqual(draw.view(2, "ada"), {
      status: "DENIED",
      enteredAt: at(1),
      reason: "FRAUD_DETECTED",
      deniedAt: at(2)
    })
    assert.deepStrictEqual(draw.when(3, deny("ada")), [])
    assert.deepStrictEqual(draw.when(3, enter("ada")), [])
  })

  it("is refused for a consumer that has not entered", () => {
    const draw = given({}, [entered(1, "ada"), left(2, "ada")])
    assertRefused(draw.when(3, deny("ada")), "WrongStatus", { status: "NOT_ENTERED" })
    assertRefused(draw.when(3, deny("bob")), "WrongStatus", { status: "NOT_ENTERED" })
  })

  it("after the closing keeps it in the list, and it cannot win", () => {
    const draw = given({ winnerCount: 3 }, [entered(1, "ada"), entered(1, "bob"), entered(1, "eve")])
    draw.until(150)
    draw.when(150, deny("bob"))
    const { entryId } = draw.view(150, "bob") as { readonly entryId: string }
    assert.strictEqual(entryId, draw.entryId("bob"))
    draw.until(200)
    assert.sameMembers([...draw.winners], ["ada", "eve"])
  })
})

describe("completing", () => {
  it("is refused for a consumer that has not won", () => {
    const draw = given({}, [entered(1, "ada")])
    assertRefused(draw.when(2, complete("ada")), "WrongStatus", { status: "ENTERED" })
    assertRefused(draw.when(2, complete("bob")), "WrongStatus", { status: "NOT_ENTERED" })
    draw.when(3, leave("ada"))
    assertRefused(draw.when(4, complete("ada")), "WrongStatus", { status: "NOT_ENTERED" })
  })
})
