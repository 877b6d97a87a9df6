import { assert, describe, it } from "@effect/vitest"
import { figures } from "../../../bench/report/Figures.ts"
import { costOfChecks } from "../../../bench/scenarios/CallerChecks.ts"

describe("the cost of credentials and limits", () => {
  const noop = figures([
    { entriesPerSecond: 900, serverMicrosecondsPerEntry: 100 },
    { entriesPerSecond: 800, serverMicrosecondsPerEntry: 110 },
    { entriesPerSecond: 850, serverMicrosecondsPerEntry: 130 }
  ])
  const open = figures([
    { entriesPerSecond: 1_000, serverMicrosecondsPerEntry: 90 },
    { entriesPerSecond: 1_100, serverMicrosecondsPerEntry: 80 },
    { entriesPerSecond: 900, serverMicrosecondsPerEntry: 105 }
  ])

  it("is the time of noop beyond that of noop-open, run by run", () => {
    const { figures, note } = costOfChecks(noop, open)
    assert.deepStrictEqual(figures["serverMicrosecondsPerEntry"], { runs: [10, 30, 25], min: 10, median: 25, max: 30 })
    assert.include(note, "25 µs of the 110 µs (23 %)")
    assert.include(note, "0.85 × the entries a second")
  })

  it("is the rates alone where processor time is not known", () => {
    const rates = figures([{ entriesPerSecond: 850 }])
    const { figures: none, note } = costOfChecks(rates, figures([{ entriesPerSecond: 1_000 }]))
    assert.deepStrictEqual(none, {})
    assert.include(note, "0.85 × the entries a second")
  })
})
