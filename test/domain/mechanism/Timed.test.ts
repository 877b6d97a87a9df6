import { assert, describe, it } from "@effect/vitest"
import { newLifecycle } from "../../../src/domain/mechanism/Lifecycle.ts"
import { closing, due, teardownWhen, type TimedTransition, wakeAt, work } from "../../../src/domain/mechanism/Timed.ts"

interface State {
  lastAt: number
  readonly times: { readonly [tag: string]: number }
  worked: number
}

type Event = { readonly _tag: string; readonly at: number; readonly entropy?: string }

const transition = (tag: string, more: Partial<TimedTransition<State, Event>> = {}): TimedTransition<State, Event> => ({
  dueAt: ({ times }) => times[tag] ?? Infinity,
  make: (_, at) => ({ _tag: tag, at }),
  ...more
})

const stateOf = (times: State["times"], lastAt = 0): State => ({ lastAt, times, worked: 0 })
const moment = (now: number) => ({ now, entropy: () => "chance", level: 1 })

describe("a table of timed transitions", () => {
  const table = [transition("First"), transition("Second"), transition("Third")]

  it("wakes the actor at the earliest instant, and never if there is none", () => {
    assert.strictEqual(wakeAt(table, stateOf({ Second: 20, Third: 10 })), 10)
    assert.isUndefined(wakeAt(table, stateOf({})))
    assert.isUndefined(wakeAt([], stateOf({})))
  })

  it("returns the events due at or before now, in the order of time, dated when they were due", () => {
    assert.isUndefined(due(table, stateOf({ Second: 20, Third: 10 }), moment(9)))
    assert.deepStrictEqual(due(table, stateOf({ Second: 20, Third: 10 }), moment(10)), { _tag: "Third", at: 10 })
    assert.deepStrictEqual(due(table, stateOf({ Second: 20, Third: 10 }), moment(99)), { _tag: "Third", at: 10 })
  })

  it("returns the events due at one instant in the order of the table", () => {
    assert.deepStrictEqual(due(table, stateOf({ Second: 10, Third: 10 }), moment(10)), { _tag: "Second", at: 10 })
  })

  it("dates no event before the last one", () => {
    assert.deepStrictEqual(due(table, stateOf({ First: 10 }, 15), moment(20)), { _tag: "First", at: 15 })
  })

  it("passes entropy to a transition that needs chance", () => {
    const chance = transition("Chance", { make: (_, at, entropy) => ({ _tag: "Chance", at, entropy: entropy() }) })
    assert.deepStrictEqual(due([chance], stateOf({ Chance: 1 }), moment(1)), {
      _tag: "Chance",
      at: 1,
      entropy: "chance"
    })
  })
})

describe("a transition that is dated when it is noticed", () => {
  const table = [transition("Late", { noticedAt: (_, now) => now }), transition("Timely")]

  it("comes after those that were due meanwhile, dated at the instant at which it was noticed", () => {
    const state = stateOf({ Late: 10, Timely: 20 })
    assert.deepStrictEqual(due(table, state, moment(15)), { _tag: "Late", at: 15 })
    assert.deepStrictEqual(due(table, state, moment(30)), { _tag: "Timely", at: 20 })
    assert.strictEqual(wakeAt(table, state), 10)
  })

  it("is not due earlier", () => {
    assert.isUndefined(due(table, stateOf({ Late: 10 }), moment(9)))
  })
})

describe("a transition that needs work", () => {
  const slow = transition("Slow", {
    work: (state) => void state.worked++,
    make: ({ worked }, at) => (worked < 3 ? undefined : { _tag: "Slow", at })
  })
  const table = [slow, transition("Fast")]

  it("comes when the work is done, and keeps waking its actor until then", () => {
    const state = stateOf({ Slow: 10 })
    for (let slice = 0; slice < 3; slice++) {
      assert.isUndefined(due(table, state, moment(20)))
      assert.strictEqual(wakeAt(table, state), 10)
      work(table, state, 20)
    }
    assert.deepStrictEqual(due(table, state, moment(20)), { _tag: "Slow", at: 10 })
  })

  it("is worked on only while it is the next one due", () => {
    const state = stateOf({ Slow: 10, Fast: 5 })
    work(table, state, 9)
    work(table, state, 20)
    assert.strictEqual(state.worked, 0)
  })
})

describe("the transitions that kinds share", () => {
  const stateOfLife = (closeAt?: number) => ({ ...newLifecycle(), lastAt: 7, configuration: { closeAt } })

  it("close a mechanism at its time, once", () => {
    assert.strictEqual(closing.dueAt(stateOfLife(5)), 5)
    assert.strictEqual(closing.dueAt(stateOfLife()), Infinity)
    assert.strictEqual(closing.dueAt({ ...stateOfLife(5), closedAt: 3 }), Infinity)
  })

  it("tear a mechanism down once it is closed and settled", () => {
    const settled = teardownWhen(() => true)
    assert.strictEqual(settled.dueAt(stateOfLife()), Infinity)
    assert.strictEqual(settled.dueAt({ ...stateOfLife(), closedAt: 3 }), 7)
    assert.strictEqual(settled.dueAt({ ...stateOfLife(), closedAt: 3, tornDown: true }), Infinity)
    assert.strictEqual(teardownWhen(() => false).dueAt({ ...stateOfLife(), closedAt: 3 }), Infinity)
  })
})
