import { assert, describe, it } from "@effect/vitest"
import { decider } from "../../../src/domain/waitlist/Waitlist.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import {
  archive,
  archived,
  at,
  closed,
  configuration,
  configure,
  denied,
  end,
  ended,
  entered,
  given,
  leave,
  left,
  markNotified,
  noticeDue,
  noticeScheduled,
  notified,
  scheduleNotice,
  tornDown
} from "./history.ts"

const lifecycle = (waitlist: ReturnType<typeof given>, seconds: number) =>
  decider.lifecycle(waitlist.state, at(seconds))

describe("the end of a waitlist", () => {
  it("at its time lets the members wait for the opening; the waitlist's work is over when all are notified", () => {
    const waitlist = given({ openAt: at(1), closeAt: at(10) }, [
      entered(5, "ada"),
      entered(6, "bob"),
      noticeScheduled(7, 60)
    ])
    assert.strictEqual(lifecycle(waitlist, 0), "scheduled")
    assert.strictEqual(lifecycle(waitlist, 9), "open")
    assert.deepStrictEqual(waitlist.until(59), [closed(10)])
    assert.strictEqual(lifecycle(waitlist, 59), "settling")
    assert.deepStrictEqual(waitlist.positions("ada", "bob"), [1, 2])
    assert.deepStrictEqual(waitlist.until(60), [noticeDue(60)])
    waitlist.when(61, markNotified("ada", "email"))
    assert.deepStrictEqual(waitlist.until(70), [])
    waitlist.when(71, leave("bob"))
    assert.deepStrictEqual(waitlist.until(71), [tornDown(71)])
    assert.strictEqual(lifecycle(waitlist, 71), "closed")
    assert.deepStrictEqual(waitlist.when(72, scheduleNotice(100)), [])
    assert.strictEqual(waitlist.wake(), Infinity)
  })

  it("at its time is the end of its work if no member waits, whatever is scheduled", () => {
    const waitlist = given({ closeAt: at(10) }, [entered(1, "ada"), noticeScheduled(2, 60), left(3, "ada")])
    assert.deepStrictEqual(waitlist.until(100), [closed(10), tornDown(10)])
  })

  it("by an admin denies the members that have not been notified, one by one, and once", () => {
    const waitlist = given({}, [
      entered(1, "ada"),
      entered(2, "bob"),
      entered(3, "eve"),
      entered(4, "joe"),
      noticeScheduled(5, 6),
      noticeDue(6),
      notified(7, "ada", "email"),
      left(8, "joe")
    ])
    assert.deepStrictEqual(waitlist.unnoticed(9, end), [ended(9)])
    waitlist.apply(ended(9))
    assert.deepStrictEqual(waitlist.standing("bob"), {
      status: "DENIED",
      enteredAt: at(2),
      reason: "WAITLIST_CLOSED",
      deniedAt: at(9)
    })
    assert.deepStrictEqual(waitlist.until(9), [denied(9, "bob"), denied(9, "eve"), tornDown(9)])
    assert.deepStrictEqual(waitlist.standing("bob"), {
      status: "DENIED",
      enteredAt: at(2),
      reason: "WAITLIST_CLOSED",
      deniedAt: at(9)
    })
    assert.deepStrictEqual(waitlist.standing("ada"), { status: "NOTIFIED", enteredAt: at(1), position: 1 })
    assert.strictEqual(waitlist.standing("joe").status, "LEFT")
    assert.deepStrictEqual(waitlist.when(10, end), [])
    assert.deepInclude(decider.statusFields(waitlist.state), {
      statusOverride: "ended",
      statusOverrideAt: at(9),
      statusOverrideBy: "admin",
      teardownStatus: "completed"
    })
  })

  it("can still be set by an admin after the closing, so that no member is notified", () => {
    const waitlist = given({ closeAt: at(10) }, [entered(5, "ada"), noticeScheduled(7, 60)])
    assert.deepStrictEqual(waitlist.when(20, end), [ended(20)])
    assert.deepStrictEqual(waitlist.until(100), [denied(20, "ada"), tornDown(20)])
    assert.strictEqual(decider.statusFields(waitlist.state).statusOverride, "ended")
  })

  it("comes with archiving, if there is anything left to end", () => {
    const waitlist = given({}, [entered(1, "ada")])
    assert.deepStrictEqual(waitlist.when(2, archive), [ended(2), archived(2)])
    assert.deepStrictEqual(waitlist.until(2), [denied(2, "ada"), tornDown(2)])
    assert.deepStrictEqual(waitlist.when(3, archive), [])
    const waiting = given({ closeAt: at(1) }, [entered(0, "ada")])
    assert.deepStrictEqual(waiting.when(2, archive), [ended(2), archived(2)])
    const over = given({ closeAt: at(1) })
    assert.deepStrictEqual(over.when(2, archive), [archived(2)])
    assert.isTrue(decider.statusFields(over.state).archived)
  })

  it("is effective from the closing on, even before an actor notices the closing", () => {
    const waitlist = given({ closeAt: at(10) })
    assert.deepStrictEqual(waitlist.unnoticed(10, end), [])
    assertRefused(waitlist.unnoticed(10, configure({ name: "Late" })), "Closed")
  })
})

describe("the settings of a waitlist", () => {
  it("are recorded when they change, and only then", () => {
    const waitlist = given({ capacity: 5 })
    assert.deepStrictEqual(waitlist.when(1, configure({ capacity: 5 })), [])
    assert.deepStrictEqual(waitlist.when(2, configure({ capacity: 6 })), [
      { _tag: "Configured", at: at(2), configuration: configuration({ capacity: 6 }), by: "admin" }
    ])
    assert.deepStrictEqual(decider.configurationOf(waitlist.state), configuration({ capacity: 6 }))
  })

  it("cannot change after the closing", () => {
    assertRefused(given({ closeAt: at(10) }).when(11, configure({ closeAt: at(20) })), "Closed")
  })

  it("fix the opening once it has passed", () => {
    const waitlist = given({ openAt: at(10) })
    assert.isArray(waitlist.when(9, configure({ openAt: at(20) })))
    assertRefused(waitlist.when(20, configure({ openAt: at(30) })), "ConfigurationFixed", { setting: "openAt" })
    assertRefused(given().when(1, configure({ openAt: at(30) })), "ConfigurationFixed", { setting: "openAt" })
  })
})
