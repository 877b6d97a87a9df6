import { assert, describe, it } from "@effect/vitest"
import { decider } from "../../../src/domain/queue/Queue.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import {
  admissions,
  admit,
  admitted,
  at,
  complete,
  configure,
  consumers,
  crowd,
  deny,
  end,
  enter,
  entered,
  expired,
  given,
  granted,
  type History,
  leave,
  renew,
  renewed
} from "./history.ts"

const inside = (queue: History): number => decider.counts(queue.state)["GRANTED"]!

const engaged = (queue: History, seconds: number): boolean => decider.facts!(queue.state, at(seconds)).isEngaged

describe("insideLimit", () => {
  it("lets the others wait while as many grants are live", () => {
    const queue = crowd({ admitRate: 600, insideLimit: 2 }, 4)
    queue.until(100)
    assert.deepStrictEqual(admissions(queue.events), [0, 100])
    assert.deepStrictEqual([queue.position(100, "c2"), queue.position(100, "c3")], [1, 2])
    assert.isUndefined(decider.wakeAt(queue.state))
  })

  it("admits the next as soon as a grant is used, left or denied, or has expired", () => {
    const queue = crowd({ admitRate: 600, insideLimit: 1, admissionExpirationSeconds: 100 }, 5)
    queue.until(1)
    queue.when(10, complete("c0"))
    assert.deepStrictEqual(queue.until(10), [granted(10, "c1")])
    queue.when(20, leave("c1"))
    assert.deepStrictEqual(queue.until(20), [granted(20, "c2")])
    queue.when(30, deny("c2"))
    assert.deepStrictEqual(queue.until(30), [granted(30, "c3")])
    assert.deepStrictEqual(queue.until(130), [expired(130, "c3"), granted(130, "c4")])
  })

  it("keeps the pace when several places become free at once", () => {
    const queue = crowd({ admitRate: 60, insideLimit: 3, admissionExpirationSeconds: 100 }, 9)
    queue.until(50)
    for (const consumerId of ["c0", "c1", "c2"]) queue.when(50, leave(consumerId))
    queue.until(60)
    assert.deepStrictEqual(admissions(queue.events), [0, 1_000, 2_000, 50_000, 51_000, 52_000])
  })

  it("takes nobody's grant when it is lowered, and admits at once when it is raised", () => {
    const queue = crowd({ admitRate: 600, insideLimit: 3 }, 9)
    queue.until(10)
    queue.when(10, configure({ admitRate: 600, insideLimit: 1 }))
    queue.when(11, leave("c0"))
    assert.deepStrictEqual(queue.until(20), [])
    assert.strictEqual(inside(queue), 2)
    queue.when(20, configure({ admitRate: 600, insideLimit: 3 }))
    assert.deepStrictEqual(queue.until(20), [granted(20, "c3")])
    queue.when(30, configure({ admitRate: 600 }))
    queue.until(40)
    assert.strictEqual(inside(queue), 8)
  })

  it("holds for admissions by hand", () => {
    const queue = crowd({ insideLimit: 2 }, 4)
    assert.deepStrictEqual(queue.when(1, { _tag: "AdmitNext", count: 10, by: "admin" }), [
      admitted(1, "c0"),
      admitted(1, "c1")
    ])
    assertRefused(queue.when(2, admit("c3")), "InsideLimitReached")
    assertRefused(queue.when(2, { _tag: "AdmitNext", count: 1, by: "admin" }), "InsideLimitReached")
  })

  it("leaves out the estimate of the wait, which depends on how long others stay", () => {
    const queue = crowd({ admitRate: 60, insideLimit: 2 }, 4)
    const view = queue.view(0, "c3")
    assert.deepInclude(view, { status: "QUEUED", position: 4 })
    assert.notProperty(view, "estimatedWaitTimeInSeconds")
    assert.isUndefined(decider.facts!(queue.state, at(0)).outlook)
  })

  it("says that a full queue has no known place", () => {
    const queue = crowd({ admitRate: 600, insideLimit: 1, capacity: 1 }, 2)
    queue.until(1)
    assertRefused(queue.when(1, enter("zoe")), "Full", { retryAfterSeconds: 60 })
  })
})

describe("standby", () => {
  const settings = { admitRate: 60, standby: true }

  it("grants an entry in its own commit while nobody waits", () => {
    const queue = given(settings)
    assert.deepStrictEqual(queue.when(5, enter("ada")), [entered(5, "ada"), granted(5, "ada")])
    assert.strictEqual(queue.status(5, "ada"), "GRANTED")
  })

  it("lets an entry wait that the rate does not allow, and everyone behind it", () => {
    const queue = given(settings)
    queue.when(5, enter("ada"))
    assert.deepStrictEqual(queue.when(5.5, enter("bob")), [entered(5.5, "bob")])
    assert.deepStrictEqual(queue.when(5.6, enter("eve")), [entered(5.6, "eve")])
    assert.deepStrictEqual(queue.until(7), [granted(6, "bob"), granted(7, "eve")])
  })

  it("lets an entry wait while the limit is reached, and in the order of the line afterwards", () => {
    const queue = given({ ...settings, insideLimit: 1 })
    queue.when(0, enter("ada"))
    assert.deepStrictEqual(queue.when(10, enter("bob")), [entered(10, "bob")])
    queue.when(20, leave("ada"))
    assert.deepStrictEqual(queue.until(20), [granted(20, "bob")])
    queue.when(30, leave("bob"))
    assert.deepStrictEqual(queue.when(30, enter("eve")), [entered(30, "eve"), granted(30, "eve")])
  })

  it("does not grant before the opening of a lobby, in a pause, or when no admission is left", () => {
    const lobby = given({ ...settings, openAt: at(10), lobbyOpenAt: at(0) })
    assert.deepStrictEqual(lobby.when(1, enter("ada")), [entered(1, "ada")])
    const paused = given(settings)
    paused.when(0, { _tag: "Pause", by: "admin" })
    assert.deepStrictEqual(paused.when(1, enter("ada")), [entered(1, "ada")])
    const usedUp = given({ ...settings, maxAdmissions: 1 })
    usedUp.when(0, enter("ada"))
    assert.deepStrictEqual(usedUp.when(10, enter("bob")), [entered(10, "bob")])
  })

  it("waits without it: the admission follows the entry", () => {
    const queue = given({ admitRate: 60 })
    assert.deepStrictEqual(queue.when(5, enter("ada")), [entered(5, "ada")])
    assert.deepStrictEqual(queue.until(5), [granted(5, "ada")])
  })

  it("says whether the next entry would have to wait", () => {
    const queue = given({ ...settings, insideLimit: 1 })
    assert.isFalse(engaged(queue, 0))
    queue.when(0, enter("ada"))
    assert.isTrue(engaged(queue, 0))
    queue.when(10, leave("ada"))
    assert.isFalse(engaged(queue, 10))
    queue.when(11, end)
    assert.isTrue(engaged(queue, 11))
    assert.isTrue(engaged(given({ admitRate: 60 }), 0))
  })
})

describe("admitBurst", () => {
  /** Returns how many of a hundred consumers, who enter at `seconds`, are granted at once. */
  const grantedAtOnce = (queue: History, seconds: number): number => {
    for (const consumerId of consumers(100)) queue.when(seconds, enter(`${consumerId}@${seconds}`))
    return admissions(queue.events).filter((millis) => millis === seconds * 1_000).length
  }

  it("is the rate of one second, and at least 1, where it is not set", () => {
    assert.strictEqual(grantedAtOnce(given({ admitRate: 600, standby: true }), 1), 10)
    assert.strictEqual(grantedAtOnce(given({ admitRate: 6, standby: true }), 1), 1)
  })

  it("is the number that may be admitted at once, and fills again at the rate", () => {
    const settings = { admitRate: 60, standby: true, admitBurst: 5, insideLimit: 100 }
    const queue = given(settings)
    assert.strictEqual(grantedAtOnce(queue, 10), 5)
    assert.deepStrictEqual(admissions(queue.until(12)), [11_000, 12_000])
  })

  it("is not given again when the rate changes", () => {
    const settings = { admitRate: 60, standby: true, admitBurst: 5 }
    const queue = given(settings)
    grantedAtOnce(queue, 10)
    queue.when(10, configure({ ...settings, admitRate: 120 }))
    assert.deepStrictEqual(admissions(queue.until(11)), [10_500, 11_000])
  })

  it("leaves what was taken in advance taken when standby ends", () => {
    const settings = { admitRate: 60, standby: true, admitBurst: 5 }
    const queue = given(settings)
    grantedAtOnce(queue, 10)
    queue.when(10, configure({ admitRate: 60 }))
    assert.deepStrictEqual(admissions(queue.until(16)), [15_000, 16_000])
  })

  it("never exceeds rate and burst in any span", () => {
    for (const [admitRate, admitBurst] of [
      [7, 3],
      [59, 10],
      [600, 1],
      [9_999, 40],
      [90_000, 2]
    ] as const) {
      const queue = given({ admitRate, standby: true, admitBurst })
      let second = 0
      for (let step = 0; step < 300; step++) {
        second += [0.001, 0.09, 0.2, 0, 0, 0.31, 3, 0][step % 8]!
        queue.when(second, enter(`c${step}`))
        if (step % 7 === 0) queue.when(second, leave(`c${step}`))
      }
      const instants = admissions(queue.events)
      assert.isAbove(instants.length, 1)
      for (let first = 0; first < instants.length; first++) {
        for (let last = first; last < instants.length; last++) {
          const span = instants[last]! - instants[first]! + (admitRate > 60_000 ? 1 : 0)
          const most = Math.ceil((admitRate * span) / 60_000) + admitBurst
          if (last - first + 1 > most) assert.fail(`${admitRate}, ${admitBurst}: ${instants[first]}, ${instants[last]}`)
        }
      }
    }
  })
})

describe("admissionRenewal", () => {
  const settings = { admitRate: 60, standby: true, admissionRenewal: { idleSeconds: 10, maxSeconds: 60 } }

  it("ends a grant when its consumer was not seen for `idleSeconds`, and names it, because its token lasts longer", () => {
    const queue = given(settings)
    queue.when(0, enter("ada"))
    assert.deepInclude(queue.view(1, "ada"), { expiresAt: at(10), tokenExpiresAt: at(60) })
    queue.until(10)
    assert.deepStrictEqual<unknown>(queue.events.at(-1), {
      ...expired(10, "ada"),
      grant: { sequence: 3, expiresAt: at(60) }
    })
    assert.strictEqual(queue.status(10, "ada"), "DENIED")
  })

  it("ends it later when the consumer is seen, but not after `maxSeconds`", () => {
    const queue = given(settings)
    queue.when(0, enter("ada"))
    assert.deepStrictEqual(queue.when(9, renew("ada", 3)), [renewed(9, "ada", 19)])
    for (const second of [18, 27, 36, 45, 54]) queue.when(second, renew("ada", 3))
    assert.notProperty(queue.view(54, "ada"), "tokenExpiresAt")
    assert.deepStrictEqual(queue.until(100), [expired(60, "ada")])
  })

  it("records no renewal that gains less than a second, so a repeated one changes nothing", () => {
    const queue = given(settings)
    queue.when(0, enter("ada"))
    assert.deepStrictEqual(queue.when(0.999, renew("ada", 3)), [])
    assert.deepStrictEqual(queue.when(1, renew("ada", 3)), [renewed(1, "ada", 11)])
    assert.deepStrictEqual(queue.when(1, renew("ada", 3)), [])
  })

  it("refuses a grant that has ended, another one, and a queue without renewal", () => {
    const queue = given(settings)
    queue.when(0, enter("ada"))
    assertRefused(queue.when(1, renew("ada", 2)), "InvalidGrant")
    assertRefused(queue.when(1, renew("zoe", 3)), "WrongStatus", { status: "NOT_QUEUED" })
    queue.when(2, leave("ada"))
    assertRefused(queue.when(2, renew("ada", 3)), "WrongStatus", { status: "LEFT" })
    assertRefused(queue.unnoticed(2, renew("zoe", 3)), "WrongStatus", { status: "NOT_QUEUED" })
    assertRefused(given({ admitRate: 60 }).when(0, renew("ada", 3)), "NotRenewable")
  })

  it("goes on after the closing, until the last has gone", () => {
    const queue = given(settings)
    queue.when(0, enter("ada"))
    queue.when(1, end)
    assert.deepStrictEqual(queue.when(9, renew("ada", 3)), [renewed(9, "ada", 19)])
    queue.until(19)
    assert.strictEqual(decider.statusFields(queue.state).teardownStatus, "completed")
  })

  it("keeps the end of a grant that an extension has moved further", () => {
    const queue = given(settings)
    queue.when(0, enter("ada"))
    queue.when(1, { _tag: "Extend", to: { seconds: 100 }, by: "admin" })
    assert.deepStrictEqual(queue.when(2, renew("ada", 3)), [])
    assert.deepInclude(queue.view(2, "ada"), { expiresAt: at(110) })
  })
})
