import { assert, describe, it } from "@effect/vitest"
import { RestartHistory } from "../../../src/engine/actor/RestartPolicy.ts"

const defect = (at: number) => ({ isDefect: true, at })
const outage = (at: number) => ({ isDefect: false, at })

describe("the restart policy", () => {
  it("parks a mechanism after five defects within a minute", () => {
    const failures = new RestartHistory()
    for (const at of [0, 10_000, 20_000, 30_000]) assert.isDefined(failures.note(defect(at)))
    assert.isUndefined(failures.note(defect(59_999)))
    assert.isTrue(failures.parked)
  })

  it("does not park a mechanism after five defects over more than a minute", () => {
    const failures = new RestartHistory()
    for (const at of [0, 20_000, 40_000, 60_000, 80_000]) assert.isDefined(failures.note(defect(at)))
    assert.isFalse(failures.parked)
  })

  it("never parks a mechanism for outages, and lets the pause grow to five seconds", () => {
    const failures = new RestartHistory()
    const pauses = Array.from({ length: 9 }, (_, n) => failures.note(outage(n)))
    assert.deepStrictEqual(pauses, [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000])
  })

  it("starts with a small pause again once the actor has run", () => {
    const failures = new RestartHistory()
    failures.note(outage(0))
    failures.note(outage(1))
    failures.recovered()
    assert.strictEqual(failures.note(outage(2)), 100)
    assert.strictEqual(failures.restarts, 3)
  })

  it("gives an unparked mechanism five attempts again, with a small pause after the first", () => {
    const failures = new RestartHistory()
    const attempts = () => Array.from({ length: 5 }, (_, n) => failures.note(defect(n)))
    const first = attempts()
    assert.deepStrictEqual([first[0], first[4]], [100, undefined])
    failures.unpark()
    assert.deepStrictEqual(attempts(), first)
  })
})
