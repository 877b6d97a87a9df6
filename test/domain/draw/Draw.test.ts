import { assert, describe, it } from "@effect/vitest"
import { Arbitrary } from "effect"
import { createHash } from "node:crypto"
import { type Command, type Configuration, decider, type Event } from "../../../src/domain/draw/Draw.ts"
import { roundAfter } from "../../../src/domain/draw/proof/Beacon.ts"
import { askedOf } from "../mechanism/support/History.ts"
import { itAcceptsAny, assertFollows, assertReplays, pick, play, present } from "../mechanism/support/Properties.ts"
import { at, configuration, dice, History, start } from "./history.ts"
import { Reference } from "./Reference.ts"
import { assertRisksShown, risks } from "../mechanism/support/risks.ts"
import { windowOf } from "../mechanism/support/window.ts"

const consumers = ["ada", "bob", "eve", "joe", "kim", "lee", "mia", "zoe"]

/** Seconds; `undefined`: absent. */
const settingsArbitrary = Arbitrary.map(
  Arbitrary.all({
    openAt: pick(undefined, undefined, 1),
    closeAt: pick(3, 6),
    drawAt: pick(6, 8),
    winnerCount: pick(1, 2, 3, 20),
    capacity: pick(undefined, undefined, 2, 4),
    admissionExpirationSeconds: pick(undefined, 1, 2),
    continueSelectingUntilCompleted: pick(true, false),
    supportsGuest: pick(true, true, false),
    loyaltyBiasEnabled: pick(true, false),
    loyaltyWeight: pick(0, 1, 2.5),
    riskWeight: pick(undefined, 0.5, 1),
    beacon: pick(undefined, undefined, "drand")
  }),
  ({ openAt, closeAt, drawAt, ...settings }): Partial<Configuration> =>
    present({
      ...settings,
      openAt: openAt === undefined ? undefined : at(openAt),
      closeAt: at(closeAt),
      drawAt: at(drawAt)
    })
)

const changes: ReadonlyArray<Partial<Configuration>> = [
  { winnerCount: 1 },
  { winnerCount: 4 },
  { admissionExpirationSeconds: 1 },
  { continueSelectingUntilCompleted: true },
  { openAt: at(2) },
  { closeAt: at(4) },
  { drawAt: at(9) },
  { capacity: 3 },
  { loyaltyBiasEnabled: true },
  { loyaltyWeight: 3 },
  { riskWeight: 0.25 },
  { beacon: "drand" },
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
  "ProvideBeacon",
  "Configure",
  "SetExperienceWindow",
  "Extend",
  "None"
] as const

const stepsArbitrary = (waits: ReadonlyArray<number>) =>
  Arbitrary.array(
    Arbitrary.all({
      wait: pick(...waits),
      kind: pick(...kinds),
      consumerId: pick(...consumers),
      isGuest: pick(false, false, true),
      /** Completes with a redemption, and shows a grant: the consumer's last one or another one. */
      redemptionId: pick(undefined, undefined, "one", "two"),
      shown: pick(undefined, undefined, undefined, "last", "first"),
      loyaltyScore: pick(0, 0, 0.5, 1),
      risk: pick(...risks),
      change: pick(...changes),
      windowOpenAt: pick(undefined, at(0.5), at(1.5), at(4)),
      windowCloseAt: pick(undefined, undefined, at(5), at(7)),
      /** Ends or archives the draw, in few steps. */
      rare: pick(...Array.from({ length: 80 }, (_, index) => index))
    }),
    { minLength: 20, maxLength: 90 }
  )

type Step = ReturnType<typeof stepsArbitrary> extends Arbitrary.Arbitrary<ReadonlyArray<infer S>> ? S : never

const signature = "5e".repeat(48)
const randomness = createHash("sha256").update(Buffer.from(signature, "hex")).digest("hex")

const commandOf = (step: Step, current: Configuration): Command | undefined => {
  const { kind, consumerId, isGuest, loyaltyScore, risk } = step
  if (step.rare === 0) return { _tag: "End", by: "admin" }
  if (step.rare === 1) return { _tag: "Archive", by: "admin" }
  switch (kind) {
    case "Enter":
      return { _tag: kind, consumerId, isGuest, loyaltyScore, risk }
    case "Deny":
      return { _tag: kind, consumerId, reason: isGuest ? "FRAUD_DETECTED" : "ADMIN_ACTION", by: "admin" }
    case "ProvideBeacon":
      return { _tag: kind, round: roundAfter(current.drawAt) + (isGuest ? 1 : 0), randomness, signature }
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

/** Returns every answer that a draw gives. */
const told = (state: History["state"], now: number): unknown => ({
  ...askedOf(decider, state, consumers, now),
  published: decider.publishedFacts!(state)
})

const proofOf = (state: History["state"]): string => [...(decider.facts!(state, 0).proof?.("id") ?? [])].join("")

/** Runs the steps, and applies the due transitions before each. */
const run = (settings: Partial<Configuration>, steps: ReadonlyArray<Step>): History => {
  const history = new History()
  history.when(0, { _tag: "Configure", configuration: configuration(settings), by: "admin" })
  play(history, decider, steps, commandOf, "noticed")
  return history
}

describe("a draw under random commands", () => {
  it.prop(
    "has the same events and views as the reference",
    { settings: settingsArbitrary, steps: stepsArbitrary([0, 0, 1, 60, 250, 700, 1_000]) },
    ({ settings, steps }) => {
      const history = new History()
      const reference = new Reference(dice())
      const created: Command = { _tag: "Configure", configuration: configuration(settings), by: "admin" }
      assertFollows(history, reference, { created, steps, commandOf, consumers, start, counts: decider.counts })
      assertRisksShown(decider, history, consumers)
    },
    { arbitrary: { runs: 300, size: 60 } }
  )

  it.prop(
    "has the same state after a replay of its events, also through their stored form",
    { settings: settingsArbitrary, steps: stepsArbitrary([0, 1, 100, 250, 900]) },
    ({ settings, steps }) => {
      const history = run(settings, steps)
      const replayed = assertReplays(decider, history, told)
      assert.strictEqual(proofOf(replayed), proofOf(history.state))
    },
    { arbitrary: { runs: 150, size: 60 } }
  )

  it.prop(
    "continues from any point of its journal as if it had never stopped",
    { settings: settingsArbitrary, steps: stepsArbitrary([0, 1, 100, 250, 900]), cut: pick(0.2, 0.5, 0.8, 0.95) },
    ({ settings, steps, cut }) => {
      const { events } = run(settings, steps)
      const after = (events: ReadonlyArray<Event>): History => {
        const history = new History()
        for (const event of events) history.apply(event)
        return history
      }
      const left = Math.ceil(events.length * cut)
      const unbroken = after(events.slice(0, left))
      unbroken.noticed(95)
      for (let crash = left; crash <= unbroken.events.length; crash++) {
        const resumed = after(unbroken.events.slice(0, crash))
        resumed.noticed(95)
        assert.deepStrictEqual(resumed.events, unbroken.events)
      }
    },
    { arbitrary: { runs: 150, size: 60 } }
  )

  it.prop(
    "never goes back in time, never exceeds its winners, and draws only listed consumers",
    { settings: settingsArbitrary, steps: stepsArbitrary([0, 1, 60, 250, 900]) },
    ({ settings, steps }) => {
      const { events, state } = run(settings, steps)
      const replayed = decider.initial()
      let last = 0
      let drawings = 0
      for (const event of events) {
        assert.isAtLeast(event.at, last)
        last = event.at
        const { winnerCount, drawAt } = decider.configurationOf(replayed)
        if (event._tag === "Won") {
          assert.isAtLeast(event.at, drawAt)
          assert.strictEqual(decider.view(replayed, event.consumerId, event.at).status, "ENTERED")
        }
        if (event._tag === "Drawn") drawings++
        if (event._tag === "Entered" || event._tag === "EntriesFixed") assert.strictEqual(drawings, 0)
        decider.evolve(replayed, event)
        const { WON = 0, COMPLETED = 0 } = decider.counts(replayed)
        if (event._tag === "Won") assert.isAtMost(WON + COMPLETED, winnerCount)
      }
      assert.isAtMost(drawings, 1)
      const { winnerCount, continueSelectingUntilCompleted } = decider.configurationOf(state)
      const wins = events.filter(({ _tag }) => _tag === "Won").length
      if (!continueSelectingUntilCompleted) assert.isAtMost(wins, winnerCount)
    },
    { arbitrary: { runs: 300, size: 60 } }
  )

  itAcceptsAny(decider, consumers, told, start)
})
