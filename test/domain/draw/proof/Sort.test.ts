import { assert, describe, it } from "@effect/vitest"
import { sorted } from "../../../../src/domain/draw/proof/Sort.ts"
import { stepsPerSlice, CooperativeTask } from "../../../../src/domain/draw/CooperativeTask.ts"
import { Dice } from "../../../e2e/support/Dice.ts"

describe("sorting in steps", () => {
  it("has the same result as sorting at once, for all sizes, and keeps the order of equal members", () => {
    const dice = new Dice(3)
    for (const size of [0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1_000, 4_096, 5_555]) {
      for (const kinds of [1, 10, 1_000_000]) {
        const keys = Array.from({ length: size }, () => dice.between(1, kinds))
        const compare = (a: number, b: number) => keys[a]! - keys[b]!
        const steps = sorted(size, compare)
        let step = steps.next()
        while (step.done !== true) step = steps.next()
        assert.deepStrictEqual([...step.value], keys.map((_, index) => index).toSorted(compare))
      }
    }
  })

  it("compares at most some hundred pairs in a step", () => {
    const dice = new Dice(4)
    const keys = Array.from({ length: 20_000 }, () => dice.next())
    let comparisons = 0
    let most = 0
    const steps = sorted(keys.length, (a, b) => {
      comparisons++
      return keys[a]! - keys[b]!
    })
    for (let step = steps.next(); step.done !== true; step = steps.next()) {
      most = Math.max(most, comparisons)
      comparisons = 0
    }
    assert.isAtMost(most, 200)
    assert.isAbove(most, 0)
  })
})

describe("a task", () => {
  it("works a fixed number of steps in a slice, returns its result when it is done, and then does no more work", () => {
    let steps = 0
    const task = new CooperativeTask(
      (function* () {
        for (let step = 0; step < 2.5 * stepsPerSlice; step++) {
          steps++
          yield
        }
        return "done"
      })()
    )
    assert.isUndefined(task.work())
    assert.strictEqual(steps, stepsPerSlice)
    assert.isUndefined(task.work())
    assert.strictEqual(task.work(), "done")
    assert.strictEqual(task.work(), "done")
    assert.strictEqual(steps, 2.5 * stepsPerSlice)
  })
})
