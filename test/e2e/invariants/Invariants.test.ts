/** Shows each invariant a history that breaks it. An invariant must be able to fail. */
import { assert, describe, it } from "@effect/vitest"
import { type Line, recorded } from "./history.ts"
import { projectionErrors, read } from "./Invariants.ts"
import type { Rules } from "./QueueReader.ts"

const violations = (rules: Rules, lines: ReadonlyArray<Line>) => read(recorded(rules, lines)).violations
const operator = { by: "operator" }
const perSecond: Rules = { admitRate: 60 }

describe("the invariants", () => {
  it("find no violation in a correct queue", () => {
    assert.deepStrictEqual(
      violations({ admitRate: 60, admissionExpirationSeconds: 1, capacity: 2, maxAdmissions: 2 }, [
        ["Entered", 10, "a"],
        ["Entered", 10, "b"],
        ["Granted", 10, "a"],
        ["Completed", 500, "a"],
        ["Granted", 1010, "b"],
        ["Expired", 2010, "b"],
        ["Entered", 2010, "b"],
        ["Left", 2011, "b"],
        ["Entered", 2012, "b"],
        ["Ended", 2020],
        ["Denied", 2020, "b", { reason: "QUEUE_CLOSED" }],
        ["TornDown", 2020]
      ]),
      []
    )
  })

  it("find an admission out of sequence", () => {
    const reading = read(
      recorded(perSecond, [
        ["Entered", 1, "a"],
        ["Entered", 2, "b"],
        ["Granted", 3, "b"]
      ])
    )
    assert.strictEqual(reading.inversions, 1)
  })

  it("allow an operator to admit out of sequence", () => {
    assert.deepStrictEqual(
      violations(perSecond, [
        ["Entered", 1, "a"],
        ["Entered", 2, "b"],
        ["Granted", 3, "b", operator]
      ]),
      []
    )
  })

  it("order a loyal entry by its head start, and find it if it is passed over", () => {
    const rules: Rules = { admitRate: 60, loyaltyBiasEnabled: true, loyaltyHeadStartSeconds: 60 }
    const entries: ReadonlyArray<Line> = [
      ["Entered", 1, "a"],
      ["Entered", 2, "b", { loyaltyScore: 1 }]
    ]
    assert.deepStrictEqual(violations(rules, [...entries, ["Granted", 3, "b"]]), [])
    assert.strictEqual(violations(rules, [...entries, ["Granted", 3, "a"]]).length, 1)
  })

  it("allow any sequence within the lobby, but the lobby before all others", () => {
    const rules: Rules = { admitRate: 60, lobbyOpenAt: 0, openAt: 5 }
    const entries: ReadonlyArray<Line> = [
      ["Entered", 1, "a"],
      ["Entered", 2, "b"],
      ["Opened", 5],
      ["Entered", 6, "c"]
    ]
    assert.deepStrictEqual(violations(rules, [...entries, ["Granted", 6, "b"], ["Granted", 1006, "a"]]), [])
    assert.strictEqual(violations(rules, [...entries, ["Granted", 6, "c"]]).length, 1)
  })

  it("find admissions that are too fast by a millisecond", () => {
    const entries: ReadonlyArray<Line> = [
      ["Entered", 1, "a"],
      ["Entered", 1, "b"],
      ["Entered", 1, "c"],
      ["Granted", 1, "a"]
    ]
    assert.deepStrictEqual(violations(perSecond, [...entries, ["Granted", 2, "b"], ["Granted", 1002, "c"]]), [])
    assert.strictEqual(violations(perSecond, [...entries, ["Granted", 2, "b"], ["Granted", 1001, "c"]]).length, 1)
  })

  it("find a second live grant, one grant over the limit, and one over the capacity", () => {
    const two: ReadonlyArray<Line> = [
      ["Entered", 1, "a"],
      ["Granted", 1, "a", operator],
      ["Granted", 2, "a", operator]
    ]
    assert.strictEqual(violations(perSecond, two).length, 1)
    const three: ReadonlyArray<Line> = [
      ["Entered", 1, "a"],
      ["Entered", 1, "b"],
      ["Granted", 1, "a", operator],
      ["Granted", 2, "b", operator]
    ]
    assert.strictEqual(violations({ admitRate: 60, maxAdmissions: 1 }, three).length, 1)
    const left: ReadonlyArray<Line> = [...three.slice(0, 3), ["Left", 2, "a"], ["Granted", 2, "b", operator]]
    assert.deepStrictEqual(violations({ admitRate: 60, maxAdmissions: 1 }, left), [])
    assert.strictEqual(violations({ admitRate: 60, capacity: 1 }, three).length, 1)
  })

  it("find an entry after as many grants as a consumer may have, and one after a used grant without such a limit", () => {
    const twice: ReadonlyArray<Line> = [
      ["Entered", 1, "a"],
      ["Granted", 2, "a", operator],
      ["Completed", 3, "a"],
      ["Entered", 4, "a"]
    ]
    assert.deepStrictEqual(violations({ admitRate: 60, grantsPerConsumer: 2 }, twice), [])
    assert.strictEqual(violations({ admitRate: 60, grantsPerConsumer: 1 }, twice).length, 1)
    assert.strictEqual(violations(perSecond, twice).length, 1)
  })

  it("find an event that ends a grant and names another one, or none although others do", () => {
    const ends = (first: object, second: object): ReadonlyArray<Line> => [
      ["Entered", 1, "a"],
      ["Entered", 1, "b"],
      ["Granted", 2, "a", operator],
      ["Granted", 3, "b", operator],
      ["Left", 4, "a", { ...first }],
      ["Completed", 5, "b", { ...second }]
    ]
    const grant = (sequence: number) => ({ grant: { sequence } })
    assert.deepStrictEqual(violations(perSecond, ends(grant(4), grant(5))), [])
    assert.deepStrictEqual(violations(perSecond, ends({}, {})), [])
    assert.strictEqual(violations(perSecond, ends(grant(4), grant(4))).length, 1)
    assert.strictEqual(violations(perSecond, ends({}, grant(5))).length, 1)
    assert.strictEqual(violations(perSecond, ends(grant(4), {})).length, 1)
  })

  it("find use after expiry, early expiry, entry after the closing, and a second entry", () => {
    const rules: Rules = { admitRate: 60, admissionExpirationSeconds: 1 }
    const granted: ReadonlyArray<Line> = [
      ["Entered", 1, "a"],
      ["Granted", 1, "a"]
    ]
    assert.strictEqual(violations(rules, [...granted, ["Completed", 1001, "a"]]).length, 1)
    assert.strictEqual(violations(rules, [...granted, ["Expired", 1000, "a"]]).length, 1)
    assert.strictEqual(violations(rules, [...granted, ["Entered", 2, "a"]]).length, 1)
    assert.strictEqual(
      violations(rules, [
        ["Ended", 1],
        ["Entered", 2, "a"]
      ]).length,
      1
    )
  })

  it("find more grants that are live than may be, but let a lowered limit be exceeded", () => {
    const rules: Rules = { admitRate: 60_000, insideLimit: 1 }
    const inside: ReadonlyArray<Line> = [
      ["Entered", 1, "a"],
      ["Entered", 1, "b"],
      ["Granted", 1, "a"]
    ]
    assert.strictEqual(violations(rules, [...inside, ["Granted", 2, "b"]]).length, 1)
    assert.strictEqual(violations(rules, [...inside, ["Granted", 2, "b", operator]]).length, 1)
    assert.deepStrictEqual(violations(rules, [...inside, ["Left", 2, "a"], ["Granted", 2, "b"]]), [])
    const lowered: Line = ["Configured", 3, undefined, { configuration: rules }]
    const both: ReadonlyArray<Line> = [...inside, ["Granted", 2, "b"], lowered]
    assert.deepStrictEqual(violations({ admitRate: 60_000 }, both), [])
  })

  it("find a burst that is larger than it may be", () => {
    const rules: Rules = { admitRate: 60, standby: true, admitBurst: 2 }
    const burst = (...consumers: ReadonlyArray<string>) =>
      consumers.flatMap((name): ReadonlyArray<Line> => [
        ["Entered", 1, name],
        ["Granted", 1, name]
      ])
    assert.deepStrictEqual(violations(rules, burst("a", "b")), [])
    assert.strictEqual(violations(rules, burst("a", "b", "c")).length, 1)
  })

  it("find a renewal that comes too late, gains nothing, or makes a grant last too long", () => {
    const rules: Rules = { admitRate: 60, admissionRenewal: { idleSeconds: 1, maxSeconds: 3 } }
    const renewed = (at: number, expiresAt: number): ReadonlyArray<Line> => [
      ["Entered", 1, "a"],
      ["Granted", 1, "a"],
      ["Renewed", at, "a", { expiresAt }]
    ]
    assert.deepStrictEqual(violations(rules, [...renewed(900, 1_900), ["Expired", 1_900, "a"]]), [])
    assert.strictEqual(violations(rules, [...renewed(900, 1_900), ["Expired", 1_500, "a"]]).length, 1)
    assert.strictEqual(violations(rules, renewed(1_001, 2_001)).length, 1)
    assert.strictEqual(violations(rules, renewed(900, 900)).length, 1)
    assert.strictEqual(violations(rules, renewed(900, 3_002)).length, 1)
  })

  it("find a gap in the event numbers and a time that runs backwards", () => {
    const [first, second, third] = recorded(perSecond, [
      ["Entered", 5, "a"],
      ["Entered", 6, "b"]
    ])
    assert.strictEqual(read([first!, third!]).violations.length, 1)
    assert.strictEqual(read([first!, second!, { ...third!, at: 4 }]).violations.length, 1)
  })

  it("find a list that differs from the events", () => {
    const history = recorded(perSecond, [
      ["Entered", 1, "a"],
      ["Granted", 1, "a"],
      ["Entered", 2, "b"]
    ])
    const place = (consumerId: string, status: string, at: number) => ({
      consumerId,
      status,
      enteredAt: new Date(at).toISOString()
    })
    const right = [place("a", "GRANTED", 1), place("b", "QUEUED", 2)]
    assert.deepStrictEqual(projectionErrors(history, 4, right), [])
    assert.strictEqual(projectionErrors(history, 4, [right[0]!]).length, 1)
    assert.strictEqual(projectionErrors(history, 4, [place("a", "QUEUED", 1), right[1]!]).length, 1)
    assert.strictEqual(projectionErrors(history, 4, [...right, place("c", "QUEUED", 2)]).length, 1)
    assert.deepStrictEqual(projectionErrors(history, 2, [place("a", "QUEUED", 1)]), [])
  })
})
