import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { deciderOf } from "../../../src/domain/mechanism/Declaration.ts"
import { type MechanismState, newState } from "../../../src/domain/mechanism/State.ts"
import { closing } from "../../../src/domain/mechanism/Timed.ts"

interface Configuration {
  readonly openAt?: number
  readonly closeAt?: number
}

type State = MechanismState<Configuration, "IN">
type Event = { readonly _tag: "Closed" | "Entered"; readonly at: number; readonly consumerId?: string }

const parts = {
  initial: (): State => newState({}, { IN: 0 }),
  apply: (state: State, { _tag, at }: Event) => {
    if (_tag === "Closed") state.closedAt = at
    else state.counts.IN = state.sequence
  },
  rules: { decisions: { Enter: () => [] }, hasOpened: () => false, fixedSetting: () => undefined },
  timed: [closing],
  views: { view: () => "view", place: () => undefined }
} as const

const declaration = {
  schemas: {
    configuration: Schema.Unknown as unknown as Schema.Codec<Configuration, unknown>,
    event: Schema.Unknown as unknown as Schema.Codec<Event, unknown>
  },
  rated: { entries: ["Entered"], grants: [] }
} as const

const decider = deciderOf<Configuration, State, { readonly _tag: "Enter" }, Event, never, string>(parts, declaration)

describe("a declaration", () => {
  it("gives a decider that numbers and dates its events", () => {
    const state = decider.initial()
    decider.evolve(state, { _tag: "Entered", at: 5 })
    decider.evolve(state, { _tag: "Entered", at: 3 })
    assert.deepInclude(state, { sequence: 2, lastAt: 5 })
    assert.deepStrictEqual(decider.counts(state), { IN: 2 })
  })

  it("gives a decider that follows the table of transitions, and has no work if the table has none", () => {
    const state = { ...decider.initial(), configuration: { closeAt: 9 } }
    assert.strictEqual(decider.wakeAt(state), 9)
    assert.deepStrictEqual(decider.due(state, { now: 9, entropy: () => "", level: 1 }), { _tag: "Closed", at: 9 })
    assert.isUndefined(decider.work)
    const worked: Array<number> = []
    const slow = { ...closing, work: () => void worked.push(1) }
    deciderOf<Configuration, State, { readonly _tag: "Enter" }, Event, never, string>(
      { ...parts, timed: [slow] },
      declaration
    ).work!(state, 9)
    assert.lengthOf(worked, 1)
  })

  it("gives a decider that derives the lifecycle from the common part of the state", () => {
    const state = { ...decider.initial(), configured: { openAt: 1 }, configuration: { openAt: 2, closeAt: 9 } }
    assert.deepStrictEqual(decider.configurationOf(state), { openAt: 1 })
    assert.strictEqual(decider.lifecycle(state, 1), "scheduled")
    assert.strictEqual(decider.lifecycle(state, 2), "open")
    assert.strictEqual(decider.lifecycle(state, 9), "settling")
    assert.isNull(decider.statusFields(state).teardownStatus)
  })
})
