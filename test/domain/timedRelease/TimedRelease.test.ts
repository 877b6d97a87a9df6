import { assert, describe, it } from "@effect/vitest"
import { Arbitrary } from "effect"
import {
  type Command,
  type Configuration,
  decider,
  declaration
} from "../../../src/domain/timedRelease/TimedRelease.ts"
import { askedOf, isEvents } from "../mechanism/support/History.ts"
import { itAcceptsAny, assertFollows, itReplays, pick, play, present } from "../mechanism/support/Properties.ts"
import { at, configuration, History, start } from "./history.ts"
import { Reference } from "./Reference.ts"
import { assertGrantsNamed, assertGrantsWithin } from "../mechanism/support/redemption.ts"
import { windowOf } from "../mechanism/support/window.ts"

const consumers = ["ada", "bob", "eve", "joe", "kim", "lee"]

const red = "0199b2a1-7c3e-7d7a-b0f2-00000000000a"
const blue = "0199b2a1-7c3e-7d7a-b0f2-00000000000b"
const green = "0199b2a1-7c3e-7d7a-b0f2-00000000000c"

const settingsArbitrary = Arbitrary.map(
  Arbitrary.all({
    openAt: pick(undefined, undefined, at(1), at(3)),
    closeAt: pick(undefined, undefined, at(4), at(9)),
    admissionExpirationSeconds: pick(undefined, 1, 2),
    capacity: pick(undefined, 1, 2, 3),
    grantsPerConsumer: pick(undefined, undefined, 1, 2),
    variantIds: pick(undefined, [red, blue]),
    supportsGuest: pick(true, true, false)
  }),
  (settings) => present<Partial<Configuration>>(settings)
)

const changes: ReadonlyArray<Partial<Configuration>> = [
  { capacity: 1 },
  { capacity: 4 },
  { grantsPerConsumer: 3 },
  { admissionExpirationSeconds: 1 },
  { openAt: at(2) },
  { closeAt: at(5) },
  { variantIds: [red] },
  { supportsGuest: true },
  { name: "Renamed" }
]

const kinds = [
  "Enter",
  "Enter",
  "Enter",
  "Enter",
  "Leave",
  "Deny",
  "Complete",
  "Complete",
  "Remove",
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
    isGuest: pick(false, false, true),
    /** Completes with a redemption, and shows a grant: the consumer's last one or another one. */
    redemptionId: pick(undefined, undefined, "one", "two"),
    shown: pick(undefined, undefined, undefined, "last", "first"),
    variantId: pick(undefined, undefined, red, blue, green),
    isNotOffered: pick(undefined, undefined, true),
    change: pick(...changes),
    windowOpenAt: pick(undefined, at(0.5), at(1.5), at(4)),
    windowCloseAt: pick(undefined, undefined, at(5), at(7)),
    /** Ends or archives the release, in few steps. */
    rare: pick(...Array.from({ length: 60 }, (_, index) => index))
  }),
  { minLength: 20, maxLength: 90 }
)

type Step = typeof stepsArbitrary extends Arbitrary.Arbitrary<ReadonlyArray<infer S>> ? S : never

const commandOf = (step: Step, current: Configuration): Command | undefined => {
  const { kind, consumerId, isGuest, variantId, isNotOffered } = step
  if (step.rare === 0) return { _tag: "End", by: "admin" }
  if (step.rare === 1) return { _tag: "Archive", by: "admin" }
  switch (kind) {
    case "Enter":
      return {
        _tag: kind,
        consumerId,
        isGuest,
        ...(variantId !== undefined && { variantId }),
        ...(isNotOffered !== undefined && { isNotOffered })
      }
    case "Deny":
      return { _tag: kind, consumerId, reason: isGuest ? "FRAUD_DETECTED" : "ADMIN_ACTION", by: "admin" }
    case "Configure":
      return { _tag: kind, configuration: { ...current, ...step.change }, by: "admin" }
    case "SetExperienceWindow":
      return { _tag: kind, window: windowOf(step, current), by: "admin" }
    case "Extend":
      return { _tag: kind, to: consumerId === consumers[0] ? { until: at(4) } : { seconds: 1 }, by: "admin" }
    case "None":
      return undefined
    case "Leave":
      return { _tag: kind, consumerId, ...(isGuest && { by: "admin" }) }
    case "Complete": {
      const { redemptionId, shown } = step
      // Sequences are not known here, so few numbers stand for the first grants of a history.
      const grantSequence = shown === undefined ? undefined : shown === "last" ? 5 : 3
      return { _tag: kind, consumerId, by: "admin", redemptionId, grantSequence }
    }
    default:
      return { _tag: kind, consumerId, by: "admin" }
  }
}

/** Returns every answer that a timed release gives. */
const told = (state: History["state"], now: number): unknown => askedOf(decider, state, consumers, now)

/** Runs the steps; `tick` applies the due transitions before each. */
const run = (settings: Partial<Configuration>, steps: ReadonlyArray<Step>, tick: "noticed" | "until"): History => {
  const history = new History()
  history.when(0, { _tag: "Configure", configuration: configuration(settings), by: "admin" })
  play(history, decider, steps, commandOf, tick)
  return history
}

describe("a timed release under random commands", () => {
  it.prop(
    "has the same events and views as the reference",
    { settings: settingsArbitrary, steps: stepsArbitrary },
    ({ settings, steps }) => {
      const history = new History()
      const reference = new Reference()
      const created: Command = { _tag: "Configure", configuration: configuration(settings), by: "admin" }
      assertFollows(history, reference, { created, steps, commandOf, consumers, start, counts: decider.counts })
    },
    { arbitrary: { runs: 400, size: 60 } }
  )

  it.prop(
    "never grants more units than there are, and grants one whenever one is left",
    { settings: settingsArbitrary, steps: stepsArbitrary },
    ({ settings, steps }) => {
      const fixed = steps.filter(({ kind }) => kind !== "Configure")
      const { capacity = Infinity } = settings
      const history = new History()
      history.when(0, { _tag: "Configure", configuration: configuration(settings), by: "admin" })
      let now = 0
      for (const step of fixed) {
        now += step.wait
        // No timer runs: only the commands notice what is due, and only in part.
        const command = commandOf(step, decider.configurationOf(history.state))
        const outcome = command === undefined ? [] : history.decided(now / 1000, command)
        if (!isEvents(outcome)) {
          if (outcome._tag === "SoldOut") assert.isAtLeast(held(history, now), capacity)
          continue
        }
        for (const event of outcome) history.apply(event)
        assert.isAtMost(held(history, now), capacity)
      }
      assertGrantsNamed(history.events, "Entered")
      assertGrantsWithin(history.events, "Entered", settings.grantsPerConsumer)
    },
    { arbitrary: { runs: 400, size: 60 } }
  )

  itReplays(decider, { settings: settingsArbitrary, steps: stepsArbitrary, run, told })

  itAcceptsAny(decider, consumers, told, start)
})

describe("contradictory settings of a timed release", () => {
  const fields = (settings: Partial<Configuration>) =>
    declaration.problems(configuration(settings)).map((problem) => problem.field)

  it("include a closing that is not after the opening", () => {
    assert.deepStrictEqual(fields({ openAt: at(1), closeAt: at(1) }), ["closeAt"])
    assert.deepStrictEqual(fields({ openAt: at(2), closeAt: at(1) }), ["closeAt"])
    assert.deepStrictEqual(fields({ openAt: at(1), closeAt: at(2) }), [])
    assert.deepStrictEqual(fields({ closeAt: at(2) }), [])
  })
})

/** Returns the units that are held or taken at this instant. */
const held = (history: History, now: number): number =>
  consumers.filter((id) => history.status(now / 1000, id) === "ENTERED").length +
  history.events.filter(({ _tag }) => _tag === "Completed").length
