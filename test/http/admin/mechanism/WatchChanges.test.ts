import { assert, describe, it } from "@effect/vitest"
import { diffOf, snapshotOf, type Snapshot } from "../../../../src/http/admin/mechanism/WatchChanges.ts"

/** The part of a queue's state that these tests use. */
type Wire = Snapshot["wire"] & { readonly live: { readonly counts: object } | null }

const queue = {
  name: "Line",
  lifecycle: "open",
  statusOverride: null,
  statusOverrideAt: null,
  statusOverrideBy: null,
  teardownStatus: null,
  updatedAt: "2026-11-21T12:00:00.000Z",
  updatedBy: "someone",
  live: { lastSequence: 1, counts: { QUEUED: 1 } }
} as const

const ended = { lifecycle: "settling", statusOverride: "ended", teardownStatus: "pending", updatedBy: "x" } as const
const busier = { live: { lastSequence: 2, counts: { QUEUED: 2 } } }

/** Returns the names of the events, with the changed lifecycle, and the last event's id. */
const news = (before: Partial<Wire>, after: Partial<Wire>, isDue = true, isArchived = false) => {
  const found = diffOf(
    snapshotOf({ ...queue, ...before }, false),
    snapshotOf({ ...queue, ...after }, isArchived),
    isDue
  )
  const events = (found?.events ?? "").split("\n\n").slice(0, -1)
  return events.map((event) => {
    const fields = new Map(event.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line] as const))
    const { change } = JSON.parse(fields.get("data")!.slice("data: ".length))
    const name = fields.get("event")!.slice("event: ".length)
    return `${change === undefined ? name : change}${fields.has("id") ? "." : ""}`
  })
}

describe("Change events of a mechanism", () => {
  it("are absent where nothing changed", () => assert.deepStrictEqual(news({}, {}), []))

  it("are counter events where counters changed and are due", () => {
    assert.deepStrictEqual(news({}, busier), ["counters."])
    assert.deepStrictEqual(news({}, busier, false), [])
  })

  it("contain the whole state where the configuration changed", () => {
    assert.deepStrictEqual(news({}, { name: "Another" }, false), ["state."])
    assert.deepStrictEqual(news({}, { name: "Another", ...busier }), ["state."])
    assert.deepStrictEqual(news({}, { updatedBy: "another" }, false), ["state."])
  })

  for (const [before, after, expected] of [
    [{ lifecycle: "scheduled" }, {}, ["opened."]],
    [{}, { lifecycle: "settling", teardownStatus: "pending" }, ["closing."]],
    [{}, { lifecycle: "closed", teardownStatus: "completed" }, ["closing", "settled."]],
    [{ lifecycle: "settling" }, { lifecycle: "closed" }, ["settled."]],
    [{}, ended, ["ended."]],
    [{ lifecycle: "scheduled" }, ended, ["ended."]],
    [{}, { ...ended, lifecycle: "closed" }, ["ended", "settled."]],
    [{ lifecycle: "scheduled" }, { lifecycle: "closed" }, ["opened", "closing", "settled."]],
    [{}, { ...ended, name: "Another" }, ["ended", "state."]],
    [{}, { ...ended, ...busier }, ["ended", "counters."]]
  ] as ReadonlyArray<readonly [Partial<Wire>, Partial<Wire>, ReadonlyArray<string>]>) {
    it(`are ${expected.join(" and ")} from ${JSON.stringify(before)} to ${JSON.stringify(after)}`, () =>
      assert.deepStrictEqual(news(before, after), expected))
  }

  it("are the archived event alone after any other change, without counters", () => {
    assert.deepStrictEqual(news({}, { ...ended, lifecycle: "closed", live: null, name: "x" }, true, true), [
      "ended",
      "settled",
      "archived."
    ])
  })

  it("leave counters that are not due for a later event", () => {
    const before = snapshotOf(queue, false)
    const first = diffOf(before, snapshotOf({ ...queue, ...busier, ...ended }, false), false)!
    assert.deepStrictEqual(first.snapshot.wire.live, queue.live)
    const second = diffOf(first.snapshot, snapshotOf({ ...queue, ...busier, ...ended }, false), true)!
    assert.match(second.events, /^id: 2-[0-9a-f]{12}\nevent: counters\ndata: /)
    assert.deepStrictEqual(second.snapshot.wire.live, busier.live)
  })
})
