import { assert, describe, it } from "@effect/vitest"
import { type Command, decider, type Event } from "../../../src/domain/queue/Queue.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import {
  admissions,
  admit,
  admitted,
  at,
  closed,
  complete,
  completed,
  configure,
  deniedAsClosed,
  end,
  enter,
  entered,
  expired,
  given,
  granted,
  type History,
  tornDown
} from "./history.ts"

const pause = { _tag: "Pause", by: "admin" } as const
const resume = { _tag: "Resume", by: "admin" } as const
const paused = (seconds: number, reason: object = {}) =>
  ({ _tag: "Paused", at: at(seconds), by: "admin", ...reason }) as Event
const resumed = (seconds: number, reason: object = {}) =>
  ({ _tag: "Resumed", at: at(seconds), by: "admin", ...reason }) as Event

const line = ["ada", "bob", "eve", "joe", "kim"].map((consumerId, index) => entered(index / 10, consumerId))

const facts = (queue: History, seconds: number) => decider.facts!(queue.state, at(seconds))

describe("pausing a queue", () => {
  it("stops admission by rate, with its author and its reason", () => {
    const queue = given({ admitRate: 60 }, line)
    assert.deepStrictEqual(admissions(queue.until(0.5)), [400])
    const outcome = queue.when(0.9, { ...pause, reason: "TECHNICAL_PROBLEM" })
    assert.deepStrictEqual(outcome, [paused(0.9, { reason: "TECHNICAL_PROBLEM" })])
    assert.deepStrictEqual(queue.until(3_600), [])
    assert.deepStrictEqual(facts(queue, 3_600).pause, { since: at(0.9), by: "admin", reason: "TECHNICAL_PROBLEM" })
    assert.deepStrictEqual(decider.publishedFacts!(queue.state), {
      pausedAt: new Date(at(0.9)).toISOString(),
      pausedBy: "admin",
      pauseReason: "TECHNICAL_PROBLEM"
    })
  })

  it("keeps positions, tells waiting consumers, and promises no time", () => {
    const queue = given({ admitRate: 60 }, line)
    queue.when(0.45, pause)
    const view = {
      status: "QUEUED",
      position: 1,
      ticket: 2,
      joined: 2,
      paused: true,
      positionDisplayMode: "precise",
      enteredAt: at(0.1)
    }
    assert.deepStrictEqual<unknown>(queue.view(5, "bob"), view)
    queue.when(9, resume)
    queue.until(9)
    const { paused: _, ...resumedView } = view
    assert.deepStrictEqual<unknown>(queue.view(9, "eve"), {
      ...resumedView,
      enteredAt: at(0.2),
      ticket: 3,
      joined: 3,
      position: 1,
      estimatedWaitTimeInSeconds: 1
    })
    assert.isUndefined(facts(queue, 9).pause)
    assert.deepStrictEqual(decider.publishedFacts!(queue.state), {})
  })

  it("continues at the rate, without the admissions of the pause", () => {
    const queue = given({ admitRate: 60 }, line)
    queue.until(0.45)
    queue.when(0.5, pause)
    queue.when(100, resume)
    assert.deepStrictEqual(admissions(queue.until(200)), [100_000, 101_000, 102_000, 103_000])
  })

  it("keeps the spacing after a pause shorter than it", () => {
    const queue = given({ admitRate: 60 }, line)
    queue.when(0.5, pause)
    queue.when(0.6, resume)
    assert.deepStrictEqual(admissions(queue.events), [400])
    assert.deepStrictEqual(admissions(queue.until(2.5)), [1_400, 2_400])
  })

  it("has no burst after a pause even if no timer fired meanwhile", () => {
    const queue = given({ admitRate: 600 }, line)
    queue.when(0.05, pause)
    queue.when(60, resume)
    assert.deepStrictEqual(admissions(queue.noticed(60.2)), [60_000, 60_100, 60_200])
  })

  it("allows entries, and admission by hand", () => {
    const queue = given({ admitRate: 60 })
    queue.when(0, pause)
    queue.enter(1, "ada", "bob", "eve")
    const byHand: Command = { _tag: "AdmitNext", count: 1, by: "admin", reason: "CUSTOMER_CARE" }
    assert.deepStrictEqual(queue.when(2, byHand), [{ ...admitted(2, "ada"), reason: "CUSTOMER_CARE" } as Event])
    assert.deepStrictEqual(queue.when(2, admit("eve")), [admitted(2, "eve")])
    assert.deepStrictEqual([queue.status(3, "eve"), queue.position(3, "bob")], ["GRANTED", 1])
  })

  it("leaves grants as they are: they are used, and they expire", () => {
    const queue = given({ admitRate: 60, admissionExpirationSeconds: 10 })
    queue.enter(0, "ada", "bob")
    assert.deepStrictEqual(queue.until(1), [granted(1, "bob")])
    queue.when(2, pause)
    assert.deepStrictEqual(queue.when(3, complete("ada")), [completed(3, "ada")])
    assert.deepStrictEqual(queue.until(20), [expired(11, "bob")])
  })

  it("changes nothing twice, and nothing of a queue that is not paused", () => {
    const queue = given({ admitRate: 60 })
    assert.deepStrictEqual(queue.when(1, resume), [])
    assert.deepStrictEqual(queue.when(2, pause), [paused(2)])
    assert.deepStrictEqual(queue.when(3, pause), [])
    assert.deepStrictEqual(queue.when(4, { ...resume, reason: "OTHER" }), [resumed(4, { reason: "OTHER" })])
    assert.deepStrictEqual(queue.when(5, resume), [])
  })

  it("lasts over a change of the rate", () => {
    const queue = given({ admitRate: 60 }, line)
    queue.when(0.5, pause)
    queue.when(1, configure({ admitRate: 600 }))
    assert.deepStrictEqual(queue.until(10), [])
    queue.when(10, resume)
    assert.deepStrictEqual(admissions(queue.until(10.2)), [10_000, 10_100, 10_200])
  })

  it("may begin before the opening, and the lobby still gets its order", () => {
    const queue = given({ admitRate: 60, lobbyOpenAt: at(0), openAt: at(60) }, line)
    queue.when(10, pause)
    assert.deepStrictEqual<unknown>(queue.view(10, "ada"), {
      status: "QUEUED",
      paused: true,
      positionDisplayMode: "precise",
      enteredAt: at(0)
    })
    assert.deepStrictEqual(
      queue.until(90).map(({ _tag }) => _tag),
      ["Opened"]
    )
    assert.isNumber(queue.position(90, "ada"))
    queue.when(100, resume)
    assert.deepStrictEqual(admissions(queue.until(100.5)), [100_000])
  })

  it("ends with the queue, which closes at its time or by hand", () => {
    const byTime = given({ admitRate: 60, closeAt: at(30) })
    byTime.when(1, pause)
    byTime.enter(2, "ada")
    assert.deepStrictEqual(byTime.until(30), [closed(30), deniedAsClosed(30, "ada"), tornDown(30)])
    assert.isUndefined(facts(byTime, 30).pause)
    assert.deepStrictEqual(decider.publishedFacts!(byTime.state), {})
    assertRefused(byTime.when(31, pause), "Closed")
    assertRefused(byTime.when(31, resume), "Closed")

    const byHand = given({ admitRate: 60 })
    byHand.when(1, pause)
    byHand.when(2, end)
    assert.deepStrictEqual(byHand.status(3, "ada"), "NOT_QUEUED")
    assertRefused(byHand.when(3, resume), "Closed")
  })

  it("tells a full queue's callers that the time to come again is not known", () => {
    const queue = given({ admitRate: 600, capacity: 1 })
    queue.enter(0, "ada", "bob")
    queue.when(0, pause)
    assertRefused(queue.when(0.05, enter("eve")), "Full", { retryAfterSeconds: 60 })
  })
})

describe("the admissions that are left", () => {
  it("are a public fact, and unlimited without a maximum", () => {
    const queue = given({ maxAdmissions: 2 }, line)
    assert.strictEqual(facts(queue, 1).admissionsLeft, 2)
    queue.when(1, admit("ada"))
    assert.strictEqual(facts(queue, 1).admissionsLeft, 1)
    assert.strictEqual(facts(given(), 1).admissionsLeft, Infinity)
  })
})
