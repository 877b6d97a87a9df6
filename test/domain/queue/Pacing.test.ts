import { assert, describe, it } from "@effect/vitest"
import { decider } from "../../../src/domain/queue/Queue.ts"
import {
  admissions,
  admit,
  at,
  complete,
  configure,
  crowd,
  deny,
  enter,
  expired,
  given,
  granted,
  leave,
  left
} from "./history.ts"

describe("admission by rate", () => {
  it("admits in the order of the line, evenly spaced, the first at once", () => {
    const queue = crowd({ admitRate: 6 }, 3)
    assert.deepStrictEqual(queue.until(0), [granted(0, "c0")])
    assert.deepStrictEqual(queue.until(9.999), [])
    assert.deepStrictEqual(queue.until(20), [granted(10, "c1"), granted(20, "c2")])
  })

  it("does not drift if the spacing is not a whole number of milliseconds", () => {
    const queue = crowd({ admitRate: 7 }, 8)
    assert.deepStrictEqual(admissions(queue.until(60)), [0, 8_572, 17_143, 25_715, 34_286, 42_858, 51_429, 60_000])
  })

  it("is dated when it was due, if the actor notices it within the catch-up window", () => {
    const queue = crowd({ admitRate: 600 }, 10)
    assert.deepStrictEqual(admissions(queue.noticed(0.25)), [0, 100, 200])
    assert.deepStrictEqual(admissions(queue.noticed(0.55)), [300, 400, 500])
  })

  it("is dated when a larger burst makes it due, not when its consumer began to wait", () => {
    const queue = given({ admitRate: 60 })
    for (const name of ["ada", "bob"]) queue.when(0, enter(name))
    queue.until(0)
    queue.when(0.1, configure({ admitRate: 60, standby: true, admitBurst: 3 }))
    assert.deepStrictEqual(queue.noticed(0.35), [granted(0.1, "bob")])
  })

  it("starts again after a pause longer than the window, and drops the missed admissions", () => {
    const queue = crowd({ admitRate: 600 }, 10)
    queue.noticed(0)
    assert.deepStrictEqual(admissions(queue.noticed(5)), [5_000])
    assert.deepStrictEqual(admissions(queue.noticed(5.2)), [5_100, 5_200])
  })

  it("saves nothing while no consumer waits: the next is admitted at once, and the one after at the spacing", () => {
    const queue = given({ admitRate: 6 })
    queue.when(1000, enter("ada"))
    queue.when(1000.001, enter("bob"))
    queue.when(1000.002, enter("eve"))
    queue.until(2000)
    assert.deepStrictEqual(admissions(queue.events), [1_000_000, 1_010_000, 1_020_000])
  })

  it("keeps the spacing for a consumer that enters soon after the last admission", () => {
    const queue = given({ admitRate: 6 })
    queue.when(0, enter("ada"))
    queue.when(3, enter("bob"))
    assert.deepStrictEqual(queue.until(100), [granted(10, "bob")])
  })

  it("admits no consumer at rate 0", () => {
    const queue = crowd({ admitRate: 0 }, 3)
    assert.deepStrictEqual(queue.until(100_000), [])
    assert.isUndefined(decider.wakeAt(queue.state))
  })

  it("never exceeds the rate in any span, through empty periods, pauses and changes of the line", () => {
    for (const admitRate of [1, 7, 59, 60, 61, 600, 9_999, 45_000, 60_000]) {
      const queue = given({ admitRate })
      let second = 0
      for (let step = 0; step < 200; step++) {
        second += [0.001, 0.09, 0.2, 0.001, 0.31, 3][step % 6]!
        queue.when(second, enter(`c${step}`))
        if (step % 5 === 0) queue.enter(second, `x${step}`, `y${step}`, `z${step}`)
        if (step % 7 === 0) queue.when(second, leave(`c${step}`))
        if (step % 11 === 0) queue.noticed((second += 0.4))
      }
      const instants = admissions(queue.events)
      assert.isAbove(instants.length, 1)
      for (let first = 0; first < instants.length; first++) {
        for (let last = first; last < instants.length; last++) {
          const most = Math.ceil((admitRate * (instants[last]! - instants[first]!)) / 60_000) + 1
          if (last - first + 1 > most) assert.fail(`rate ${admitRate}, from ${instants[first]} to ${instants[last]}`)
        }
      }
    }
  })

  it("admits several consumers in one millisecond above one a millisecond, and keeps the rate per second", () => {
    const queue = crowd({ admitRate: 120_000 }, 3_000)
    assert.strictEqual(admissions(queue.until(1)).length, 2_001)
  })

  it("counts a new spacing from the last admission", () => {
    const queue = crowd({ admitRate: 6 }, 4)
    queue.until(0)
    queue.when(2, configure({ admitRate: 12 }))
    assert.deepStrictEqual(queue.until(5), [granted(5, "c1")])
    queue.when(9, configure({ admitRate: 60 }))
    assert.deepStrictEqual(queue.until(9.5), [granted(9, "c2")])
    queue.when(9.5, configure({ admitRate: 0 }))
    assert.deepStrictEqual(queue.until(20), [])
    queue.when(20, configure({ admitRate: 60 }))
    assert.deepStrictEqual(queue.until(20), [granted(20, "c3")])
  })

  it("keeps its pace when other settings change", () => {
    const queue = crowd({ admitRate: 6 }, 3)
    queue.until(0)
    queue.when(4, configure({ admitRate: 6, name: "Renamed" }))
    assert.deepStrictEqual(queue.until(10), [granted(10, "c1")])
  })

  it("wakes at the next admission", () => {
    const queue = crowd({ admitRate: 6 }, 2)
    assert.strictEqual(decider.wakeAt(queue.state), at(0))
    queue.until(0)
    assert.strictEqual(decider.wakeAt(queue.state), at(10))
    queue.until(10)
    assert.isUndefined(decider.wakeAt(queue.state))
  })

  it("estimates the wait from the position, rounded up", () => {
    const queue = crowd({ admitRate: 7 }, 3)
    assert.deepInclude(queue.view(0, "c2"), { position: 3, estimatedWaitTimeInSeconds: 26 })
    assert.notProperty(crowd({}, 1).view(0, "c0"), "estimatedWaitTimeInSeconds")
  })
})

describe("maxAdmissions", () => {
  it("lets the other consumers wait when it is used up, and denies them at the end", () => {
    const queue = crowd({ admitRate: 600, maxAdmissions: 2, closeAt: at(60) }, 4)
    queue.until(0.1)
    assert.deepStrictEqual(queue.until(59.999), [])
    assert.deepStrictEqual([queue.position(59, "c2"), queue.position(59, "c3")], [1, 2])
    queue.until(60)
    assert.deepStrictEqual(
      [queue.status(60, "c1"), queue.status(60, "c2"), queue.status(60, "c3")],
      ["GRANTED", "DENIED", "DENIED"]
    )
  })

  it("counts grants by hand too", () => {
    const queue = crowd({ maxAdmissions: 2 }, 3)
    queue.when(1, admit("c2"))
    queue.when(1, configure({ maxAdmissions: 2, admitRate: 600 }))
    queue.until(1)
    assert.deepStrictEqual(queue.until(2), [])
    assert.deepInclude(decider.counts(queue.state), { GRANTED: 2, QUEUED: 1 })
  })

  it("does not count an expired or denied grant again without recycling", () => {
    const queue = crowd({ admitRate: 600, maxAdmissions: 1, admissionExpirationSeconds: 1 }, 2)
    queue.until(0)
    assert.deepStrictEqual(queue.until(10), [expired(1, "c0")])
    assert.deepInclude(decider.counts(queue.state), { QUEUED: 1, DENIED: 1 })
  })

  it("counts an expired grant again at its expiry with recycling", () => {
    const queue = crowd(
      { admitRate: 600, maxAdmissions: 1, admissionExpirationSeconds: 1, recycleExpiredAdmissions: true },
      2
    )
    queue.until(0)
    assert.deepStrictEqual(queue.until(1.1), [expired(1, "c0"), granted(1, "c1")])
  })

  it("counts a denied grant again with recycling, but no denied place and no completed grant", () => {
    const settings = { admitRate: 600, maxAdmissions: 1, recycleExpiredAdmissions: true }
    const queue = crowd(settings, 3)
    queue.until(0)
    queue.when(1, deny("c1"))
    assert.deepStrictEqual(queue.until(1), [])
    queue.when(2, deny("c0"))
    assert.deepStrictEqual(queue.until(2), [granted(2, "c2")])
    const other = crowd(settings, 2)
    other.until(0)
    other.when(1, complete("c0"))
    assert.deepStrictEqual(other.until(10), [])
  })

  it("counts a grant again that its consumer left, with or without recycling, but no place that was left", () => {
    for (const recycleExpiredAdmissions of [true, false]) {
      const queue = crowd({ admitRate: 600, maxAdmissions: 1, recycleExpiredAdmissions }, 4)
      queue.until(0)
      queue.when(1, leave("c1"))
      assert.deepStrictEqual(queue.until(2), [])
      assert.deepStrictEqual(queue.when(3, leave("c0")), [left(3, "c0")])
      assert.deepStrictEqual(queue.until(3), [granted(3, "c2")])
      assert.deepStrictEqual(queue.until(10), [])
    }
  })

  it("admits the next consumer at once when it is raised", () => {
    const queue = crowd({ admitRate: 6, maxAdmissions: 1 }, 2)
    queue.until(0)
    queue.when(100, configure({ admitRate: 6, maxAdmissions: 2 }))
    assert.deepStrictEqual(queue.until(100), [granted(100, "c1")])
  })
})
