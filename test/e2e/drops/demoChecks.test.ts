/** Shows each check of the demo evidence that breaks its promise. A check must be able to fail. */
import { assert, describe, it } from "@effect/vitest"
import * as Checks from "../../../src/cli/demo/Checks.ts"
import * as Crowd from "../../../src/cli/demo/Crowd.ts"
import { addUp } from "../../../src/cli/demo/OneStock.ts"
import type { Recorded } from "../../../src/load/Proofs.ts"

type Line = readonly [type: string, consumerId?: string]

/** The time of a consumer's entry, which its name gives. */
const entryOf = (consumerId: string): number => 1_000 + consumerId.charCodeAt(0)

/** Returns a consumer's notes. Its entry is acknowledged at the time that its name gives. */
const notes = (consumerId: string, status: Crowd.Notes["status"], positions: ReadonlyArray<number>): Crowd.Notes => ({
  consumerId,
  behaviour: "buys",
  enteredAt: entryOf(consumerId),
  positions: [...positions],
  grants: [],
  status
})

const recorded = (lines: ReadonlyArray<Line>): ReadonlyArray<Recorded> =>
  lines.map(([type, consumerId], index) => ({
    sequence: index + 1,
    type,
    at: type === "Entered" ? entryOf(consumerId!) : 2_000,
    consumerId: consumerId ?? null,
    data: {}
  }))

const history: ReadonlyArray<Line> = [
  ["Entered", "a"],
  ["Opened"],
  ["Entered", "b"],
  ["Entered", "c"],
  ["Granted", "a"],
  ["Expired", "a"],
  ["Granted", "b"],
  ["Completed", "b"]
]

const evidence = (): Checks.Evidence => ({
  crowd: {
    ...Crowd.make(),
    notes: [notes("a", "DENIED", []), notes("b", "COMPLETED", [2, 1]), notes("c", "QUEUED", [3, 1])]
  },
  history: recorded(history),
  places: [
    { consumerId: "a", status: "DENIED" },
    { consumerId: "b", status: "COMPLETED" },
    { consumerId: "c", status: "QUEUED" }
  ],
  pairs: 1
})

const broken = (changed: Partial<Checks.Evidence>) =>
  Checks.run({ ...evidence(), ...changed })
    .filter(({ holds }) => !holds)
    .map(({ claim }) => claim)

describe("the demo's checks", () => {
  it("hold for a correct drop", () => {
    assert.deepStrictEqual(broken({}), [])
  })

  it("find an acknowledged entry that is missing from the journal or has another time", () => {
    assert.include(
      broken({ history: recorded(history.filter(([, consumerId]) => consumerId !== "c")) }),
      "no entry was lost"
    )
    const crowd = evidence().crowd
    crowd.notes[2]!.enteredAt = 3_000
    assert.deepStrictEqual(broken({ crowd }), ["no entry was lost"])
  })

  it("find a place that differs from its consumer's notes", () => {
    const crowd = evidence().crowd
    crowd.notes[1]!.status = "GRANTED"
    assert.deepStrictEqual(broken({ crowd }), ["every place matches its consumer's last response"])
  })

  it("find a second admission, in the journal or in the notes", () => {
    assert.include(broken({ history: recorded([...history, ["Granted", "a"]]) }), "no consumer was admitted twice")
    const crowd = evidence().crowd
    crowd.notes[1]!.grants.push({ token: "1", grantedAt: 1 }, { token: "2", grantedAt: 2 })
    assert.deepStrictEqual(broken({ crowd }), ["no consumer was admitted twice"])
  })

  it("find one admission too many", () => {
    assert.deepStrictEqual(broken({ history: recorded([...history, ["Granted", "c"]]) }), [
      "never more admissions than pairs"
    ])
  })

  it("find an admission out of sequence, among later entries and before the lobby", () => {
    const swapped = [...history.slice(0, 6), ["Granted", "c"], ["Completed", "c"]] as ReadonlyArray<Line>
    assert.deepStrictEqual(broken({ history: recorded(swapped) }), ["the order was kept"])
    const passedOver = [...history.slice(0, 4), ["Granted", "b"]] as ReadonlyArray<Line>
    assert.deepStrictEqual(broken({ history: recorded(passedOver) }), ["the order was kept"])
  })

  it("find an overtaken consumer", () => {
    const crowd = evidence().crowd
    crowd.notes[2]!.positions.push(2)
    assert.deepStrictEqual(broken({ crowd }), ["no consumer was overtaken"])
  })

  it("find units of the stock that do not add up, and purchases that it does not count", () => {
    const taker = { distributionId: "a", allocated: 3, held: 1, sold: 4 }
    const units = { onHand: 10, free: 2, underway: 1, sold: 4, allocations: [taker] }
    const holds = (changed: Partial<typeof units>, bought = 4) => addUp({ ...units, ...changed }, bought).holds
    assert.isTrue(holds({}))
    assert.isFalse(holds({ onHand: 11 }))
    assert.isFalse(holds({ free: 1 }))
    assert.isFalse(holds({ allocations: [] }))
    assert.isFalse(holds({ underway: -1, free: 4 }))
    assert.isFalse(holds({}, 5))
  })
})
