import { assert, describe, it } from "@effect/vitest"
import { decider } from "../../../src/domain/appointment/Appointment.ts"
import { assertRefused, isEvents } from "../mechanism/support/History.ts"
import {
  archive,
  archived,
  at,
  begin,
  book,
  booked,
  checkedIn,
  closed,
  completed,
  configure,
  end,
  ended,
  endNow,
  given,
  missed,
  rescheduled,
  tornDown
} from "./history.ts"

const allDay = [{ from: "09:00", to: "17:00" }]
const weekdays = { monday: allDay, tuesday: allDay, wednesday: allDay, thursday: allDay, friday: allDay }
const here = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

describe("the end of a slot", () => {
  it("turns BOOKED into NO_SHOW, and completes consumers that are checked in, at that instant", () => {
    const fitting = given({ maxCapacityPerSlot: 2 }, [booked(1, "ada", 0), booked(1, "bob", 0), checkedIn(61, "bob")])
    assert.deepStrictEqual(fitting.until(end(0) - 0.001), [])
    assert.sameDeepMembers([...fitting.noticed(end(0) + 500)], [missed(end(0), "ada"), completed(end(0), "bob")])
  })

  it("is effective in the views before an actor notices it", () => {
    const fitting = given({ maxCapacityPerSlot: 2 }, [booked(1, "ada", 0), booked(1, "bob", 0), checkedIn(61, "bob")])
    assert.deepStrictEqual([fitting.status(89.999, "ada"), fitting.status(89.999, "bob")], ["BOOKED", "CHECKED_IN"])
    assert.deepStrictEqual([fitting.status(90, "ada"), fitting.status(90, "bob")], ["NO_SHOW", "COMPLETED"])
  })

  it("is the end of the slot to which the booking was moved", () => {
    const fitting = given({}, [booked(1, "ada", 0), booked(1, "bob", 1), rescheduled(2, "ada", 2)])
    assert.deepStrictEqual(fitting.until(1_000), [missed(end(1), "bob"), missed(end(2), "ada")])
  })
})

describe("the end of an appointment", () => {
  it("by its time keeps the bookings, and tears down after the last of them", () => {
    const fitting = given({ closeAt: at(10) }, [booked(1, "ada", 0), booked(1, "bob", 3)])
    assert.strictEqual(decider.lifecycle(fitting.state, at(10)), "settling")
    assert.deepStrictEqual(fitting.until(1_000), [
      closed(10),
      missed(end(0), "ada"),
      missed(end(3), "bob"),
      tornDown(end(3))
    ])
    assert.strictEqual(decider.lifecycle(fitting.state, at(1_000)), "closed")
  })

  it("by an admin has the same effect, once", () => {
    const fitting = given({}, [booked(1, "ada", 0)])
    assert.deepStrictEqual(fitting.when(5, endNow), [ended(5)])
    assert.strictEqual(decider.statusFields(fitting.state).teardownStatus, "pending")
    assertRefused(fitting.when(6, book("bob", 1)), "Closed")
    assert.deepStrictEqual(fitting.when(6, endNow), [])
    assert.strictEqual(fitting.status(7, "ada"), "BOOKED")
    assert.deepStrictEqual(fitting.until(1_000), [missed(end(0), "ada"), tornDown(end(0))])
    assert.strictEqual(decider.statusFields(fitting.state).teardownStatus, "completed")
  })

  it("without a booking tears down at once", () => {
    const fitting = given()
    fitting.when(5, endNow)
    assert.deepStrictEqual(fitting.until(5), [tornDown(5)])
  })

  it("by archiving ends an open appointment, and only an open one", () => {
    assert.deepStrictEqual(given().when(5, archive), [ended(5), archived(5)])
    const fitting = given({ closeAt: at(3) })
    assert.deepStrictEqual(fitting.when(5, archive), [archived(5)])
    assert.deepStrictEqual(fitting.when(6, archive), [])
  })

  it("does not come automatically, even when no slot is left", () => {
    const fitting = given()
    assert.deepStrictEqual(fitting.until(14 * 1_440), [])
    assert.strictEqual(decider.lifecycle(fitting.state, at(14 * 1_440)), "open")
  })
})

describe("changing the settings", () => {
  it("to the same values changes nothing", () => {
    assert.deepStrictEqual(given().when(1, configure({})), [])
  })

  it("is refused after the closing", () => {
    assertRefused(given({ closeAt: at(5) }).when(5, configure({ closeAt: at(6) })), "Closed")
  })

  it("cannot move an opening that has passed", () => {
    assertRefused(given().when(1, configure({ openAt: at(2) })), "ConfigurationFixed", { setting: "openAt" })
    const fitting = given({ openAt: at(5) })
    assert.isTrue(isEvents(fitting.when(4, configure({ openAt: at(6) }))))
    assertRefused(fitting.when(6, configure({ openAt: at(9) })), "ConfigurationFixed", { setting: "openAt" })
  })

  it("cannot move the location while there are bookings to come", () => {
    const fitting = given({}, [booked(1, "ada", 0)])
    assertRefused(fitting.when(2, configure({ locationId: here })), "ConfigurationFixed", { setting: "locationId" })
    assert.isTrue(isEvents(fitting.when(end(0), configure({ locationId: here }))))
  })

  it("cannot create slots that overlap a booked one", () => {
    const shifted = { ...weekdays, monday: [{ from: "09:15", to: "17:00" }] }
    for (const [settings, setting] of [
      [{ slotDurationMinutes: 20 }, "slotDurationMinutes"],
      [{ slotDurationMinutes: 60 }, "slotDurationMinutes"],
      [{ bufferMinutes: 10 }, "bufferMinutes"],
      [{ hours: shifted }, "hours"],
      [{ timeZone: "Asia/Kathmandu" }, "timeZone"]
    ] as const) {
      const fitting = given({}, [booked(1, "ada", 3)])
      assertRefused(fitting.when(2, configure(settings)), "ConfigurationFixed", { setting })
      assert.isTrue(isEvents(fitting.when(end(3), configure(settings))), `${setting} changes when the slot is over`)
      assert.isTrue(isEvents(given().when(2, configure(settings))), `${setting} changes where nobody has booked`)
    }
  })

  it("may add slots, and remove slots, also booked ones; their bookings keep their times", () => {
    const withoutMonday = { ...weekdays, monday: [] }
    for (const settings of [
      { hours: { ...weekdays, saturday: allDay } },
      { hours: withoutMonday },
      { slotsUntil: at(100_000) },
      { slotsFrom: at(1_440) },
      { slotsUntil: at(1) },
      { maxCapacityPerSlot: 9 }
    ]) {
      const fitting = given({}, [booked(1, "ada", 3)])
      assert.isTrue(isEvents(fitting.when(2, configure(settings))), JSON.stringify(settings))
      assert.deepInclude(fitting.view(2, "ada"), { status: "BOOKED", startTime: at(begin(3)), endTime: at(end(3)) })
      assert.deepStrictEqual(fitting.until(10_000), [missed(end(3), "ada")])
    }
  })

  it("cannot create overlapping slots again if a booking's own slot was removed", () => {
    const fitting = given({}, [booked(1, "ada", 3)])
    fitting.when(2, configure({ slotsFrom: at(1_440) }))
    fitting.when(3, configure({ slotsFrom: at(1_440), slotDurationMinutes: 45 }))
    assertRefused(fitting.when(4, configure({ slotDurationMinutes: 45 })), "ConfigurationFixed", {
      setting: "slotsFrom"
    })
  })
})
