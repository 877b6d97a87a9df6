import { assert, describe, it } from "@effect/vitest"
import { awaitingNotice } from "../../../src/domain/waitlist/Waitlist.ts"
import {
  archive,
  at,
  end,
  enter,
  entered,
  given,
  type History,
  left,
  markNotified,
  noticeDue,
  noticeScheduled,
  notified,
  scheduleNotice
} from "./history.ts"

const nobody: ReadonlySet<string> = new Set()

/** Returns the members to be notified, and since when, in seconds. */
const awaiting = ({ state }: History, count = 100, except = nobody) =>
  awaitingNotice(state, count, except)?.map(({ consumerId, since }) => [consumerId, (since - at(0)) / 1000])

describe("the notice of a waitlist", () => {
  it("is scheduled for the opening of the sequence, and due then, without a caller", () => {
    const waitlist = given({}, [entered(1, "ada")])
    assert.deepStrictEqual(waitlist.when(2, scheduleNotice(60)), [noticeScheduled(2, 60)])
    assert.strictEqual(waitlist.wake(), at(60))
    assert.deepStrictEqual(waitlist.until(59.999), [])
    assert.isUndefined(awaiting(waitlist))
    assert.deepStrictEqual(waitlist.until(60), [noticeDue(60)])
    assert.deepStrictEqual(awaiting(waitlist), [["ada", 60]])
    assert.strictEqual(waitlist.wake(), Infinity)
  })

  it("is dated when it was due, however late an actor notices it", () => {
    assert.deepStrictEqual(given({}, [noticeScheduled(1, 60)]).noticed(1_000), [noticeDue(60)])
  })

  it("is due at once if the sequence is open", () => {
    const waitlist = given()
    waitlist.when(5, scheduleNotice(1))
    assert.deepStrictEqual(waitlist.until(5), [noticeDue(5)])
  })

  it("is scheduled again when the opening moves, and not when it stays the same", () => {
    const waitlist = given()
    assert.deepStrictEqual(waitlist.when(1, scheduleNotice()), [])
    waitlist.when(2, scheduleNotice(60))
    assert.deepStrictEqual(waitlist.when(3, scheduleNotice(60)), [])
    assert.deepStrictEqual(waitlist.when(4, scheduleNotice(120)), [noticeScheduled(4, 120)])
    assert.deepStrictEqual(waitlist.until(119), [])
    assert.deepStrictEqual(waitlist.when(119, scheduleNotice()), [noticeScheduled(119)])
    assert.deepStrictEqual(waitlist.until(1_000), [])
  })

  it("goes to the members in the order they entered", () => {
    const waitlist = given({}, [
      entered(1, "ada"),
      entered(2, "bob"),
      entered(3, "eve"),
      left(4, "bob"),
      entered(5, "bob"),
      noticeScheduled(6, 7),
      noticeDue(7)
    ])
    assert.deepStrictEqual(awaiting(waitlist), [
      ["ada", 7],
      ["eve", 7],
      ["bob", 7]
    ])
    assert.deepStrictEqual(awaiting(waitlist, 1), [["ada", 7]])
    assert.deepStrictEqual(awaiting(waitlist, 1, new Set(["ada", "eve"])), [["bob", 7]])
    assert.isUndefined(awaiting(waitlist, 5, new Set(["ada", "eve", "bob", "joe"])))
  })

  it("goes to each member once; the member keeps its position", () => {
    const waitlist = given({}, [entered(1, "ada"), entered(2, "bob"), noticeScheduled(3, 4), noticeDue(4)])
    assert.deepStrictEqual(waitlist.when(5, markNotified("ada", "email")), [notified(5, "ada", "email")])
    assert.deepStrictEqual(waitlist.when(6, markNotified("ada", "phone")), [])
    assert.deepStrictEqual(waitlist.standing("ada"), { status: "NOTIFIED", enteredAt: at(1), position: 1 })
    assert.deepStrictEqual(awaiting(waitlist), [["bob", 4]])
    assert.deepStrictEqual(waitlist.when(7, markNotified("bob")), [notified(7, "bob")])
    assert.isUndefined(awaiting(waitlist))
    assert.deepStrictEqual(waitlist.positions("ada", "bob"), [1, 2])
  })

  it("goes to members that enter after the opening, too", () => {
    const waitlist = given({}, [noticeScheduled(3, 4), noticeDue(4)])
    waitlist.when(9, enter("ada"))
    assert.deepStrictEqual(awaiting(waitlist), [["ada", 9]])
  })

  it("does not go to members that left, and not again to those that were notified, left and came back", () => {
    const waitlist = given({}, [entered(1, "ada"), entered(1, "bob"), noticeScheduled(3, 4), noticeDue(4)])
    waitlist.apply(left(5, "ada"))
    waitlist.apply(notified(6, "bob", "email"))
    waitlist.apply(left(7, "bob"))
    waitlist.when(8, enter("bob"))
    assert.deepStrictEqual(waitlist.standing("bob"), { status: "NOTIFIED", enteredAt: at(8), position: 1 })
    assert.isUndefined(awaiting(waitlist))
    assert.deepStrictEqual(waitlist.when(9, markNotified("ada")), [])
    assert.deepStrictEqual(waitlist.when(9, markNotified("zoe")), [])
  })

  it("waits again if the sequence has closed again and opens later", () => {
    const waitlist = given({}, [
      entered(1, "ada"),
      entered(1, "bob"),
      noticeScheduled(3, 4),
      noticeDue(4),
      notified(5, "ada", "email")
    ])
    waitlist.when(6, scheduleNotice(60))
    assert.isUndefined(awaiting(waitlist))
    assert.deepStrictEqual(waitlist.until(60), [noticeDue(60)])
    assert.deepStrictEqual(awaiting(waitlist), [["bob", 60]])
  })

  it("is recorded for a member that was notified just when the opening moved", () => {
    const waitlist = given({}, [entered(1, "ada"), noticeScheduled(3, 4), noticeDue(4), noticeScheduled(5, 60)])
    assert.deepStrictEqual(waitlist.when(6, markNotified("ada", "email")), [notified(6, "ada", "email")])
  })

  it("is no longer sent once the waitlist was ended or archived", () => {
    for (const over of [end, archive]) {
      const waitlist = given({}, [entered(1, "ada"), noticeScheduled(2, 60)])
      waitlist.when(3, over)
      assert.isUndefined(awaiting(waitlist))
      assert.deepStrictEqual(waitlist.unnoticed(4, markNotified("ada", "email")), [])
      assert.deepStrictEqual(waitlist.unnoticed(4, scheduleNotice(70)), [])
      assert.notInclude(
        waitlist.until(100).map(({ _tag }) => _tag),
        "NoticeDue"
      )
      const due = given({}, [entered(1, "ada"), noticeScheduled(2, 3), noticeDue(3)])
      const outcome = due.unnoticed(4, over)
      assert(Array.isArray(outcome))
      for (const event of outcome) due.apply(event)
      assert.isUndefined(awaiting(due))
    }
  })
})
