/** Shows each invariant a history that breaks it. An invariant must be able to fail. */
import { assert, describe, it } from "@effect/vitest"
import { type Line, recorded } from "./history.ts"
import { type Kind, projectionErrors, read } from "./Invariants.ts"

const violations = (kind: Kind, configuration: object, lines: ReadonlyArray<Line>) =>
  read(recorded(configuration, lines), kind).violations

const release = { capacity: 1, admissionExpirationSeconds: 1 }
const draw = {
  winnerCount: 1,
  closeAt: 100,
  drawAt: 200,
  admissionExpirationSeconds: 1,
  continueSelectingUntilCompleted: true
}
const auction = { auctionType: "english", quantity: 1, closeAt: 100, settleAt: 200, startPrice: "10" }
const appointment = { maxCapacityPerSlot: 1 }
const bid = (amount: number) => ({ amount: `${amount}` })
const slot = (startTime: number) => ({ startTime, endTime: startTime + 50, bookingId: `${startTime}` })

const drawing: ReadonlyArray<Line> = [
  ["SeedDrawn", 0],
  ["Entered", 10, "a"],
  ["Entered", 11, "b"],
  ["Closed", 100],
  ["EntriesFixed", 100]
]

describe("the invariants of a timed release", () => {
  it("find a unit that is sold twice, and an entry after as many grants as a consumer may have", () => {
    const again: ReadonlyArray<Line> = [
      ["Entered", 1, "a"],
      ["Completed", 2, "a"],
      ["Entered", 3, "a"]
    ]
    const two = { capacity: 2, grantsPerConsumer: 2 }
    assert.deepStrictEqual(violations("timed_release", two, again), [])
    assert.strictEqual(violations("timed_release", { ...two, capacity: 1 }, again).length, 1)
    assert.strictEqual(violations("timed_release", { ...two, grantsPerConsumer: 1 }, again).length, 1)
    assert.strictEqual(violations("timed_release", { capacity: 2 }, again).length, 1)
  })

  it("find no violation in a correct history", () => {
    assert.deepStrictEqual(
      violations("timed_release", release, [
        ["Entered", 1, "a"],
        ["Expired", 1001, "a"],
        ["Entered", 1001, "b"],
        ["Selected", 1002, "b"],
        ["Left", 1003, "b"],
        ["Entered", 1004, "a"],
        ["Completed", 1005, "a"],
        ["Closed", 1006],
        ["TornDown", 1006]
      ]),
      []
    )
  })

  it("find a unit over the capacity, sold units included", () => {
    const lines: ReadonlyArray<Line> = [
      ["Entered", 1, "a"],
      ["Completed", 2, "a"],
      ["Entered", 3, "b"]
    ]
    assert.deepStrictEqual(violations("timed_release", release, lines), ["Entered 4 takes unit 2 of 1"])
  })

  it("find a second grant, late use of a grant, early expiry, and a grant after the closing", () => {
    assert.deepStrictEqual(
      violations("timed_release", { admissionExpirationSeconds: 1 }, [
        ["Entered", 1, "a"],
        ["Entered", 2, "a"],
        ["Completed", 1002, "a"],
        ["Entered", 1003, "b"],
        ["Expired", 1004, "b"],
        ["Closed", 1005],
        ["Entered", 1006, "c"],
        ["Invented", 1007]
      ]),
      [
        "Entered 3 comes from ENTERED",
        "Completed 4 comes after the grant's time was over",
        "Expired 6 comes before the grant's time is over",
        "Entered 8 comes after the closing",
        "Invented 9 is of no known type"
      ]
    )
  })
})

describe("the invariants of a draw", () => {
  it("find no violation in a correct history", () => {
    assert.deepStrictEqual(
      violations("draw", draw, [
        ...drawing,
        ["Won", 200, "a"],
        ["Drawn", 200],
        ["Expired", 1200, "a"],
        ["Won", 1200, "b"],
        ["Completed", 1300, "b"],
        ["TornDown", 1300]
      ]),
      []
    )
  })

  it("find a winner over the limit, in the drawing and after it", () => {
    const second: ReadonlyArray<Line> = [...drawing, ["Won", 200, "a"], ["Won", 200, "b"]]
    assert.deepStrictEqual(violations("draw", draw, second), ["Won 8 makes 2 winners of 1", "Won 8 is win 2 of 1"])
    const later: ReadonlyArray<Line> = [...drawing, ["Won", 200, "a"], ["Drawn", 200], ["Won", 201, "b"]]
    assert.deepStrictEqual(violations("draw", draw, later), ["Won 9 makes 2 winners of 1"])
  })

  it("find a replacement in a draw without replacements", () => {
    const once = { ...draw, continueSelectingUntilCompleted: false }
    const lines: ReadonlyArray<Line> = [
      ...drawing,
      ["Won", 200, "a"],
      ["Drawn", 200],
      ["Denied", 201, "a"],
      ["Won", 201, "b"]
    ]
    assert.deepStrictEqual(violations("draw", once, lines), ["Won 10 comes after the drawing"])
  })

  it("find a drawing that is early, incomplete or repeated, and a late entry", () => {
    assert.deepStrictEqual(
      violations("draw", draw, [
        ["SeedDrawn", 0],
        ["Entered", 10, "a"],
        ["EntriesFixed", 50],
        ["Drawn", 60],
        ["Won", 61, "a"],
        ["Drawn", 70],
        ["Entered", 100, "b"]
      ]),
      [
        "EntriesFixed 4 comes before the closing",
        "Drawn 5 comes after 0 wins of 1",
        "Won 6 comes before its time",
        "Drawn 7 comes a second time",
        "Entered 8 comes after its time"
      ]
    )
  })
})

describe("the invariants of an auction", () => {
  it("find no violation in a correct history", () => {
    assert.deepStrictEqual(
      violations("auction", auction, [
        ["Entered", 1, "a"],
        ["BidPlaced", 1, "a", bid(10)],
        ["Entered", 2, "b"],
        ["BidPlaced", 2, "b", bid(11)],
        ["Outbid", 2, "a"],
        ["Extended", 2, undefined, { closeAt: 120 }],
        ["Closed", 120],
        ["Won", 200, "b"],
        ["Lost", 200, "a"],
        ["Completed", 201, "b"],
        ["TornDown", 201]
      ]),
      []
    )
  })

  it("find low bids and late bids", () => {
    assert.deepStrictEqual(
      violations("auction", auction, [
        ["Entered", 1, "a"],
        ["BidPlaced", 1, "a", bid(9)],
        ["BidPlaced", 2, "a", bid(9)],
        ["Entered", 3, "b"],
        ["BidPlaced", 3, "b", bid(9)],
        ["BidPlaced", 100, "b", bid(50)]
      ]),
      [
        "BidPlaced 3 is below the start price",
        "BidPlaced 4 is below the start price",
        "BidPlaced 4 does not exceed the own bid",
        "BidPlaced 6 is below the start price",
        "BidPlaced 6 does not beat 9",
        "BidPlaced 7 comes after the closing"
      ]
    )
  })

  it("find a winner without the highest bid, a winner over the limit, and an early winner", () => {
    assert.deepStrictEqual(
      violations("auction", { ...auction, reservePrice: "11" }, [
        ["Entered", 1, "a"],
        ["BidPlaced", 1, "a", bid(10)],
        ["Entered", 2, "b"],
        ["BidPlaced", 2, "b", bid(12)],
        ["Closed", 100],
        ["Won", 150, "a"],
        ["Won", 200, "b"]
      ]),
      [
        "Won 7 comes before its time",
        "Won 7 is below the reserve",
        "Won 7 is not the next best bid",
        "Won 8 is unit 2 of 1",
        "Won 8 is not the next best bid"
      ]
    )
  })

  it("find a closing that moves back, and a Dutch unit over the limit", () => {
    assert.deepStrictEqual(violations("auction", auction, [["Extended", 2, undefined, { closeAt: 90 }]]), [
      "Extended 2 moves the closing back"
    ])
    const dutch: ReadonlyArray<Line> = ["a", "b"].flatMap((consumerId): ReadonlyArray<Line> => [
      ["Entered", 1, consumerId],
      ["BidPlaced", 1, consumerId, bid(10)],
      ["Won", 1, consumerId]
    ])
    assert.deepStrictEqual(violations("auction", { ...auction, auctionType: "dutch" }, dutch), ["Won 7 is unit 2 of 1"])
  })
})

describe("the invariants of an appointment", () => {
  it("find no violation in a correct history", () => {
    assert.deepStrictEqual(
      violations("appointment", appointment, [
        ["Booked", 1, "a", slot(100)],
        ["Rescheduled", 2, "a", slot(200)],
        ["Booked", 3, "b", slot(100)],
        ["Cancelled", 4, "b"],
        ["Booked", 5, "c", slot(100)],
        ["CheckedIn", 100, "c"],
        ["Completed", 150, "c"],
        ["Missed", 250, "a"]
      ]),
      []
    )
  })

  it("find a booking over the slot's capacity, a second booking, and late and early events", () => {
    assert.deepStrictEqual(
      violations("appointment", appointment, [
        ["Booked", 1, "a", slot(100)],
        ["Booked", 2, "b", slot(100)],
        ["Booked", 3, "b", slot(200)],
        ["Missed", 99, "a"],
        ["Booked", 100, "c", slot(100)],
        ["Cancelled", 201, "b"]
      ]),
      [
        "Booked 3 takes place 2 of 1",
        "Booked 4 comes from BOOKED",
        "Missed 5 comes before the slot's end",
        "Booked 6 comes after the slot has begun",
        "Booked 6 takes place 2 of 1",
        "Cancelled 7 comes after the slot has begun"
      ]
    )
  })
})

describe("the invariants of a waitlist", () => {
  it("find no violation in a correct history", () => {
    assert.deepStrictEqual(
      violations("waitlist", { capacity: 2 }, [
        ["NoticeScheduled", 0, undefined, { noticeAt: 10 }],
        ["Entered", 1, "a"],
        ["NoticeDue", 10],
        ["Notified", 11, "a"],
        ["Left", 12, "a"],
        ["Entered", 13, "a"],
        ["Left", 14, "a"],
        ["Entered", 15, "b"],
        ["Ended", 16],
        ["Denied", 16, "b"]
      ]),
      []
    )
  })

  it("find an early notice, a repeated notice, a member over the capacity, and a denial before the end", () => {
    assert.deepStrictEqual(
      violations("waitlist", { capacity: 1 }, [
        ["Entered", 1, "a"],
        ["Notified", 2, "a"],
        ["Entered", 3, "b"],
        ["Denied", 4, "b"],
        ["NoticeDue", 5],
        ["Left", 6, "a"],
        ["Entered", 7, "a"],
        ["Notified", 8, "a"]
      ]),
      [
        "Notified 3 comes before the notice is due",
        "Entered 4 is member 2 of 1",
        "Denied 5 comes before an end",
        "Notified 9 comes from NOTIFIED",
        "Notified 9 comes a second time"
      ]
    )
  })
})

describe("listed places", () => {
  it("are compared with the events of every kind", () => {
    const history = recorded(appointment, [["Booked", 1, "a", slot(100)]])
    const listed = (status: string) => [{ consumerId: "a", status, enteredAt: new Date(1).toISOString() }]
    assert.deepStrictEqual(projectionErrors(history, 2, listed("BOOKED"), "appointment"), [])
    assert.deepStrictEqual(projectionErrors(history, 2, listed("NO_SHOW"), "appointment"), [
      "a is listed as NO_SHOW, its events say BOOKED"
    ])
  })
})
