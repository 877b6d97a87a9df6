import { assert, describe, it } from "@effect/vitest"
import { declaration, decider } from "../../../src/domain/waitlist/Waitlist.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import { arrives, stockId, taken } from "../mechanism/support/units.ts"
import {
  at,
  closed,
  configure,
  denied,
  end,
  enter,
  entered,
  given,
  leave,
  markNotified,
  noticeDue,
  remove,
  scheduleNotice,
  text,
  tornDown
} from "./history.ts"

const offering = { offers: true, stockId, admissionExpirationSeconds: 10 }

const offered = (seconds: number, consumerId: string) => ({ _tag: "Offered", at: at(seconds), consumerId }) as const
const expired = (seconds: number, consumerId: string) => ({ _tag: "Expired", at: at(seconds), consumerId }) as const
const complete = (consumerId: string) => ({ _tag: "Complete", consumerId, by: "shop" }) as const
const deny = (consumerId: string) => ({ _tag: "Deny", consumerId, by: "shop", reason: "FRAUD_DETECTED" }) as const

/** A waitlist with offers, and members that entered in this order. */
const withMembers = (...consumerIds: ReadonlyArray<string>) => {
  const waitlist = given(offering)
  for (const consumerId of consumerIds) waitlist.when(0, enter(consumerId))
  return waitlist
}

describe("a waitlist with offers", () => {
  it("offers each unit that comes to the member that has waited longest, with a time to use it", () => {
    const waitlist = withMembers("ada", "bob", "eve")
    assert.deepInclude(decider.units!(waitlist.state)!, { units: 0, held: 0, needed: 3, isOpen: true, isShelf: false })
    waitlist.when(1, arrives(2))
    assert.deepStrictEqual(waitlist.until(1), [offered(1, "ada"), offered(1, "bob")])
    assert.deepStrictEqual(waitlist.standing("ada"), {
      status: "OFFERED",
      enteredAt: at(0),
      offeredAt: at(1),
      expiresAt: at(11),
      grantSequence: 6
    })
    assert.deepStrictEqual(waitlist.positions("ada", "bob", "eve"), [undefined, undefined, 1])
    assert.deepInclude(decider.units!(waitlist.state)!, { units: 2, held: 2, needed: 1 })
    assert.deepStrictEqual(decider.place(waitlist.state, "ada")!.fields, { offeredAt: text(1), expiresAt: text(11) })
  })

  it("lets an offer that is not used lapse, and offers the unit to the next at the same instant", () => {
    const waitlist = withMembers("ada", "bob")
    waitlist.when(1, arrives(1))
    waitlist.until(1)
    assert.deepStrictEqual(waitlist.until(11), [expired(11, "ada"), offered(11, "bob")])
    assert.deepStrictEqual(waitlist.standing("ada"), { status: "EXPIRED", enteredAt: at(0), expiresAt: at(11) })
    assert.deepStrictEqual(waitlist.when(12, enter("ada")), [entered(12, "ada")])
    assert.deepStrictEqual(waitlist.positions("ada"), [1])
  })

  it("gives the whole time to an offer that is made late, because the process was down", () => {
    const waitlist = withMembers("ada", "bob")
    waitlist.when(1, arrives(1))
    waitlist.until(1)
    assert.deepStrictEqual(waitlist.noticed(100), [expired(11, "ada"), offered(100, "bob")])
  })

  it("offers a unit that is declined, or taken away, to the next", () => {
    const waitlist = withMembers("ada", "bob", "eve", "joe")
    waitlist.when(1, arrives(1))
    waitlist.until(1)
    assert.deepStrictEqual(waitlist.when(2, leave("ada")), [{ _tag: "Left", at: at(2), consumerId: "ada" }])
    assert.deepStrictEqual(waitlist.until(2), [offered(2, "bob")])
    assert.deepStrictEqual(waitlist.when(3, deny("bob")), [
      { _tag: "Denied", at: at(3), consumerId: "bob", reason: "FRAUD_DETECTED", by: "shop" }
    ])
    assert.deepStrictEqual(waitlist.until(3), [offered(3, "eve")])
    assert.deepStrictEqual(waitlist.when(4, remove("eve")), [
      { _tag: "Denied", at: at(4), consumerId: "eve", reason: "ADMIN_ACTION", by: "admin" }
    ])
    assert.deepStrictEqual(waitlist.until(4), [offered(4, "joe")])
    assert.strictEqual(waitlist.standing("bob").status, "DENIED")
    assert.deepStrictEqual(waitlist.when(5, enter("bob")), [])
  })

  it("sells a unit once, and counts it as sold", () => {
    const waitlist = withMembers("ada", "bob")
    waitlist.when(1, arrives(1))
    waitlist.until(1)
    const sale = waitlist.when(2, complete("ada"))
    assert(Array.isArray(sale) && sale[0]!._tag === "Completed")
    assertRefused(waitlist.when(3, complete("ada")), "AlreadyCompleted", { grantSequence: 5 })
    assertRefused(waitlist.when(3, complete("bob")), "WrongStatus", { status: "ENTERED" })
    assert.deepStrictEqual(waitlist.until(100), [])
    assert.deepStrictEqual(waitlist.standing("ada"), {
      status: "COMPLETED",
      enteredAt: at(0),
      completedAt: at(2),
      completedGrant: 5
    })
    assert.deepInclude(decider.units!(waitlist.state)!, { units: 0, held: 0, sold: 1, needed: 1 })
    assert.deepStrictEqual(waitlist.when(101, enter("ada")), [])
  })

  it("closes for those who wait, and keeps the offers that it made", () => {
    const waitlist = given({ ...offering, closeAt: at(5) })
    for (const consumerId of ["ada", "bob"]) waitlist.when(0, enter(consumerId))
    waitlist.when(1, arrives(1))
    waitlist.until(4)
    assert.deepStrictEqual(waitlist.until(5), [closed(5), denied(5, "bob")])
    assert.deepInclude(waitlist.standing("bob"), { status: "DENIED", reason: "WAITLIST_CLOSED" })
    assert.strictEqual(waitlist.standing("ada").status, "OFFERED")
    assert.deepStrictEqual(waitlist.until(11), [
      expired(11, "ada"),
      { _tag: "UnitsLeft", at: at(11), transfer: 1, units: 1 }
    ])
    waitlist.when(12, taken(1))
    assert.deepStrictEqual(waitlist.until(12), [tornDown(12)])
  })

  it("extends offers", () => {
    const waitlist = withMembers("ada")
    waitlist.when(1, arrives(1))
    waitlist.until(1)
    waitlist.when(2, { _tag: "Extend", to: { seconds: 5 }, by: "admin" })
    assert.deepInclude(waitlist.standing("ada"), { expiresAt: at(16) })
    assert.deepStrictEqual(waitlist.until(16), [expired(16, "ada")])
  })

  it("sends no notices", () => {
    const waitlist = withMembers("ada")
    waitlist.when(1, scheduleNotice(2))
    assert.deepStrictEqual(waitlist.until(3), [noticeDue(2)])
    assert.isFalse(decider.needsEffect!(waitlist.state))
    assert.deepStrictEqual(waitlist.when(3, markNotified("ada", "email")), [])
  })

  it("stays what it is once it has opened", () => {
    const waitlist = given(offering)
    assertRefused(waitlist.when(1, configure({ ...offering, offers: false })), "ConfigurationFixed", {
      setting: "offers"
    })
    assertRefused(given().when(1, configure(offering)), "ConfigurationFixed", { setting: "stockId" })
    const later = given({ openAt: at(10) })
    assert.isArray(later.when(1, configure({ ...offering, openAt: at(10) })))
  })

  it("ends at once if an admin ends it, and gives back what no offer holds", () => {
    const waitlist = withMembers("ada")
    waitlist.when(1, arrives(3))
    waitlist.until(1)
    waitlist.when(2, end)
    assert.deepStrictEqual(waitlist.until(2), [{ _tag: "UnitsLeft", at: at(2), transfer: 1, units: 2 }])
  })

  it("gives an hour to use an offer unless the brand says how long", () => {
    assert.deepInclude(declaration.defaults({ offers: true }), { admissionExpirationSeconds: 3_600 })
    assert.notProperty(declaration.defaults({}), "admissionExpirationSeconds")
  })
})
