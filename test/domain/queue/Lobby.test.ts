import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { decider, type Event } from "../../../src/domain/queue/Queue.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import { admit, at, configure, enter, entered, given, granted, type History, leave, left, seed } from "./history.ts"

const consumers = Array.from({ length: 100 }, (_, index) => `c${index}`)
const settings = { lobbyOpenAt: at(10), openAt: at(60), admitRate: 6 }
const entries = consumers.map((consumerId, index) => entered(10 + index / 100, consumerId))
const opened = (seconds: number, seed: string): Event => ({ _tag: "Opened", at: at(seconds), seed })

const order = (queue: History, seconds: number): ReadonlyArray<string> =>
  consumers.toSorted((a, b) => queue.position(seconds, a)! - queue.position(seconds, b)!)

describe("the lobby", () => {
  it("takes entries without a position or an estimate, and admits no consumer", () => {
    const queue = given(settings)
    assert.deepStrictEqual(queue.when(10, enter("ada")), [entered(10, "ada")])
    assert.deepStrictEqual(queue.view(10, "ada"), {
      status: "QUEUED",
      positionDisplayMode: "precise",
      enteredAt: at(10)
    })
    assert.deepStrictEqual(queue.until(59.999), [])
    assert.strictEqual(decider.wakeAt(queue.state), at(60))
  })

  it("opens at openAt with a fresh seed, and then the admissions begin", () => {
    const queue = given(settings, [entered(10, "ada")])
    assert.deepStrictEqual(queue.until(60), [opened(60, seed), granted(60, "ada")])
  })

  it("opens at openAt even if it is empty", () => {
    assert.deepStrictEqual(given(settings).until(60), [opened(60, seed)])
  })

  it("gives every consumer a different place, in an order other than that of their entries", () => {
    const queue = given(settings, [...entries, opened(60, seed)])
    const positions = consumers.map((consumerId) => queue.position(60, consumerId)!)
    assert.deepStrictEqual(
      positions.toSorted((a, b) => a - b),
      consumers.map((_, index) => index + 1)
    )
    assert.notDeepEqual(order(queue, 60), consumers)
  })

  it("gives the same order for the same seed, and another order for another seed", () => {
    const shuffled = (seed: string) => order(given(settings, [...entries, opened(60, seed)]), 60)
    assert.deepStrictEqual(shuffled(seed), shuffled(seed))
    assert.notDeepEqual(shuffled(seed), shuffled(seed.replace("1", "7")))
  })

  it("opens only once, whatever events are recorded", () => {
    const once = given(settings, [...entries, opened(60, seed)])
    const twice = given(settings, [...entries, opened(60, seed), opened(61, seed)])
    assert.deepStrictEqual(order(twice, 61), order(once, 61))
  })

  it("gives the first consumer the same chance of the first place as the last", () => {
    const rounds = 2_000
    let first = 0
    let last = 0
    const few = consumers.slice(0, 4)
    for (let round = 0; round < rounds; round++) {
      const seed = createHash("md5").update(String(round)).digest("hex")
      const queue = given(settings, [...few.map((consumerId) => entered(10, consumerId)), opened(60, seed)])
      if (queue.position(60, few[0]!) === 1) first++
      if (queue.position(60, few[3]!) === 1) last++
    }
    // The standard deviation is 19.4; the bounds are five of them.
    for (const count of [first, last]) assert.approximately(count, rounds / 4, 97)
  })

  it("puts its consumers before later ones, head start included", () => {
    const queue = given(
      { ...settings, admitRate: 0, loyaltyBiasEnabled: true, loyaltyHeadStartSeconds: 86_400 },
      entries
    )
    queue.when(60, enter("late", 1))
    assert.strictEqual(queue.position(60, "late"), consumers.length + 1)
  })

  it("loses consumers that leave, and those that are admitted by hand", () => {
    const queue = given({ ...settings, admitRate: 0 }, [entered(10, "ada"), entered(11, "bob"), entered(12, "eve")])
    assert.deepStrictEqual(queue.when(20, leave("ada")), [left(20, "ada")])
    queue.when(21, admit("bob"))
    queue.until(60)
    assert.deepStrictEqual([queue.status(60, "ada"), queue.status(60, "bob")], ["LEFT", "GRANTED"])
    assert.strictEqual(queue.position(60, "eve"), 1)
  })

  it("may be entered again after leaving", () => {
    const queue = given(settings, [entered(10, "ada"), left(20, "ada")])
    assert.deepStrictEqual(queue.when(30, enter("ada")), [entered(30, "ada")])
  })

  it("opens before any other event if the process was down at its time", () => {
    const queue = given(settings, [entered(10, "ada")])
    assert.deepStrictEqual(queue.noticed(600), [opened(60, seed), granted(600, "ada")])
  })

  it("puts a place that weighs less first less often, if the queue weighs the risk", () => {
    const rounds = 2_000
    const risk = { score: 1, reasons: ["SHARED_ADDRESS"] } as const
    const firstOf = (riskWeight: number) => {
      let first = 0
      for (let round = 0; round < rounds; round++) {
        const seed = createHash("md5").update(String(round)).digest("hex")
        const risky = { ...entered(10, "ada"), risk } as Event
        const queue = given({ ...settings, riskWeight }, [risky, entered(10, "bob"), opened(60, seed)])
        if (queue.position(60, "ada") === 1) first++
      }
      return first
    }
    // The chance is 0.25 / 1.25, and the bounds are five standard deviations.
    assert.approximately(firstOf(0.75), rounds / 5, 90)
    assert.approximately(firstOf(0), rounds / 2, 112)
  })

  it("keeps its weight of the risk from the first entry on", () => {
    const queue = given({ ...settings, riskWeight: 0.5 })
    assert.lengthOf(queue.when(1, configure({ ...settings, riskWeight: 0.6 })) as ReadonlyArray<Event>, 1)
    queue.enter(10, "ada")
    assertRefused(queue.when(20, configure(settings)), "ConfigurationFixed", { setting: "riskWeight" })
  })

  it("never opens if the queue was ended before", () => {
    const queue = given(settings, [entered(10, "ada")])
    queue.when(20, { _tag: "End", by: "admin" })
    assert.deepStrictEqual(
      queue.until(100).map((event) => event._tag),
      ["Denied", "TornDown"]
    )
  })
})

describe("the loyalty head start", () => {
  const settings = { loyaltyBiasEnabled: true, loyaltyHeadStartSeconds: 60 }

  it("orders a consumer as if it had entered that much earlier", () => {
    const queue = given(settings, [entered(0, "ada"), entered(31, "bob")])
    queue.when(60, enter("eve", 0.5))
    assert.deepStrictEqual([queue.position(60, "ada"), queue.position(60, "eve"), queue.position(60, "bob")], [1, 2, 3])
  })

  it("keeps the order of entry between equal consumers", () => {
    const queue = given(settings, [entered(30, "ada")])
    queue.when(60, enter("eve", 0.5))
    assert.deepStrictEqual([queue.position(60, "ada"), queue.position(60, "eve")], [1, 2])
  })

  it("limits a score to its bounds", () => {
    const queue = given(settings)
    assert.deepStrictEqual(queue.when(1, enter("ada", 7)), [
      { _tag: "Entered", at: at(1), consumerId: "ada", loyaltyScore: 1 }
    ])
  })

  it("makes positions qualitative", () => {
    assert.deepInclude(given(settings, [entered(0, "ada")]).view(0, "ada"), { positionDisplayMode: "qualitative" })
  })

  it("has no effect if the bias is off", () => {
    const queue = given({ loyaltyBiasEnabled: false }, [entered(0, "ada")])
    queue.when(1, enter("eve", 1))
    assert.strictEqual(queue.position(1, "eve"), 2)
  })
})
