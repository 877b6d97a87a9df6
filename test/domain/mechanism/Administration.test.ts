import { assert, describe, it } from "@effect/vitest"
import type { Windowed } from "../../../src/domain/experience/ExperienceWindow.ts"
import { type Administration, decideBy, unchanged } from "../../../src/domain/mechanism/Administration.ts"
import { Closed, ConfigurationChanged, ConfigurationFixed } from "../../../src/domain/mechanism/Refusals.ts"
import { type MechanismState, newState } from "../../../src/domain/mechanism/State.ts"

interface Configuration extends Windowed {
  readonly name: string
}
type State = MechanismState<Configuration>
type Command = Administration<Configuration> | { readonly _tag: "Enter" }
interface Event {
  readonly _tag: string
  readonly at: number
  readonly by?: string
}

const rules = {
  decisions: { Enter: (_: State, { _tag }: { readonly _tag: "Enter" }, at: number) => [{ _tag, at }] },
  hasOpened: ({ configuration }: State, at: number) => (configuration.openAt ?? 0) <= at,
  fixedSetting: ({ configured }: State, { name }: Configuration) => (name === configured.name ? undefined : "name")
}
type Rules = Parameters<
  typeof decideBy<Configuration, State, Command, Event, Closed | ConfigurationChanged | ConfigurationFixed>
>[0]

const configuration: Configuration = { name: "Queue", closeAt: 100 }
const configure = (changes: Partial<Configuration>): Command => ({
  _tag: "Configure",
  configuration: { ...configuration, ...changes },
  by: "admin"
})

/** The outcome at 10, in a mechanism that exists unless `state` says otherwise. */
const outcome = (command: Command, state: Partial<State> = {}, more: Partial<Rules> = {}) =>
  decideBy<Configuration, State, Command, Event, Closed | ConfigurationChanged | ConfigurationFixed>({
    ...rules,
    ...more
  })({ ...newState(configuration, {}), sequence: 1, ...state }, command, { now: 10, entropy: () => "chance", level: 1 })

const configured = (changes: Partial<Configuration>) => [
  { _tag: "Configured", at: 10, configuration: { ...configuration, ...changes }, by: "admin" }
]

describe("the commands of all kinds", () => {
  it("are decided at an instant that is never earlier than the last event", () => {
    assert.deepStrictEqual(outcome({ _tag: "Enter" }, { lastAt: 12 }), [{ _tag: "Enter", at: 12 }])
    assert.deepStrictEqual(outcome({ _tag: "End", by: "admin" }, { lastAt: 12 }), [
      { _tag: "Ended", at: 12, by: "admin" }
    ])
  })

  it("create a mechanism as the kind says, otherwise with the configuration as it was sent", () => {
    const created: Rules["created"] = (_, at, entropy) => [{ _tag: entropy(), at }]
    assert.deepStrictEqual(outcome(configure({ name: "New" }), { sequence: 0 }), configured({ name: "New" }))
    assert.deepStrictEqual(outcome(configure({}), { sequence: 0 }, { created }), [{ _tag: "chance", at: 10 }])
  })

  it("change the configuration from the one that a change was derived from, and from no other", () => {
    const change = (from: Configuration): Command => ({ ...configure({ closeAt: 90 }), from }) as Command
    assert.deepStrictEqual(outcome(change({ ...configuration })), configured({ closeAt: 90 }))
    assert.deepStrictEqual(outcome(change({ ...configuration, closeAt: 80 })), new ConfigurationChanged())
  })

  it("change the configuration, except the settings that are fixed and after the closing", () => {
    assert.deepStrictEqual(outcome(configure({ closeAt: 90 })), configured({ closeAt: 90 }))
    assert.deepStrictEqual(outcome(configure({ name: "New" })), new ConfigurationFixed({ setting: "name" }))
    assert.deepStrictEqual(outcome(configure({ closeAt: 90 }), { closedAt: 5 }), new Closed())
    const kept: Rules["kept"] = (_, next) => ({ ...next, openAt: 3 })
    assert.deepStrictEqual(outcome(configure({ closeAt: 90 }), {}, { kept }), configured({ closeAt: 90, openAt: 3 }))
  })

  it("set the part of the experience's window that applies to the kind", () => {
    const command: Command = { _tag: "SetExperienceWindow", window: { revision: 1, closeAt: 50 }, by: "admin" }
    const windowFor: Rules["windowFor"] = (_, window) => ({ ...window, closeAt: 60 })
    assert.deepStrictEqual(outcome(command), configured({ experienceWindow: { revision: 1, closeAt: 50 } }))
    assert.deepStrictEqual(
      outcome(command, {}, { windowFor }),
      configured({ experienceWindow: { revision: 1, closeAt: 60 } })
    )
  })

  it("end and archive unfinished mechanisms, by the kind's own rule if it has one", () => {
    const archived = { _tag: "Archived", at: 10, by: "admin" }
    assert.deepStrictEqual(outcome({ _tag: "End", by: "admin" }, { closedAt: 5 }), unchanged)
    assert.deepStrictEqual(outcome({ _tag: "Archive", by: "admin" }, { closedAt: 5 }), [archived])
    assert.deepStrictEqual(outcome({ _tag: "Archive", by: "admin" }, { closedAt: 5 }, { isOver: () => false }), [
      { _tag: "Ended", at: 10, by: "admin" },
      archived
    ])
  })
})
