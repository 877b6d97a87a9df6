import { assert, describe, it } from "@effect/vitest"
import { placesMax } from "../../../src/domain/queue/State.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import {
  admit,
  admitted,
  at,
  complete,
  completed,
  configure,
  deny,
  denied,
  enter,
  enterAsGuest,
  entered,
  expired,
  given,
  leave,
  left
} from "./history.ts"

describe("entering a queue", () => {
  it("a consumer that never entered is NOT_QUEUED", () => {
    assert.deepStrictEqual(given().view(0, "ada"), { status: "NOT_QUEUED" })
  })

  it("gives a place at the end", () => {
    const queue = given({}, [entered(1, "ada")])
    assert.deepStrictEqual(queue.when(2, enter("bob")), [entered(2, "bob")])
    assert.deepStrictEqual(queue.view(2, "bob"), {
      status: "QUEUED",
      position: 2,
      ticket: 2,
      joined: 2,
      positionDisplayMode: "precise",
      enteredAt: at(2)
    })
  })

  it("in the same millisecond as another consumer keeps the order of the commands", () => {
    const queue = given({}, [entered(1, "bob"), entered(1, "ada")])
    assert.deepStrictEqual([queue.position(1, "bob"), queue.position(1, "ada")], [1, 2])
  })

  it("again changes nothing, whatever the place's status", () => {
    const queue = given({}, [entered(1, "ada")])
    assert.deepStrictEqual(queue.when(2, enter("ada")), [])
    queue.when(3, admit("ada"))
    assert.deepStrictEqual(queue.when(4, enter("ada")), [])
    queue.when(5, complete("ada"))
    assert.deepStrictEqual(queue.when(6, enter("ada")), [])
    assert.deepStrictEqual(given({}, [entered(1, "bob"), denied(2, "bob")]).when(3, enter("bob")), [])
  })

  it("after leaving takes a new place at the end", () => {
    const queue = given({}, [entered(1, "ada"), entered(2, "bob"), left(3, "ada")])
    assert.deepStrictEqual(queue.when(4, enter("ada")), [entered(4, "ada")])
    assert.deepStrictEqual([queue.position(4, "bob"), queue.position(4, "ada")], [1, 2])
    assert.deepInclude(queue.view(4, "ada"), { enteredAt: at(4) })
  })

  it("after an expired grant takes a new place at the end", () => {
    const queue = given({ admissionExpirationSeconds: 10 }, [entered(1, "ada"), admitted(2, "ada"), entered(3, "bob")])
    assert.deepStrictEqual(queue.when(11.999, enter("ada")), [])
    assert.deepStrictEqual(queue.when(12, enter("ada")), [entered(12, "ada")])
    assert.strictEqual(queue.position(12, "ada"), 2)
  })

  it("records the expiry first if it was not noticed yet", () => {
    const queue = given({ admissionExpirationSeconds: 10 }, [entered(1, "ada"), admitted(2, "ada")])
    assert.deepStrictEqual(queue.unnoticed(20, enter("ada")), [expired(12, "ada"), entered(20, "ada")])
  })

  it("after a denial for another reason is not possible", () => {
    const queue = given({}, [entered(1, "ada")])
    queue.when(2, deny("ada"))
    assert.deepStrictEqual(queue.when(3, enter("ada")), [])
    assert.deepStrictEqual(queue.view(3, "ada"), {
      status: "DENIED",
      enteredAt: at(1),
      reason: "FRAUD_DETECTED",
      deniedAt: at(2)
    })
  })

  it("before openAt is refused with the opening time", () => {
    const queue = given({ openAt: at(60) })
    assertRefused(queue.when(59.999, enter("ada")), "NotOpen", { opensAt: at(60) })
    assert.deepStrictEqual(queue.when(60, enter("ada")), [entered(60, "ada")])
  })

  it("before the lobby opens is refused with the lobby's opening time", () => {
    const queue = given({ openAt: at(60), lobbyOpenAt: at(30) })
    assertRefused(queue.when(29, enter("ada")), "NotOpen", { opensAt: at(30) })
  })

  it("at closeAt is refused to a consumer without a place", () => {
    const queue = given({ closeAt: at(60) }, [entered(1, "ada"), left(2, "ada")])
    assertRefused(queue.when(60, enter("bob")), "Closed")
    assert.deepStrictEqual(queue.when(60, enter("ada")), [])
    assert.strictEqual(queue.status(60, "ada"), "LEFT")
  })

  it("as a guest is refused if guests are not supported, and accepted if they are", () => {
    assertRefused(given({ supportsGuest: false }).when(1, enterAsGuest("ada")), "GuestsRefused")
    assert.deepStrictEqual(given().when(1, enterAsGuest("ada")), [{ _tag: "Entered", at: at(1), consumerId: "ada" }])
  })

  it("as a guest with a place returns that place, even if guests are no longer supported", () => {
    const queue = given()
    queue.when(1, enterAsGuest("ada"))
    queue.when(2, configure({ supportsGuest: false }))
    assert.deepStrictEqual(queue.when(3, enterAsGuest("ada")), [])
  })

  it("is refused at the maximum of waiting consumers, until one leaves the line", () => {
    const queue = given({ capacity: 2, admitRate: 0 }, [entered(1, "ada"), entered(2, "bob")])
    assertRefused(queue.when(3, enter("eve")), "Full", { retryAfterSeconds: 60 })
    queue.when(4, leave("ada"))
    assert.deepStrictEqual(queue.when(5, enter("eve")), [entered(5, "eve")])
  })

  it("at a full queue returns the time between two admissions, rounded up to a second", () => {
    const full = (admitRate: number) => given({ capacity: 1, admitRate }, [entered(0, "ada"), entered(0, "bob")])
    assertRefused(full(7).when(0.001, enter("eve")), "Full", { retryAfterSeconds: 9 })
    assertRefused(full(600).when(0.001, enter("eve")), "Full", { retryAfterSeconds: 1 })
  })

  it("at a full lobby returns the time until the opening and one admission after it", () => {
    const queue = given({ capacity: 1, admitRate: 6, lobbyOpenAt: at(10), openAt: at(60) }, [entered(10, "ada")])
    assertRefused(queue.when(20, enter("bob")), "Full", { retryAfterSeconds: 50 })
  })

  it("counts only waiting consumers against the capacity", () => {
    const queue = given({ capacity: 1 }, [
      entered(1, "ada"),
      admitted(2, "ada"),
      entered(3, "bob"),
      completed(4, "ada")
    ])
    assertRefused(queue.when(5, enter("eve")), "Full", { retryAfterSeconds: 60 })
    queue.when(6, admit("bob"))
    assert.deepStrictEqual(queue.when(7, enter("eve")), [entered(7, "eve")])
  })

  it("beyond the maximum of one queue is refused, but not to consumers that have a place", () => {
    const queue = given({}, [entered(1, "ada"), left(2, "ada")])
    Object.defineProperty(queue.state.places, "size", { value: placesMax })
    assertRefused(queue.when(3, enter("bob")), "Full", { retryAfterSeconds: 60 })
    assert.deepStrictEqual(queue.when(3, enter("ada")), [entered(3, "ada")])
  })
})
