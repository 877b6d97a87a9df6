import { assert, describe, it } from "@effect/vitest"
import { assertRefused } from "../mechanism/support/History.ts"
import {
  at,
  begin,
  booked,
  byAdmin,
  cancel,
  cancelled,
  checkedIn,
  checkIn,
  complete,
  completed,
  end,
  given,
  miss,
  missed,
  remove,
  reschedule,
  rescheduled
} from "./history.ts"

const settled = [checkedIn(2, "ada"), completed(2, "ada"), cancelled(2, "ada"), missed(2, "ada")]
const statusOf = { CheckedIn: "CHECKED_IN", Completed: "COMPLETED", Cancelled: "CANCELLED", Missed: "NO_SHOW" } as const

describe("rescheduling", () => {
  it("frees the old slot and takes the new one; the booking stays the same", () => {
    const fitting = given({}, [booked(1, "ada", 0)])
    const before: object = fitting.view(1, "ada")
    assert.deepStrictEqual(fitting.when(2, reschedule("ada", 4)), [rescheduled(2, "ada", 4)])
    assert.deepStrictEqual<object>(fitting.view(2, "ada"), {
      ...before,
      startTime: at(begin(4)),
      endTime: at(end(4)),
      updatedAt: at(2),
      revision: 1
    })
    assert.deepStrictEqual([fitting.available(2, 0), fitting.available(2, 4)], [1, 0])
  })

  it("to the same slot changes nothing, also after the closing", () => {
    const fitting = given({ closeAt: at(10) }, [booked(1, "ada", 0)])
    assert.deepStrictEqual(fitting.when(2, reschedule("ada", 0)), [])
    assert.deepStrictEqual(fitting.when(11, reschedule("ada", 0)), [])
  })

  it("keeps the old slot if the new one is not available", () => {
    const fitting = given({}, [booked(1, "ada", 0), booked(1, "bob", 1)])
    assertRefused(fitting.when(2, reschedule("ada", 1)), "SlotFull")
    assertRefused(fitting.when(2, reschedule("ada", 0.5)), "UnknownSlot")
    assertRefused(fitting.when(2, { _tag: "Reschedule", consumerId: "ada", startTime: undefined }), "UnknownSlot")
    assert.deepInclude(fitting.view(2, "ada"), { status: "BOOKED", startTime: at(begin(0)) })
    assert.strictEqual(fitting.available(2, 0), 0)
  })

  it("is refused when the old or the new slot has begun", () => {
    const fitting = given({}, [booked(1, "ada", 0), booked(1, "bob", 5)])
    assertRefused(fitting.when(begin(0), reschedule("ada", 5)), "SlotPast")
    assertRefused(fitting.when(begin(0), reschedule("bob", 0)), "SlotPast")
  })

  it("is refused before the opening and after the closing", () => {
    const moved = given({ openAt: at(10) }, [booked(1, "ada", 0)])
    assertRefused(moved.when(9, reschedule("ada", 1)), "NotOpen", { opensAt: at(10) })
    const over = given({ closeAt: at(10) }, [booked(1, "ada", 0)])
    assertRefused(over.when(10, reschedule("ada", 1)), "Closed")
  })

  it("is refused without a booking, and for a settled one", () => {
    assertRefused(given().when(1, reschedule("ada", 0)), "WrongStatus", { status: "NOT_BOOKED" })
    for (const event of settled) {
      const fitting = given({}, [booked(1, "ada", 0), event])
      const status = statusOf[event._tag as keyof typeof statusOf]
      assertRefused(fitting.when(3, reschedule("ada", 1)), "WrongStatus", { status })
    }
  })
})

describe("cancelling", () => {
  it("frees the place, and again changes nothing", () => {
    const fitting = given({}, [booked(1, "ada", 0)])
    assert.deepStrictEqual(fitting.when(2, cancel("ada")), [cancelled(2, "ada")])
    assert.deepStrictEqual([fitting.status(2, "ada"), fitting.available(2, 0)], ["CANCELLED", 1])
    assert.deepStrictEqual(fitting.when(3, cancel("ada")), [])
  })

  it("is possible until the slot begins, also after the closing", () => {
    const fitting = given({ closeAt: at(10) }, [booked(1, "ada", 0), booked(1, "bob", 0)])
    assert.deepStrictEqual(fitting.when(begin(0) - 0.001, cancel("ada")), [cancelled(begin(0) - 0.001, "ada")])
    assertRefused(fitting.when(begin(0), cancel("bob")), "SlotPast")
  })

  it("is refused without a booking, and for a settled one", () => {
    assertRefused(given().when(1, cancel("ada")), "WrongStatus", { status: "NOT_BOOKED" })
    for (const event of settled.filter(({ _tag }) => _tag !== "Cancelled")) {
      const fitting = given({}, [booked(1, "ada", 0), event])
      const status = statusOf[event._tag as keyof typeof statusOf]
      assertRefused(fitting.when(3, cancel("ada")), "WrongStatus", { status })
    }
  })
})

describe("checking in", () => {
  it("is possible from the booking to the slot's end, and again changes nothing", () => {
    for (const minutes of [2, begin(0), end(0) - 0.001]) {
      const fitting = given({}, [booked(1, "ada", 0)])
      assert.deepStrictEqual(fitting.when(minutes, checkIn("ada")), [checkedIn(minutes, "ada")])
      assert.deepStrictEqual(fitting.when(minutes, checkIn("ada")), [])
      assert.strictEqual(fitting.available(2, 0), 0)
    }
  })

  it("changes a NO_SHOW of a consumer that comes late, while the slot lasts", () => {
    const fitting = given({}, [booked(1, "ada", 0), byAdmin(missed(65, "ada"))])
    assert.deepStrictEqual(fitting.when(70, checkIn("ada")), [checkedIn(70, "ada")])
    const late = given({}, [booked(1, "ada", 0)])
    assertRefused(late.when(end(0), checkIn("ada")), "WrongStatus", { status: "NO_SHOW" })
  })

  it("is refused without a booking, and for a cancelled or completed one", () => {
    assertRefused(given().when(1, checkIn("ada")), "WrongStatus", { status: "NOT_BOOKED" })
    assertRefused(given({}, [booked(1, "ada", 0), cancelled(2, "ada")]).when(3, checkIn("ada")), "WrongStatus", {
      status: "CANCELLED"
    })
    assertRefused(given({}, [booked(1, "ada", 0), completed(2, "ada")]).when(3, checkIn("ada")), "WrongStatus", {
      status: "COMPLETED"
    })
  })
})

describe("completing", () => {
  it("is possible from any status but CANCELLED, also when the slot is over, and again changes nothing", () => {
    for (const events of [[], [checkedIn(61, "ada")], [missed(62, "ada")]]) {
      for (const minutes of [63, end(0) + 60]) {
        const fitting = given({}, [booked(1, "ada", 0), ...events])
        fitting.until(minutes)
        const already = fitting.status(minutes, "ada") === "COMPLETED"
        const expected = already ? [] : [byAdmin(completed(minutes, "ada"))]
        assert.deepStrictEqual(fitting.when(minutes, complete("ada")), expected)
        assert.deepStrictEqual(fitting.when(minutes, complete("ada")), [])
        assert.strictEqual(fitting.status(minutes, "ada"), "COMPLETED")
      }
    }
  })

  it("is refused without a booking, and for a cancelled one", () => {
    assertRefused(given().when(1, complete("ada")), "WrongStatus", { status: "NOT_BOOKED" })
    assertRefused(given({}, [booked(1, "ada", 0), cancelled(2, "ada")]).when(3, complete("ada")), "WrongStatus", {
      status: "CANCELLED"
    })
  })
})

describe("an archived consumer", () => {
  it("loses a BOOKED or CHECKED_IN booking, also once its slot has begun, and the place becomes free", () => {
    for (const [minutes, events] of [
      [3, []],
      [begin(0) + 1, []],
      [begin(0) + 1, [checkedIn(2, "ada")]]
    ] as const) {
      const fitting = given({}, [booked(1, "ada", 0), booked(1, "bob", 1), ...events])
      assert.deepStrictEqual(fitting.when(minutes, remove("ada")), [byAdmin(cancelled(minutes, "ada"))])
      assert.deepStrictEqual(fitting.when(minutes, remove("ada")), [])
      assert.strictEqual(fitting.status(minutes, "bob"), "BOOKED")
      if (minutes < begin(0)) assert.deepStrictEqual(fitting.available(minutes, 0), 1)
    }
  })

  it("keeps an appointment that took place, or that it missed", () => {
    const fitting = given({}, [booked(1, "ada", 0), booked(1, "bob", 1), completed(70, "ada")])
    fitting.until(end(1))
    for (const name of ["ada", "bob", "nobody"]) assert.deepStrictEqual(fitting.when(end(1), remove(name)), [])
    assert.deepStrictEqual([fitting.status(end(1), "ada"), fitting.status(end(1), "bob")], ["COMPLETED", "NO_SHOW"])
  })
})

describe("recording that a consumer did not come", () => {
  it("is possible once the slot has begun, also after a check-in by mistake, and again changes nothing", () => {
    for (const events of [[], [checkedIn(2, "ada")]]) {
      const fitting = given({}, [booked(1, "ada", 0), ...events])
      assertRefused(fitting.when(begin(0) - 0.001, miss("ada")), "SlotNotBegun")
      assert.deepStrictEqual(fitting.when(begin(0), miss("ada")), [byAdmin(missed(begin(0), "ada"))])
      assert.deepStrictEqual(fitting.when(begin(0), miss("ada")), [])
      assert.deepStrictEqual(fitting.until(end(0)), [])
      assert.deepStrictEqual(fitting.when(end(0), miss("ada")), [])
    }
  })

  it("is refused without a booking, and for a cancelled or completed one", () => {
    assertRefused(given().when(1, miss("ada")), "WrongStatus", { status: "NOT_BOOKED" })
    assertRefused(given({}, [booked(1, "ada", 0), cancelled(2, "ada")]).when(61, miss("ada")), "WrongStatus", {
      status: "CANCELLED"
    })
    assertRefused(given({}, [booked(1, "ada", 0), completed(2, "ada")]).when(61, miss("ada")), "WrongStatus", {
      status: "COMPLETED"
    })
  })
})
