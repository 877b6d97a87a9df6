import { assert, describe, it } from "@effect/vitest"
import type { Command } from "../../../src/domain/queue/Queue.ts"
import { accepted, assertRefused } from "../mechanism/support/History.ts"
import { admit, admitted, at, enter, entered, end, expired, given, leave } from "./history.ts"

const admitNext = (count: number): Command => ({ _tag: "AdmitNext", count, by: "admin" })
const consumers = ["ada", "bob", "eve", "joe"] as const
const line = consumers.map((consumerId, index) => entered(index, consumerId))

describe("admitting the next consumers", () => {
  it("admits as many as requested, in the queue's order, with the events of admission by name", () => {
    const queue = given({}, line)
    assert.deepStrictEqual(queue.when(10, admitNext(2)), [admitted(10, "ada"), admitted(10, "bob")])
    assert.deepStrictEqual([queue.position(10, "eve"), queue.position(10, "joe")], [1, 2])
    assert.deepStrictEqual(queue.when(11, admitNext(1)), [admitted(11, "eve")])
  })

  it("admits all waiting consumers if there are fewer, and none if none waits", () => {
    const queue = given({}, line)
    assert.lengthOf(accepted(queue.when(10, admitNext(10_000))), 4)
    assert.deepStrictEqual(queue.when(11, admitNext(1)), [])
  })

  it("skips consumers that left or were admitted before", () => {
    const queue = given({}, line)
    queue.when(10, leave("ada"))
    queue.when(10, admit("eve"))
    assert.deepStrictEqual(queue.when(11, admitNext(2)), [admitted(11, "bob"), admitted(11, "joe")])
  })

  it("counts against maxAdmissions, and is refused once all are used", () => {
    const queue = given({ maxAdmissions: 3 }, line)
    assert.lengthOf(accepted(queue.when(10, admitNext(2))), 2)
    assert.lengthOf(accepted(queue.when(11, admitNext(2))), 1)
    assertRefused(queue.when(12, admitNext(1)), "AdmissionsUsedUp")
  })

  it("gives a recycled admission to the next consumer", () => {
    const settings = { maxAdmissions: 1, admissionExpirationSeconds: 5, recycleExpiredAdmissions: true }
    const queue = given(settings, line)
    queue.when(10, admitNext(4))
    assert.deepStrictEqual(queue.until(15), [expired(15, "ada")])
    assert.deepStrictEqual(queue.when(16, admitNext(4)), [admitted(16, "bob")])
  })

  it("follows the loyal consumers' head start", () => {
    const queue = given({ loyaltyBiasEnabled: true })
    queue.when(1, enter("ada"))
    queue.when(2, enter("bob", 1))
    assert.deepStrictEqual(queue.when(3, admitNext(1)), [admitted(3, "bob")])
  })

  it("follows the random order of the lobby", () => {
    const settings = { lobbyOpenAt: at(0), openAt: at(60) }
    const queue = given(settings, line)
    queue.until(60)
    const first = consumers.toSorted((a, b) => queue.position(60, a)! - queue.position(60, b)!).slice(0, 2)
    assert.deepStrictEqual(
      queue.when(61, admitNext(2)),
      first.map((consumerId) => admitted(61, consumerId))
    )
  })

  it("is refused before the opening, also in the lobby, whose places have no order yet", () => {
    assertRefused(given({ openAt: at(60) }).when(10, admitNext(1)), "NotOpen", { opensAt: at(60) })
    const queue = given({ lobbyOpenAt: at(0), openAt: at(60) }, line)
    assertRefused(queue.when(59.999, admitNext(1)), "NotOpen", { opensAt: at(60) })
    assert.strictEqual(queue.status(59.999, "ada"), "QUEUED")
  })

  it("is refused after the closing", () => {
    const queue = given({}, line)
    queue.when(10, end)
    assertRefused(queue.when(11, admitNext(1)), "Closed")
  })

  it("does not change the pace of admission by rate", () => {
    const queue = given({ admitRate: 6 })
    queue.enter(0, ...consumers)
    queue.when(1, admitNext(2))
    const byRate = queue.until(30).map(({ at: instant, ...event }) => [event._tag, instant - at(0)])
    assert.deepStrictEqual(byRate, [["Granted", 10_000]])
  })
})
