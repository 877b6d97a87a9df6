import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import {
  bucketsMax,
  bucketsOf,
  type Interval,
  intervalMillis,
  type Measure,
  measureProblems,
  type Range,
  rangeOf,
  sources,
  tooManyBuckets
} from "../../../src/domain/organization/Analytics.ts"

const at = (text: string) => Date.parse(text)
const now = at("2026-11-21T18:30:15.500Z")

const range = (text: string): Range => Result.getOrThrow(rangeOf(text, now))
const refused = (text: string) => Result.getOrThrow(Result.flip(rangeOf(text, now))).type

const starts = (text: string, interval: Interval) =>
  bucketsOf(range(text), interval).map((bucket) => new Date(bucket).toISOString())

const measure = (more: Partial<Measure> = {}): Measure => ({
  name: "bids",
  event: "bid_placed",
  op: "count",
  unit: "bids",
  ...more
})

describe("The events", () => {
  it("are all that are recorded and mean something, each under a name of its kind", () => {
    const life = ["configured", "ended", "archived", "closed", "torn_down"]
    const units = ["units_came", "units_left", "units_taken"]
    const own = {
      queue: [
        "lobby_opened",
        "entered",
        "granted",
        "grant_extended",
        "expired",
        "denied",
        "completed",
        "renewed",
        "left",
        "paused",
        "resumed",
        ...units,
        "supply_noted"
      ],
      draw: [
        ...units,
        "entered",
        "left",
        "entries_fixed",
        "won",
        "grant_extended",
        "drawn",
        "expired",
        "denied",
        "completed"
      ],
      auction: [
        ...units,
        "entered",
        "outbid",
        "reinstated",
        "extended",
        "won",
        "grant_extended",
        "lost",
        "expired",
        "denied",
        "completed"
      ],
      appointment: ["booked", "rescheduled", "checked_in", "completed", "cancelled", "missed"],
      timed_release: [...units, "entered", "selected", "grant_extended", "expired", "denied", "completed", "left"],
      waitlist: [...units, "entered", "left", "denied", "notified", "offered", "expired", "completed", "grant_extended"]
    }
    const expected = Object.entries(own).flatMap(([kind, types]) =>
      [...life, ...types].map((type) => `${kind}_${type}`)
    )
    assert.sameMembers(
      [...sources.keys()],
      [...expected, "bid_placed", "order_created", "order_paid", "order_fulfilled", "order_cancelled", "room_visited"]
    )
  })

  it("are found in the events that record them, with the fields that can be added up", () => {
    assert.deepStrictEqual(sources.get("bid_placed"), { kind: "auction", type: "BidPlaced", fields: ["amount"] })
    assert.deepStrictEqual(sources.get("timed_release_torn_down"), {
      kind: "timed_release",
      type: "TornDown",
      fields: []
    })
    const shown = new Set([...sources.values()].flatMap(({ fields }) => fields))
    assert.sameMembers([...shown], ["amount", "loyaltyScore", "total"])
  })
})

describe("A range", () => {
  it("goes back from now, or from one instant to another with any offsets", () => {
    assert.deepStrictEqual(range("90m"), { from: now - 90 * 60_000, to: now })
    assert.deepStrictEqual(range("2h"), { from: now - 2 * 3_600_000, to: now })
    assert.deepStrictEqual(range("366d"), { from: now - 366 * 86_400_000, to: now })
    assert.deepStrictEqual(range("2026-11-21T10:00:00+02:00/2026-11-21T09:00:00Z"), {
      from: at("2026-11-21T08:00:00Z"),
      to: at("2026-11-21T09:00:00Z")
    })
  })

  it("is refused where it is none, empty, backward or too long", () => {
    for (const text of [
      "h",
      "1w",
      "-1h",
      "1.5h",
      "1h ",
      "24",
      "2026-11-21/2026-11-22",
      "1h/2h",
      "2026-11-21T10:00:00Z"
    ]) {
      assert.strictEqual(refused(text), "string", text)
    }
    assert.strictEqual(refused("2026-11-21T10:00:00Z/2026-11-22T10:00:00Z/2026-11-23T10:00:00Z"), "string")
    assert.strictEqual(refused("2026-02-30T10:00:00Z/2026-03-04T10:00:00Z"), "string")
    assert.strictEqual(refused("0h"), "min_value")
    assert.strictEqual(refused("2026-11-21T10:00:00Z/2026-11-21T10:00:00Z"), "min_value")
    assert.strictEqual(refused("2026-11-21T10:00:00Z/2026-11-21T09:00:00Z"), "min_value")
    assert.strictEqual(refused("367d"), "max_value")
    assert.strictEqual(refused("2025-01-01T00:00:00Z/2026-01-02T00:00:00.001Z"), "max_value")
  })
})

describe("Buckets", () => {
  it("lie on the UTC clock and cover the range, and no more", () => {
    const hour = "2026-11-21T10:00:00Z/2026-11-21T11:00:00Z"
    assert.deepStrictEqual(starts(hour, "30m"), ["2026-11-21T10:00:00.000Z", "2026-11-21T10:30:00.000Z"])
    assert.deepStrictEqual(starts(hour, "1d"), ["2026-11-21T00:00:00.000Z"])
    assert.deepStrictEqual(starts("2026-11-21T10:59:59.999Z/2026-11-21T11:00:00.001Z", "1h"), [
      "2026-11-21T10:00:00.000Z",
      "2026-11-21T11:00:00.000Z"
    ])
    assert.deepStrictEqual(starts("2026-11-20T23:00:00Z/2026-11-21T13:00:00Z", "12h"), [
      "2026-11-20T12:00:00.000Z",
      "2026-11-21T00:00:00.000Z",
      "2026-11-21T12:00:00.000Z"
    ])
  })

  it("are days of 24 hours where local clocks are changed", () => {
    const march = starts("2026-03-28T00:00:00Z/2026-03-31T00:00:00Z", "1d")
    assert.deepStrictEqual(
      march,
      ["28", "29", "30"].map((day) => `2026-03-${day}T00:00:00.000Z`)
    )
    assert.lengthOf(starts("2026-10-25T00:00:00Z/2026-10-26T00:00:00Z", "1h"), 24)
  })

  it("are at most 1,500", () => {
    const of = (minutes: number): Range => ({ from: 0, to: minutes * 60_000 })
    assert.isUndefined(tooManyBuckets(of(bucketsMax), "1m"))
    assert.deepInclude(tooManyBuckets(of(bucketsMax + 1), "1m"), { path: ["interval"], type: "max_value" })
    assert.deepInclude(tooManyBuckets({ from: -1, to: bucketsMax * 60_000 }, "1m"), { type: "max_value" })
    assert.isUndefined(tooManyBuckets(range("366d"), "6h"))
    for (const interval of Object.keys(intervalMillis) as Array<Interval>) {
      const wide = range("366d")
      const isTooMany = bucketsOf(wide, interval).length > bucketsMax
      assert.strictEqual(tooManyBuckets(wide, interval) !== undefined, isTooMany, interval)
    }
  })
})

describe("Measures", () => {
  const problems = (...measures: ReadonlyArray<Measure>) =>
    measureProblems(measures).map(({ path, kind, type }) => `${path.join(".")}: ${kind} ${type}`)

  it("count any event, and add up its numeric fields", () => {
    const right = [
      measure(),
      measure({ name: "highest", op: "sum", field: "amount" }),
      measure({ name: "middle", op: "avg", field: "amount" }),
      measure({ name: "ends", event: "queue_ended", field: "nothing" })
    ]
    assert.deepStrictEqual(problems(...right), [])
  })

  it("are refused where there is nothing to add up, or two have one name", () => {
    assert.deepStrictEqual(problems(measure({ op: "sum" })), ["measures.0.field: schema string"])
    assert.deepStrictEqual(problems(measure({ op: "avg", field: null })), ["measures.0.field: schema string"])
    assert.deepStrictEqual(problems(measure({ op: "sum", field: "seed" })), ["measures.0.field: validation picklist"])
    assert.deepStrictEqual(problems(measure({ op: "sum", event: "queue_left", field: "amount" })), [
      "measures.0.op: validation picklist"
    ])
    assert.deepStrictEqual(problems(measure(), measure({ name: "other" }), measure({ op: "sum" })), [
      "measures.2.name: validation picklist",
      "measures.2.field: schema string"
    ])
  })
})
