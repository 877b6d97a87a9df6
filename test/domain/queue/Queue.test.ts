import { assert, describe, it } from "@effect/vitest"
import { Arbitrary } from "effect"
import { type Configuration, configurationProblems } from "../../../src/domain/queue/Configuration.ts"
import { type Command, decider } from "../../../src/domain/queue/Queue.ts"
import { askedOf } from "../mechanism/support/History.ts"
import { itAcceptsAny, assertFollows, itReplays, pick, play, present } from "../mechanism/support/Properties.ts"
import { at, configuration, History, seed, start } from "./history.ts"
import { checkingLines } from "./lines.ts"
import { Reference } from "./Reference.ts"
import { assertRisksShown, risks } from "../mechanism/support/risks.ts"
import { assertGrantsNamed, assertGrantsWithin } from "../mechanism/support/redemption.ts"
import { windowOf } from "../mechanism/support/window.ts"

const consumers = ["ada", "bob", "eve", "joe", "kim", "lee", "mia", "zoe"]

/** Seconds; `undefined`: absent. */
const settingsArbitrary = Arbitrary.map(
  Arbitrary.all({
    admitRate: pick(0, 60, 600, 7_000, 90_000),
    openAt: pick(undefined, undefined, 1, 3),
    lobby: pick(true, false),
    closeAt: pick(undefined, undefined, 4, 9),
    admissionExpirationSeconds: pick(undefined, 1, 2),
    capacity: pick(undefined, undefined, 1, 3),
    maxAdmissions: pick(undefined, undefined, 1, 4),
    recycleExpiredAdmissions: pick(true, false),
    grantsPerConsumer: pick(undefined, undefined, 1, 2),
    supportsGuest: pick(true, false),
    loyaltyBiasEnabled: pick(true, false),
    loyaltyHeadStartSeconds: pick(0, 1, 60),
    insideLimit: pick(undefined, undefined, 1, 3),
    standby: pick(undefined, false, true, true),
    admitBurst: pick(undefined, undefined, 1, 4),
    admissionRenewal: pick(undefined, undefined, { idleSeconds: 2, maxSeconds: 5 }, { idleSeconds: 1, maxSeconds: 1 }),
    riskWeight: pick(undefined, 0.5, 1)
  }),
  ({ openAt, closeAt, lobby, ...settings }): Partial<Configuration> =>
    present({
      ...settings,
      openAt: openAt === undefined ? undefined : at(openAt),
      closeAt: closeAt === undefined ? undefined : at(closeAt),
      lobbyOpenAt: openAt !== undefined && lobby ? at(0.2) : undefined
    })
)

const changes: ReadonlyArray<Partial<Configuration>> = [
  { admitRate: 0 },
  { admitRate: 60 },
  { admitRate: 6_000 },
  { maxAdmissions: 2 },
  { maxAdmissions: 50, recycleExpiredAdmissions: true },
  { admissionExpirationSeconds: 1 },
  { openAt: at(2) },
  { closeAt: at(5) },
  { capacity: 2 },
  { grantsPerConsumer: 3 },
  { loyaltyBiasEnabled: true },
  { insideLimit: 1 },
  { insideLimit: 4 },
  { standby: true },
  { standby: true, admitBurst: 3 },
  { standby: false },
  { admissionRenewal: { idleSeconds: 1, maxSeconds: 8 } },
  { supportsGuest: true },
  { riskWeight: 0.7 },
  { name: "Renamed" }
]

const kinds = [
  "Enter",
  "Enter",
  "Enter",
  "Enter",
  "Leave",
  "Admit",
  "AdmitNext",
  "Pause",
  "Resume",
  "Resume",
  "Deny",
  "Complete",
  "Complete",
  "Renew",
  "Renew",
  "Remove",
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
      /** Renews a grant: one of the first in a history. */
      grantSequence: pick(3, 3, 3, 5, 7),
      loyaltyScore: pick(0, 0, 0.5, 1),
      risk: pick(...risks),
      change: pick(...changes),
      reason: pick(undefined, undefined, "HIGH_LOAD", "OTHER"),
      windowOpenAt: pick(undefined, at(0.5), at(1.5), at(4)),
      windowCloseAt: pick(undefined, undefined, at(5), at(7)),
      /** Ends or archives the queue, in few steps. */
      rare: pick(...Array.from({ length: 60 }, (_, index) => index))
    }),
    { minLength: 20, maxLength: 90 }
  )

type Step = ReturnType<typeof stepsArbitrary> extends Arbitrary.Arbitrary<ReadonlyArray<infer S>> ? S : never

const commandOf = (step: Step, current: Configuration): Command | undefined => {
  const { kind, consumerId, isGuest, loyaltyScore, risk, reason } = step
  if (step.rare === 0) return { _tag: "End", by: "admin", reason }
  if (step.rare === 1) return { _tag: "Archive", by: "admin" }
  switch (kind) {
    case "Enter":
      return { _tag: kind, consumerId, isGuest, loyaltyScore, risk }
    case "Deny":
      return { _tag: kind, consumerId, reason: isGuest ? "FRAUD_DETECTED" : "ADMIN_ACTION", by: "admin" }
    case "AdmitNext":
      return { _tag: kind, count: step.isGuest ? 5 : 2, by: "admin", reason }
    case "Pause":
    case "Resume":
      return { _tag: kind, by: "admin", reason }
    case "Admit":
      return { _tag: kind, consumerId, by: "admin", reason }
    case "Configure":
      return { _tag: kind, configuration: { ...current, ...step.change }, by: "admin", reason }
    case "SetExperienceWindow":
      return { _tag: kind, window: windowOf(step, current), by: "admin" }
    case "Extend":
      return { _tag: kind, to: consumerId === consumers[0] ? { until: at(4) } : { seconds: 1 }, by: "admin" }
    case "Renew":
      return { _tag: kind, consumerId, grantSequence: step.grantSequence }
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

/** Returns every answer that a queue gives. */
const told = (state: History["state"], now: number): unknown => ({
  ...askedOf(decider, state, consumers, now),
  facts: decider.facts!(state, now)
})

/** Runs the steps; `tick` applies the due transitions before each. */
const run = (settings: Partial<Configuration>, steps: ReadonlyArray<Step>, tick: "noticed" | "until"): History => {
  const history = new History()
  history.when(0, { _tag: "Configure", configuration: configuration(settings), by: "admin" })
  play(history, decider, steps, commandOf, tick)
  return history
}

describe("a queue under random commands", () => {
  it.prop(
    "has the same events and views as the reference",
    { settings: settingsArbitrary, steps: stepsArbitrary([0, 0, 1, 7, 60, 100, 249, 250, 251, 700, 3_000]) },
    ({ settings, steps }) => {
      const history = new History()
      const reference = new Reference()
      const created: Command = { _tag: "Configure", configuration: configuration(settings), by: "admin" }
      const compare = checkingLines(history, consumers)
      const { counts } = decider
      assertFollows(history, reference, { created, steps, commandOf, consumers, start, counts, compare, seed })
      assertRisksShown(decider, history, consumers)
    },
    { arbitrary: { runs: 400, size: 60 } }
  )

  itReplays(decider, {
    settings: settingsArbitrary,
    steps: stepsArbitrary([0, 1, 100, 250, 900]),
    noticedSteps: stepsArbitrary([0, 1, 7, 60, 100, 200, 250]),
    noticedRuns: 300,
    run,
    told
  })

  it.prop(
    "never goes back in time, never admits more than rate and maximum allow, and admits the head of the line",
    { settings: settingsArbitrary, steps: stepsArbitrary([0, 1, 7, 60, 100, 250, 251, 900]) },
    ({ settings, steps }) => {
      const { events } = run(
        settings,
        steps.filter((step) => step.kind !== "Configure"),
        "noticed"
      )
      assertGrantsNamed(events, "Granted")
      assertGrantsWithin(events, "Granted", settings.grantsPerConsumer)
      const replayed = decider.initial()
      const instants: Array<number> = []
      let last = 0
      let returned = 0
      let left = 0
      let grants = 0
      let isPaused = false
      for (const event of events) {
        assert.isAtLeast(event.at, last)
        last = event.at
        if ("consumerId" in event && (event._tag === "Expired" || event._tag === "Denied")) {
          if (decider.view(replayed, event.consumerId, 0).status === "GRANTED") returned++
        }
        if (event._tag === "Left" && decider.view(replayed, event.consumerId, 0).status === "GRANTED") left++
        if (event._tag === "Paused" || event._tag === "Resumed") {
          assert.strictEqual(isPaused, event._tag === "Resumed")
          isPaused = !isPaused
        }
        if (event._tag === "Granted") {
          grants++
          const view = decider.view(replayed, event.consumerId, 0)
          assert.strictEqual(view.status, "QUEUED")
          if (event.by === undefined) {
            assert.isFalse(isPaused)
            instants.push(event.at)
            assert.propertyVal(view, "position", 1)
          }
        }
        decider.evolve(replayed, event)
        const { insideLimit = Infinity } = decider.configurationOf(replayed)
        if (event._tag === "Granted") assert.isAtMost(decider.counts(replayed)["GRANTED"]!, insideLimit)
        const { maxAdmissions = Infinity, recycleExpiredAdmissions } = decider.configurationOf(replayed)
        assert.isAtMost(grants - left - (recycleExpiredAdmissions ? returned : 0), maxAdmissions)
      }
      const { admitRate = 0, standby, admitBurst = Math.max(1, Math.trunc(admitRate / 60)) } = settings
      assertPaced(instants, admitRate, standby === true ? admitBurst : 1)
    },
    { arbitrary: { runs: 300, size: 60 } }
  )

  itAcceptsAny(decider, consumers, told, start)
})

describe("contradictory settings of a queue", () => {
  const fields = (settings: Partial<Configuration>) =>
    configurationProblems(configuration(settings)).map((problem) => problem.field)

  it("include a closing that is not after the opening", () => {
    assert.deepStrictEqual(fields({ openAt: at(1), closeAt: at(1) }), ["closeAt"])
    assert.deepStrictEqual(fields({ openAt: at(1), closeAt: at(2) }), [])
  })

  it("include a burst without standby", () => {
    assert.deepStrictEqual(fields({ admitBurst: 2 }), ["admitBurst"])
    assert.deepStrictEqual(fields({ admitBurst: 2, standby: false }), ["admitBurst"])
    assert.deepStrictEqual(fields({ admitBurst: 2, standby: true }), [])
  })

  it("include a grant that idles longer than it lives, or that also expires otherwise", () => {
    const admissionRenewal = { idleSeconds: 60, maxSeconds: 60 }
    assert.deepStrictEqual(fields({ admissionRenewal }), [])
    assert.deepStrictEqual(fields({ admissionRenewal: { ...admissionRenewal, idleSeconds: 61 } }), ["admissionRenewal"])
    assert.deepStrictEqual(fields({ admissionRenewal, admissionExpirationSeconds: 60 }), ["admissionRenewal"])
  })

  it("include a lobby without an opening, or one that does not open before it", () => {
    assert.deepStrictEqual(fields({ lobbyOpenAt: at(1) }), ["lobbyOpenAt"])
    assert.deepStrictEqual(fields({ lobbyOpenAt: at(1), openAt: at(1) }), ["lobbyOpenAt"])
    assert.deepStrictEqual(fields({ lobbyOpenAt: at(0), openAt: at(1) }), [])
  })
})

/**
 * Instants are whole milliseconds, so a span reaches from the first admission to the end of the last one's millisecond.
 */
const assertPaced = (instants: ReadonlyArray<number>, admitRate: number, burst: number): void => {
  const grain = admitRate > 60_000 ? 1 : 0
  for (let first = 0; first < instants.length; first++) {
    for (let last = first; last < instants.length; last++) {
      const most = Math.ceil((admitRate * (instants[last]! - instants[first]! + grain)) / 60_000) + burst
      if (last - first + 1 > most) assert.fail(`from ${instants[first]} to ${instants[last]} at ${admitRate}`)
    }
  }
}
