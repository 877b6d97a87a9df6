import { assert, describe, it } from "@effect/vitest"
import { decider } from "../../../src/domain/queue/Queue.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import { arrives, giveBack, stockId, taken, told } from "../mechanism/support/units.ts"
import {
  admit,
  admitted,
  at,
  complete,
  configure,
  crowd,
  end,
  expired,
  given,
  granted,
  type History,
  leave,
  tornDown
} from "./history.ts"

const settings = { admitRate: 600, stockId }

const report = (queue: History) => decider.units!(queue.state)!

const liveFact =
  (name: string) =>
  ({ state }: History): unknown => {
    const facts = decider.facts!(state, state.lastAt)
    return decider.liveFacts!({ configuration: state.configuration, counts: state.counts, facts })[name]
  }

const unitsLeft = liveFact("unitsLeft")
const soldOut = liveFact("soldOut")

describe("a queue with a stock", () => {
  it("admits nobody before units come", () => {
    const queue = crowd(settings, 3)
    assert.deepStrictEqual(queue.until(10), [])
    assert.deepInclude(report(queue), { units: 0, needed: 3 })
    assert.notProperty(queue.view(10, "c0"), "soldOut")
    queue.when(10, arrives(1))
    assert.deepStrictEqual(queue.until(20), [granted(10, "c0")])
  })

  it("admits while fewer grants are live than it has units, and goes on when a unit comes back", () => {
    const queue = crowd({ ...settings, admissionExpirationSeconds: 100 }, 5)
    queue.when(0, arrives(2))
    assert.deepStrictEqual(queue.until(50), [granted(0, "c0"), granted(0.1, "c1")])
    queue.when(60, complete("c0"))
    assert.deepStrictEqual(queue.until(90), [])
    assert.deepStrictEqual(queue.until(100.1), [expired(100.1, "c1"), granted(100.1, "c2")])
    assert.deepInclude(report(queue), { units: 1, held: 1, sold: 1, needed: 2 })
    queue.when(110, leave("c2"))
    assert.deepStrictEqual(queue.until(110), [granted(110, "c3")])
  })

  it("keeps the places when it is sold out, and says whether units may return", () => {
    const queue = crowd(settings, 3)
    queue.when(0, arrives(1))
    queue.until(1)
    assert.deepInclude(queue.view(1, "c1"), { status: "QUEUED", position: 1, soldOut: { mayReturn: true } })
    assert.notProperty(queue.view(1, "c1"), "estimatedWaitTimeInSeconds")
    queue.when(1, told(false))
    assert.deepInclude(queue.view(1, "c1"), { soldOut: { mayReturn: true } })
    queue.when(2, complete("c0"))
    assert.deepInclude(queue.view(2, "c1"), { status: "QUEUED", position: 1, soldOut: { mayReturn: false } })
    queue.when(3, arrives(1, 2))
    assert.deepStrictEqual(queue.until(3), [granted(3, "c1")])
  })

  it("knows from its stock whether units that others have may come, and is told while it has none free", () => {
    const queue = crowd(settings, 3)
    queue.when(0, arrives(1))
    assert.notProperty(report(queue), "mayReturn")
    queue.until(1)
    queue.when(1, complete("c0"))
    assert.deepInclude(report(queue), { mayReturn: true })
    assert.deepStrictEqual(soldOut(queue), { mayReturn: true })
    assert.deepStrictEqual(queue.when(2, told(false)), [{ _tag: "SupplyNoted", at: at(2), mayReturn: false }])
    assert.deepStrictEqual(queue.when(3, told(false)), [])
    assert.deepStrictEqual(soldOut(queue), { mayReturn: false })
    queue.when(4, told(true))
    assert.deepStrictEqual(soldOut(queue), { mayReturn: true })
    queue.when(5, end)
    assert.deepStrictEqual(queue.when(5, told(false)), [])
    assert.isNull(soldOut(queue))
  })

  it("is sold out before it had a unit, if none may come", () => {
    const queue = crowd(settings, 1)
    assert.deepStrictEqual([soldOut(queue), unitsLeft(queue)], [null, null])
    queue.when(1, told(false))
    assert.deepStrictEqual([soldOut(queue), unitsLeft(queue)], [{ mayReturn: false }, 0])
    assert.deepInclude(queue.view(1, "c0"), { status: "QUEUED", position: 1, soldOut: { mayReturn: false } })
    queue.when(2, arrives(1))
    assert.isNull(soldOut(queue))
  })

  it("says that no unit may come to consumers who may not be admitted any more", () => {
    const queue = crowd({ ...settings, maxAdmissions: 1 }, 2)
    queue.when(0, arrives(1))
    queue.until(1)
    assert.deepStrictEqual(soldOut(queue), { mayReturn: true })
    queue.when(2, complete("c0"))
    assert.deepStrictEqual(soldOut(queue), { mayReturn: false })
  })

  it("refuses admissions by hand beyond its units", () => {
    const queue = crowd({ stockId }, 4)
    assertRefused(queue.when(1, admit("c0")), "SoldOut")
    queue.when(1, arrives(2))
    assert.deepStrictEqual(queue.when(2, { _tag: "AdmitNext", count: 10, by: "admin" }), [
      admitted(2, "c0"),
      admitted(2, "c1")
    ])
    assertRefused(queue.when(3, { _tag: "AdmitNext", count: 1, by: "admin" }), "SoldOut")
  })

  it("shows the units that are left, and needs no more than may be admitted", () => {
    const queue = crowd({ ...settings, admitRate: 0, maxAdmissions: 3 }, 9)
    queue.when(0, arrives(2))
    assert.strictEqual(report(queue).needed, 3)
    // More units may come than are here.
    assert.strictEqual(unitsLeft(queue), 3)
    queue.when(1, told(false))
    assert.strictEqual(unitsLeft(queue), 2)
    assert.isNull(unitsLeft(given()))
  })

  it("gives its units back when it has closed, and is torn down when the stock has them", () => {
    const queue = crowd({ ...settings, admissionExpirationSeconds: 100 }, 1)
    queue.when(0, arrives(5))
    queue.when(10, end)
    assert.deepInclude(queue.until(11)[0], { _tag: "UnitsLeft", transfer: 1, units: 4 })
    assert.deepStrictEqual(queue.until(200), [expired(100, "c0")])
    queue.when(201, taken(1))
    assert.deepInclude(queue.until(201)[0], { _tag: "UnitsLeft", transfer: 2, units: 1 })
    queue.when(202, taken(2))
    assert.deepStrictEqual(queue.until(202), [tornDown(202)])
  })

  it("gives back what others need and no grant holds", () => {
    const queue = crowd(settings, 1)
    queue.when(0, arrives(5))
    queue.until(1)
    assert.deepStrictEqual(queue.when(2, giveBack(9)), [{ _tag: "UnitsLeft", at: at(2), transfer: 1, units: 4 }])
  })

  it("keeps its stock once it has opened", () => {
    const queue = given()
    assertRefused(queue.when(1, configure(settings)), "ConfigurationFixed", { setting: "stockId" })
    const later = given({ openAt: at(10) })
    later.when(1, configure({ openAt: at(10), stockId }))
    assert.strictEqual(later.state.configuration.stockId, stockId)
  })
})
