import { assert, describe, it } from "@effect/vitest"
import { lineOf } from "../../../src/domain/queue/Line.ts"
import { contradictions, positionIn } from "../../../src/domain/queue/LineChecks.ts"
import { type Command, decider, type Line } from "../../../src/domain/queue/Queue.ts"
import { actsMax, runsMax } from "../../../src/domain/queue/LineState.ts"
import {
  admit,
  at,
  complete,
  configure,
  deny,
  end,
  enter,
  entered,
  given,
  granted,
  type History,
  leave,
  remove
} from "./history.ts"

const names = ["ada", "bob", "eve", "joe", "kim", "lee"]
const line = names.map((consumerId, index) => entered(index / 10, consumerId))
const of = ({ state }: History): Line => lineOf(state)
const ticketOf = (queue: History, consumerId: string, seconds = 100): number | undefined => {
  const view = queue.view(seconds, consumerId)
  return view.status === "QUEUED" ? view.ticket : undefined
}

const unmoved = { byRate: 0, byHand: 0, outOfOrder: 0, left: 0, removed: 0 }

describe("the line of a queue", () => {
  it("is empty at first, and then one run of tickets", () => {
    assert.deepStrictEqual(of(given()), {
      order: "arrival",
      issued: 0,
      waiting: 0,
      next: 1,
      runs: [],
      isComplete: true,
      tally: unmoved,
      acts: []
    })
    const queue = given({}, line)
    assert.deepInclude(of(queue), { issued: 6, waiting: 6, next: 1, runs: [6] })
    assert.deepStrictEqual(
      names.map((name) => ticketOf(queue, name)),
      [1, 2, 3, 4, 5, 6]
    )
  })

  it("is unmoved by an extension of a grant that its consumer has left", () => {
    const queue = given({ admissionExpirationSeconds: 60 }, line)
    queue.when(1, admit("ada"))
    queue.when(2, leave("ada"))
    queue.when(3, enter("ada"))
    const before = of(queue)
    decider.evolve(queue.state, { _tag: "GrantExtended", at: at(4), consumerId: "ada", expiresAt: at(90), by: "admin" })
    assert.deepStrictEqual(of(queue), before)
    queue.when(5, leave("ada"))
    assert.strictEqual(of(queue).waiting, names.length - 1)
  })

  it("tells which tickets are gone, and each position from that alone", () => {
    const queue = given({}, line)
    queue.when(1, leave("eve"))
    queue.when(2, admit("joe"))
    queue.when(3, { _tag: "AdmitNext", count: 1, by: "admin" })
    assert.deepInclude(of(queue), {
      issued: 6,
      waiting: 3,
      next: 2,
      runs: [1, 2, 2],
      tally: { ...unmoved, byHand: 2, outOfOrder: 1, left: 1 }
    })
    const positions = [1, 2, 3, 4, 5, 6, 7].map((ticket) => positionIn(of(queue), ticket))
    assert.deepStrictEqual(positions, [undefined, 1, undefined, undefined, 2, 3, undefined])
  })

  it("gives a consumer that comes again a new ticket at the end", () => {
    const queue = given({}, line)
    queue.when(1, leave("ada"))
    queue.when(2, enter("ada"))
    assert.strictEqual(ticketOf(queue, "ada"), 7)
    assert.deepInclude(of(queue), { issued: 7, next: 2, runs: [6], tally: { ...unmoved, left: 1 } })
  })

  it("counts every way out of it", () => {
    const queue = given({ admitRate: 60, admissionExpirationSeconds: 1 }, line)
    queue.until(0.5)
    queue.when(0.6, complete("ada"))
    queue.when(0.6, leave("bob"))
    queue.when(0.6, deny("eve"))
    queue.when(0.6, remove("joe"))
    queue.when(0.7, admit("lee"))
    queue.when(0.8, end)
    queue.until(10)
    assert.deepInclude(of(queue), {
      waiting: 0,
      next: 7,
      runs: [],
      tally: { byRate: 1, byHand: 1, outOfOrder: 1, left: 2, removed: 2 }
    })
  })

  it("has no tickets in the lobby, and numbers its places when they are drawn", () => {
    const queue = given({ lobbyOpenAt: at(0), openAt: at(60) }, line)
    queue.when(10, leave("ada"))
    assert.isUndefined(ticketOf(queue, "bob", 20))
    assert.deepInclude(of(queue), {
      order: "lobby",
      issued: 0,
      waiting: 5,
      runs: [],
      isComplete: false,
      tally: unmoved
    })
    queue.until(60)
    queue.enter(61, "ada")
    const drawn = names.slice(1).toSorted((a, b) => queue.position(62, a)! - queue.position(62, b)!)
    assert.deepStrictEqual(
      [...drawn, "ada"].map((name) => ticketOf(queue, name)),
      [1, 2, 3, 4, 5, 6]
    )
    assert.deepInclude(of(queue), { order: "drawn", issued: 6, runs: [6], isComplete: true })
  })

  it("tells no positions once a head start has moved a place", () => {
    const queue = given({ loyaltyBiasEnabled: true })
    queue.when(1, enter("ada"))
    assert.deepInclude(of(queue), { order: "arrival", runs: [1] })
    queue.when(2, enter("bob", 1))
    assert.isUndefined(ticketOf(queue, "ada"))
    assert.deepInclude(of(queue), { order: "loyalty", waiting: 2, next: 0, runs: [], isComplete: false })
  })

  it("is bounded, and exact as far as it goes", () => {
    const queue = given({}, [], 0)
    const count = runsMax + 5_000
    for (let n = 1; n <= count; n++) queue.apply(entered(n / 1_000, `consumer ${n}`))
    for (let n = 2; n <= count; n += 2) queue.apply({ _tag: "Left", at: at(100), consumerId: `consumer ${n}` })
    const told = of(queue)
    assert.lengthOf(told.runs, runsMax)
    assert.isFalse(told.isComplete)
    assert.strictEqual(positionIn(told, 9_999), 5_000)
    assert.isUndefined(positionIn(told, 10_000))
    assert.strictEqual(told.waiting, count / 2)
  })
})

describe("actions of staff, in the line of a queue", () => {
  it("has reasons, and is told once for all consumers of a request", () => {
    const queue = given({}, line)
    queue.when(1, { _tag: "AdmitNext", count: 2, by: "admin", reason: "CUSTOMER_CARE" })
    queue.when(1, { ...admit("lee"), reason: "CUSTOMER_CARE" } as Command)
    queue.when(2, { _tag: "Pause", by: "admin", reason: "HIGH_LOAD" })
    queue.when(3, { ...configure({ admitRate: 120 }), reason: "STOCK_CHANGED" } as Command)
    queue.when(3, configure({ admitRate: 120, name: "Renamed" }))
    queue.when(4, { _tag: "Resume", by: "admin" })
    queue.when(4, deny("kim"))
    queue.when(4, leave("joe"))
    assert.deepStrictEqual(of(queue).acts, [
      { at: at(1), act: "admitted", reason: "CUSTOMER_CARE", count: 3, outOfOrder: 1 },
      { at: at(2), act: "paused", reason: "HIGH_LOAD" },
      { at: at(3), act: "rate", reason: "STOCK_CHANGED", admitRate: 120 },
      { at: at(4), act: "resumed" },
      { at: at(4), act: "removed", count: 1 }
    ])
  })

  it("is the last of it", () => {
    const queue = given()
    for (let n = 0; n < actsMax; n++) {
      queue.when(2 * n, { _tag: "Pause", by: "admin" })
      queue.when(2 * n + 1, { _tag: "Resume", by: "admin" })
    }
    const { acts } = of(queue)
    assert.lengthOf(acts, actsMax)
    assert.deepStrictEqual(acts.at(-1), { at: at(2 * actsMax - 1), act: "resumed" })
  })
})

describe("a line that contradicts an earlier one", () => {
  const before = of(given({}, line))

  /** The line after one more event than the rules allow. */
  const after = (change: (queue: History) => void): Line => {
    const queue = given({}, line)
    change(queue)
    return of(queue)
  }

  it("shows that the rate admitted another than the first", () => {
    const jumped = after((queue) => queue.apply(granted(1, "bob")))
    assert.deepStrictEqual(contradictions(before, jumped), ["OUT_OF_ORDER"])
    const inOrder = after((queue) => queue.apply(granted(1, "ada")))
    assert.deepStrictEqual(contradictions(before, inOrder), [])
  })

  it("shows an admission by hand that is counted as one in order", () => {
    const byHand = after((queue) => queue.when(1, admit("eve")))
    assert.deepStrictEqual(contradictions(before, byHand), [])
    const hidden: Line = { ...byHand, tally: { ...byHand.tally, outOfOrder: 0 } }
    assert.deepStrictEqual(contradictions(before, hidden), ["OUT_OF_ORDER"])
  })

  it("shows a ticket that came back, or was let in at the head", () => {
    const left = after((queue) => queue.when(1, leave("ada")))
    assert.include(contradictions(left, before), "TICKET_RETURNED")
    const slippedIn: Line = { ...left, next: 1, runs: [6], waiting: 6, tally: unmoved }
    assert.include(contradictions({ ...left, tally: unmoved }, slippedIn), "TICKET_RETURNED")
  })

  it("shows tickets that vanished, and numbers that went back", () => {
    const vanished: Line = { ...before, waiting: 5, next: 2, runs: [5] }
    assert.deepStrictEqual(contradictions(before, vanished), ["UNEXPLAINED_TICKETS"])
    const grown = after((queue) => queue.enter(1, "zoe"))
    assert.include(contradictions(grown, before), "NUMBERS_WENT_BACK")
  })

  it("compares the tickets that both of them contain", () => {
    const jumped = after((queue) => queue.apply(granted(1, "bob")))
    assert.deepStrictEqual(contradictions(before, { ...jumped, isComplete: false }), [])
  })
})
