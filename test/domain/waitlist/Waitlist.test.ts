import { assert, describe, it } from "@effect/vitest"
import { Arbitrary } from "effect"
import {
  awaitingNotice,
  type Command,
  type Configuration,
  decider,
  declaration
} from "../../../src/domain/waitlist/Waitlist.ts"
import { askedOf, isEvents } from "../mechanism/support/History.ts"
import { itAcceptsAny, assertFollows, itReplays, pick, play, present } from "../mechanism/support/Properties.ts"
import { at, configuration, History, start } from "./history.ts"
import { Reference } from "./Reference.ts"
import { windowOf } from "../mechanism/support/window.ts"

const consumers = ["ada", "bob", "eve", "joe", "kim", "lee", "mia"]

const settingsArbitrary = Arbitrary.map(
  Arbitrary.all({
    openAt: pick(undefined, undefined, at(1), at(3)),
    closeAt: pick(undefined, undefined, at(4), at(9)),
    capacity: pick(undefined, 1, 3, 5)
  }),
  (settings) => present<Partial<Configuration>>(settings)
)

const changes: ReadonlyArray<Partial<Configuration>> = [
  { capacity: 1 },
  { capacity: 6 },
  { openAt: at(2) },
  { closeAt: at(5) },
  { name: "Renamed" }
]

const kinds = [
  "Enter",
  "Enter",
  "Enter",
  "Enter",
  "Leave",
  "Remove",
  "MarkNotified",
  "MarkNotified",
  "ScheduleNotice",
  "Configure",
  "SetExperienceWindow",
  "Extend",
  "None"
] as const

const stepsArbitrary = Arbitrary.array(
  Arbitrary.all({
    wait: pick(0, 0, 1, 60, 250, 700, 1_000, 3_000),
    kind: pick(...kinds),
    consumerId: pick(...consumers),
    channel: pick(undefined, "email", "phone"),
    noticeAt: pick(undefined, at(-1), at(2), at(5), at(8)),
    change: pick(...changes),
    windowOpenAt: pick(undefined, at(0.5), at(1.5), at(4)),
    windowCloseAt: pick(undefined, undefined, at(5), at(7)),
    /** Ends or archives the waitlist, in few steps. */
    rare: pick(...Array.from({ length: 60 }, (_, index) => index))
  }),
  { minLength: 20, maxLength: 90 }
)

type Step = typeof stepsArbitrary extends Arbitrary.Arbitrary<ReadonlyArray<infer S>> ? S : never

const commandOf = (step: Step, current: Configuration): Command | undefined => {
  const { kind, consumerId, channel, noticeAt } = step
  if (step.rare === 0) return { _tag: "End", by: "admin" }
  if (step.rare === 1) return { _tag: "Archive", by: "admin" }
  switch (kind) {
    case "MarkNotified":
      return { _tag: kind, consumerId, ...(channel !== undefined && { channel }) }
    case "ScheduleNotice":
      return { _tag: kind, ...(noticeAt !== undefined && { at: noticeAt }) }
    case "Configure":
      return { _tag: kind, configuration: { ...current, ...step.change }, by: "admin" }
    case "Remove":
      return { _tag: kind, consumerId, by: "admin" }
    case "SetExperienceWindow":
      return { _tag: kind, window: windowOf(step, current), by: "admin" }
    case "Extend":
      return { _tag: kind, to: consumerId === consumers[0] ? { until: at(4) } : { seconds: 1 }, by: "admin" }
    case "None":
      return undefined
    default:
      return { _tag: kind, consumerId }
  }
}

const nobody: ReadonlySet<string> = new Set()

/** Returns every answer that a waitlist gives. */
const told = (state: History["state"], now: number): unknown => ({
  ...askedOf(decider, state, consumers, now),
  awaiting: awaitingNotice(state, 100, nobody)
})

/** Runs the steps; `tick` applies the due transitions before each. */
const run = (settings: Partial<Configuration>, steps: ReadonlyArray<Step>, tick: "noticed" | "until"): History => {
  const history = new History()
  history.when(0, { _tag: "Configure", configuration: configuration(settings), by: "admin" })
  play(history, decider, steps, commandOf, tick)
  return history
}

describe("a waitlist under random commands", () => {
  it.prop(
    "has the same events and views as the reference",
    { settings: settingsArbitrary, steps: stepsArbitrary },
    ({ settings, steps }) => {
      const history = new History()
      const reference = new Reference()
      const created: Command = { _tag: "Configure", configuration: configuration(settings), by: "admin" }
      const compare = () => {
        const awaiting = awaitingNotice(history.state, 100, nobody) ?? []
        assert.deepStrictEqual(
          awaiting.map(({ consumerId }) => consumerId),
          reference.awaiting()
        )
      }
      assertFollows(history, reference, {
        created,
        steps,
        commandOf,
        consumers,
        start,
        counts: decider.counts,
        compare
      })
    },
    { arbitrary: { runs: 400, size: 60 } }
  )

  it.prop(
    "notifies no member twice, and none before the opening",
    { settings: settingsArbitrary, steps: stepsArbitrary },
    ({ settings, steps }) => {
      const { events } = run(
        settings,
        steps.filter(({ kind }) => kind !== "MarkNotified"),
        "noticed"
      )
      const state = decider.initial()
      const notified = new Set<string>()
      for (const event of events) {
        decider.evolve(state, event)
        for (const { consumerId, since } of awaitingNotice(state, 2, nobody) ?? []) {
          assert.isFalse(notified.has(consumerId))
          assert.isAtMost(since, state.lastAt)
          notified.add(consumerId)
          const mark = decider.decide(
            state,
            { _tag: "MarkNotified", consumerId },
            { now: state.lastAt, entropy: () => "", level: 1 }
          )
          assert(isEvents(mark) && mark.length === 1)
          decider.evolve(state, mark[0]!)
        }
      }
    },
    { arbitrary: { runs: 300, size: 60 } }
  )

  itReplays(decider, { settings: settingsArbitrary, steps: stepsArbitrary, run, told })

  itAcceptsAny(decider, consumers, told, start)
})

describe("contradictory settings of a waitlist", () => {
  const fields = (settings: Partial<Configuration>) =>
    declaration.problems(configuration(settings)).map((problem) => problem.field)

  it("include a closing that is not after the opening", () => {
    assert.deepStrictEqual(fields({ openAt: at(1), closeAt: at(1) }), ["closeAt"])
    assert.deepStrictEqual(fields({ openAt: at(1), closeAt: at(2) }), [])
    assert.deepStrictEqual(fields({ closeAt: at(2) }), [])
  })
})
