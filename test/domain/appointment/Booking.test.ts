import { assert, describe, it } from "@effect/vitest"
import { placesMax } from "../../../src/domain/appointment/State.ts"
import { assertRefused, isEvents } from "../mechanism/support/History.ts"
import { at, begin, book, booked, cancel, cancelled, checkedIn, completed, end, given, missed } from "./history.ts"

const here = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"
const elsewhere = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5b"

describe("booking a slot", () => {
  it("a consumer that never booked is NOT_BOOKED", () => {
    assert.deepStrictEqual(given().view(0, "ada"), { status: "NOT_BOOKED" })
  })

  it("gives the slot, an id for the booking, and a code to show", () => {
    const fitting = given()
    assert.deepStrictEqual(fitting.when(1, book("ada", 3)), [booked(1, "ada", 3)])
    const view = fitting.view(1, "ada")
    assert(view.status === "BOOKED")
    assert.deepInclude(view, { startTime: at(begin(3)), endTime: at(end(3)), createdAt: at(1) })
    assert.match(view.bookingId, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    assert.match(view.confirmationCode, /^[2-9A-HJ-NP-Z]{8}$/)
  })

  it("again, for the same slot, changes nothing, whatever the booking's status", () => {
    for (const event of [checkedIn(61, "ada"), completed(62, "ada"), missed(62, "ada")]) {
      const fitting = given({}, [booked(1, "ada", 0)])
      assert.deepStrictEqual(fitting.when(2, book("ada", 0)), [])
      fitting.apply(event)
      assert.deepStrictEqual(fitting.when(63, book("ada", 0)), [])
    }
  })

  it("of another slot is refused, whatever the booking's status", () => {
    for (const event of [checkedIn(61, "ada"), completed(62, "ada"), missed(62, "ada")]) {
      const fitting = given({}, [booked(1, "ada", 0)])
      assertRefused(fitting.when(2, book("ada", 1)), "AlreadyBooked")
      fitting.apply(event)
      assertRefused(fitting.when(63, book("ada", 5)), "AlreadyBooked")
    }
  })

  it("after cancelling makes a new booking", () => {
    const fitting = given({}, [booked(1, "ada", 0), cancelled(2, "ada")])
    assert.deepStrictEqual(fitting.when(3, book("ada", 0)), [booked(3, "ada", 0)])
    assert.deepInclude(fitting.view(3, "ada"), { status: "BOOKED", createdAt: at(3) })
  })

  it("is refused when every place is taken, until one becomes free", () => {
    const fitting = given({ maxCapacityPerSlot: 2 }, [booked(1, "ada", 0), booked(1, "bob", 0)])
    assertRefused(fitting.when(2, book("eve", 0)), "SlotFull")
    assert.deepStrictEqual(fitting.when(2, book("eve", 1)), [booked(2, "eve", 1)])
    fitting.when(3, cancel("ada"))
    assert.deepStrictEqual(fitting.when(4, book("joe", 0)), [booked(4, "joe", 0)])
    assertRefused(fitting.when(5, book("ada", 0)), "SlotFull")
  })

  it("is refused from the moment the slot begins", () => {
    const fitting = given()
    assertRefused(fitting.when(begin(0), book("ada", 0)), "SlotPast")
    assert.isTrue(isEvents(fitting.when(begin(1) - 0.001, book("ada", 1))))
  })

  it("is refused if there is no slot: between two, at night, on a closed day, outside the days, without an id", () => {
    const fitting = given()
    for (const slot of [0.5, -1, 16, 24 * 2 * 5, 24 * 2 * 7, -48]) {
      assertRefused(fitting.when(1, book("ada", slot)), "UnknownSlot")
    }
    assertRefused(fitting.when(1, { _tag: "Book", consumerId: "ada", startTime: undefined }), "UnknownSlot")
    assertRefused(fitting.when(1, { _tag: "Book", consumerId: "ada", startTime: at(60) + 1 }), "UnknownSlot")
  })

  it("is refused at another location", () => {
    assertRefused(given().when(1, book("ada", 0, here)), "UnknownLocation")
    const fitting = given({ locationId: here })
    assertRefused(fitting.when(1, book("ada", 0, elsewhere)), "UnknownLocation")
    assert.deepStrictEqual(fitting.when(1, book("ada", 0, here)), [booked(1, "ada", 0)])
    assert.deepStrictEqual(fitting.when(1, book("bob", 1)), [booked(1, "bob", 1)])
  })

  it("before openAt is refused with the opening time", () => {
    const fitting = given({ openAt: at(30) })
    assertRefused(fitting.when(29, book("ada", 0)), "NotOpen", { opensAt: at(30) })
    assert.deepStrictEqual(fitting.when(30, book("ada", 0)), [booked(30, "ada", 0)])
  })

  it("from closeAt on is refused, but not to a consumer that has booked that slot", () => {
    const fitting = given({ closeAt: at(30) }, [booked(1, "ada", 0)])
    assertRefused(fitting.when(30, book("bob", 1)), "Closed")
    assert.deepStrictEqual(fitting.when(30, book("ada", 0)), [])
  })

  it("is refused at the maximum of known consumers, but not to known ones", () => {
    const fitting = given({}, [booked(1, "ada", 0), cancelled(2, "ada")])
    Object.defineProperty(fitting.state.bookings, "size", { value: placesMax })
    assertRefused(fitting.when(3, book("bob", 0)), "Full", { retryAfterSeconds: 60 })
    assert.deepStrictEqual(fitting.when(3, book("ada", 0)), [booked(3, "ada", 0)])
  })
})

describe("the offered slots", () => {
  it("show the capacity minus the bookings that are not cancelled", () => {
    const fitting = given({ maxCapacityPerSlot: 3 }, [booked(1, "ada", 0), booked(1, "bob", 0), cancelled(2, "bob")])
    assert.deepStrictEqual([fitting.available(3, 0), fitting.available(3, 1)], [2, 3])
  })

  it("do not include a slot that has begun", () => {
    const fitting = given()
    assert.strictEqual(fitting.available(begin(0) - 0.001, 0), 1)
    assert.isUndefined(fitting.available(begin(0), 0))
  })

  it("are none once the appointment has closed", () => {
    const fitting = given({ closeAt: at(10) })
    assert.deepStrictEqual([fitting.available(9, 0), fitting.available(10, 0)], [1, 0])
  })

  it("show no place in a slot with more bookings than a smaller capacity allows", () => {
    const fitting = given({ maxCapacityPerSlot: 2 }, [booked(1, "ada", 0), booked(1, "bob", 0)])
    fitting.when(2, {
      _tag: "Configure",
      configuration: { ...fitting.state.configuration, maxCapacityPerSlot: 1 },
      by: "admin"
    })
    assert.strictEqual(fitting.available(3, 0), 0)
    assertRefused(fitting.when(3, book("eve", 0)), "SlotFull")
  })

  it("do not change after a caller has received them", () => {
    const fitting = given({}, [booked(1, "ada", 0)])
    const { taken } = fitting.facts(2)
    fitting.when(3, book("bob", 1))
    fitting.when(3, cancel("ada"))
    assert.deepStrictEqual(
      [...taken].map(([startTime]) => startTime),
      [at(begin(0))]
    )
  })
})
