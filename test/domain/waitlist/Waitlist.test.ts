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
import { assertGrantsNamed } from "../mechanism/support/redemption.ts"
import { stockId } from "../mechanism/support/units.ts"
import { at, configuration, History, start } from "./history.ts"
import { Reference } from "./Reference.ts"
import { windowOf } from "../mechanism/support/window.ts"

const consumers = ["ada", "bob", "eve", "joe", "kim", "lee", "mia"]

const settingsArbitrary = Arbitrary.map(
  Arbitrary.all({
    openAt: pick(undefined, undefined, at(1), at(3)),
    closeAt: pick(undefined, undefined, at(4), at(9)),
    capacity: pick(undefined, 1, 3, 5),
    isOffering: pick(false, true),
    offerSeconds: pick(undefined, 1, 2)
  }),
  ({ isOffering, offerSeconds, ...settings }) =>
    present<Partial<Configuration>>({
      ...settings,
      ...(isOffering && { offers: true, stockId, admissionExpirationSeconds: offerSeconds })
    })
)

const changes: ReadonlyArray<Partial<Configuration>> = [
  { capacity: 1 },
  { capacity: 6 },
  { openAt: at(2) },
  { closeAt: at(5) },
  { name: "Renamed" },
  { offers: true, stockId }
]

const allKinds = [
  "Enter",
  "Enter",
  "Enter",
  "Enter",
  "Leave",
  "Remove",
  "MarkNotified",
  "MarkNotified",
  "Deny",
  "Complete",
  "Complete",
  "SettleUnits",
  "SettleUnits",
  "ScheduleNotice",
  "Configure",
  "SetExperienceWindow",
  "Extend",
  "None"
] as const

const stepsWith = (kinds: ReadonlyArray<(typeof allKinds)[number]>) =>
  Arbitrary.array(
    Arbitrary.all({
      wait: pick(0, 0, 1, 60, 250, 700, 1_000, 3_000),
      kind: pick(...kinds),
      consumerId: pick(...consumers),
      channel: pick(undefined, "email", "phone"),
      noticeAt: pick(undefined, at(-1), at(2), at(5), at(8)),
      change: pick(...changes),
      transfer: pick(1, 2, 3, 4),
      units: pick(1, 2, 3),
      giveBack: pick(undefined, undefined, 1, 2),
      windowOpenAt: pick(undefined, at(0.5), at(1.5), at(4)),
      windowCloseAt: pick(undefined, undefined, at(5), at(7)),
      /** Ends or archives the waitlist, in few steps. */
      rare: pick(...Array.from({ length: 60 }, (_, index) => index))
    }),
    { minLength: 20, maxLength: 90 }
  )

const stepsArbitrary = stepsWith(allKinds)

/** Without units, and so without offers: an offer is dated when it is made, and so depends on when time is noticed. */
const stepsWithoutUnits = stepsWith(allKinds.filter((kind) => kind !== "SettleUnits"))

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
    case "Deny":
      return { _tag: kind, consumerId, reason: "FRAUD_DETECTED", by: "admin" }
    case "SettleUnits": {
      const { transfer, units, giveBack } = step
      const back = giveBack !== undefined && { giveBack }
      return { _tag: kind, taken: units, arriving: { transfer, units }, ...back }
    }
    case "Complete":
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

  itReplays(decider, {
    settings: settingsArbitrary,
    steps: stepsArbitrary,
    noticedSteps: stepsWithoutUnits,
    run,
    told
  })

  it.prop(
    "names the grant that an event ends, and holds no more units than it has",
    { settings: settingsArbitrary, steps: stepsArbitrary },
    ({ settings, steps }) => {
      const { events, state } = run(settings, steps, "until")
      assertGrantsNamed(events, "Offered")
      const report = decider.units!(state)
      if (report !== undefined) assert.isAtMost(report.held, report.units)
    },
    { arbitrary: { runs: 300, size: 60 } }
  )

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

  it("include offers without a stock, and a stock or a time to use offers without offers", () => {
    assert.deepStrictEqual(fields({ offers: true }), ["offers"])
    assert.deepStrictEqual(fields({ stockId }), ["stockId"])
    assert.deepStrictEqual(fields({ admissionExpirationSeconds: 60 }), ["admissionExpirationSeconds"])
    assert.deepStrictEqual(fields({ offers: true, stockId, admissionExpirationSeconds: 60 }), [])
  })
})
