import { assert, describe, it } from "@effect/vitest"
import { decider, type Event } from "../../../src/domain/waitlist/Waitlist.ts"
import { placesMax } from "../../../src/domain/waitlist/State.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import {
  at,
  byAdmin,
  configure,
  denied,
  end,
  enter,
  entered,
  given,
  leave,
  left,
  noticeDue,
  noticeScheduled,
  notified,
  remove,
  text
} from "./history.ts"

describe("a member of a waitlist", () => {
  it("is not a member before its first entry", () => {
    assert.deepStrictEqual(given().standing("ada"), { status: "NOT_ENTERED" })
  })

  it("has a position: one more than the members that entered before", () => {
    const waitlist = given({}, [entered(1, "ada")])
    assert.deepStrictEqual(waitlist.when(2, enter("bob")), [entered(2, "bob")])
    assert.deepStrictEqual(waitlist.standing("bob"), { status: "ENTERED", enteredAt: at(2), position: 2 })
    waitlist.when(3, leave("ada"))
    assert.deepStrictEqual(waitlist.positions("ada", "bob"), [undefined, 1])
  })

  it("keeps the order of the commands with another member in the same millisecond", () => {
    assert.deepStrictEqual(given({}, [entered(1, "bob"), entered(1, "ada")]).positions("bob", "ada"), [1, 2])
  })

  it("enters once: the command again changes nothing, notified or not", () => {
    const waitlist = given({ capacity: 1 }, [entered(1, "ada")])
    assert.deepStrictEqual(waitlist.when(2, enter("ada")), [])
    waitlist.apply(notified(3, "ada", "email"))
    assert.deepStrictEqual(waitlist.when(4, enter("ada")), [])
  })

  it("comes back at the end after it has left", () => {
    const waitlist = given({}, [entered(1, "ada"), entered(2, "bob"), left(3, "ada")])
    assert.deepStrictEqual(waitlist.standing("ada"), { status: "LEFT", enteredAt: at(1), leftAt: at(3) })
    assert.deepStrictEqual(waitlist.when(4, enter("ada")), [entered(4, "ada")])
    assert.deepStrictEqual(waitlist.positions("bob", "ada"), [1, 2])
    assert.deepInclude(waitlist.standing("ada"), { status: "ENTERED", enteredAt: at(4) })
  })

  it("is not accepted before the waitlist opens, nor after it closed, by time or by an admin", () => {
    const waitlist = given({ openAt: at(10), closeAt: at(20) })
    assertRefused(waitlist.when(9.999, enter("ada")), "NotOpen", { opensAt: at(10) })
    assert.deepStrictEqual(waitlist.when(10, enter("ada")), [entered(10, "ada")])
    assertRefused(waitlist.unnoticed(20, enter("bob")), "Closed")
    assertRefused(waitlist.when(20, enter("bob")), "Closed")
    assert.deepStrictEqual(waitlist.when(21, enter("ada")), [])
    const over = given({}, [entered(1, "ada"), left(2, "ada")])
    over.when(3, end)
    assertRefused(over.when(4, enter("bob")), "Closed")
    assert.deepStrictEqual(over.when(4, enter("ada")), [])
  })

  it("is not accepted beyond the capacity, against which notified members count", () => {
    const waitlist = given({ capacity: 2 }, [entered(1, "ada"), entered(2, "bob"), notified(3, "ada")])
    assertRefused(waitlist.when(4, enter("eve")), "Full", { retryAfterSeconds: 60 })
    waitlist.when(5, leave("ada"))
    assert.deepStrictEqual(waitlist.when(6, enter("eve")), [entered(6, "eve")])
    assertRefused(waitlist.when(7, enter("ada")), "Full", { retryAfterSeconds: 60 })
    waitlist.when(8, configure({}))
    assert.deepStrictEqual(waitlist.when(9, enter("ada")), [entered(9, "ada")])
  })

  it("is not accepted beyond the maximum of known consumers", () => {
    const waitlist = given()
    Object.defineProperty(waitlist.state.places, "size", { value: placesMax })
    assertRefused(waitlist.when(1, enter("ada")), "Full", { retryAfterSeconds: 60 })
  })

  it("can leave at any time, also after the closing, and leaving again changes nothing", () => {
    const waitlist = given({ closeAt: at(10) }, [entered(1, "ada"), entered(1, "bob"), notified(2, "bob")])
    assert.deepStrictEqual(waitlist.when(11, leave("ada")), [left(11, "ada")])
    assert.deepStrictEqual(waitlist.when(11, leave("bob")), [left(11, "bob")])
    assert.deepStrictEqual(waitlist.when(12, leave("ada")), [])
  })

  it("cannot leave before it has entered, nor after a denial", () => {
    const waitlist = given({}, [entered(1, "ada")])
    assertRefused(waitlist.when(2, leave("bob")), "WrongStatus", { status: "NOT_ENTERED" })
    waitlist.when(3, end)
    assertRefused(waitlist.when(4, leave("ada")), "WrongStatus", { status: "DENIED" })
  })
})

describe("an archived consumer", () => {
  it("leaves, whether or not it was notified", () => {
    const waitlist = given({}, [entered(1, "ada"), entered(1, "bob"), notified(2, "bob"), entered(3, "eve")])
    assert.deepStrictEqual(waitlist.when(4, remove("ada")), [byAdmin(left(4, "ada"))])
    assert.deepStrictEqual(waitlist.when(4, remove("bob")), [byAdmin(left(4, "bob"))])
    for (const name of ["ada", "bob", "nobody"]) assert.deepStrictEqual(waitlist.when(5, remove(name)), [])
    waitlist.when(6, end)
    assert.deepStrictEqual(waitlist.when(7, remove("eve")), [])
  })
})

describe("the row for search and lists", () => {
  const row = (...events: ReadonlyArray<Event>) => decider.place(given({}, events).state, "ada")

  it("is absent for a consumer that never entered", () => {
    assert.isUndefined(row())
  })

  it("contains the fields of the status in their public form", () => {
    const entry = entered(1, "ada")
    assert.deepStrictEqual(row(entry), { status: "ENTERED", enteredAt: at(1), updatedAt: at(1), fields: {} })
    assert.deepStrictEqual(row(entry, notified(2, "ada", "phone")), {
      status: "NOTIFIED",
      enteredAt: at(1),
      updatedAt: at(2),
      fields: { notifiedAt: text(2), channel: "phone" }
    })
    assert.deepStrictEqual(row(entry, notified(2, "ada"))?.fields, { notifiedAt: text(2) })
    assert.deepStrictEqual(row(entry, left(3, "ada"))?.fields, { leftAt: text(3) })
    assert.deepStrictEqual(row(entry, denied(3, "ada"))?.fields, { reason: "WAITLIST_CLOSED", deniedAt: text(3) })
  })

  it("shows when a member that came back was notified", () => {
    const events = [noticeScheduled(1, 2), entered(1, "ada"), noticeDue(2), notified(3, "ada", "email")]
    assert.deepStrictEqual(row(...events, left(4, "ada"), entered(5, "ada")), {
      status: "NOTIFIED",
      enteredAt: at(5),
      updatedAt: at(5),
      fields: { notifiedAt: text(3), channel: "email" }
    })
  })
})
