import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { Event } from "../../../src/domain/mechanism/Decider.ts"
import { deciders, type Kind, kinds } from "../../../src/domain/mechanism/Mechanism.ts"
import { playChanged } from "../../../src/engine/replay/Changed.ts"
import { figuresOf, percentile } from "../../../src/engine/replay/Figures.ts"
import { type AnyConfiguration, changeable, changeOfText, checkChanges } from "../../../src/engine/replay/Settings.ts"
import { replay } from "../../../src/engine/replay/Unchanged.ts"
import { consumer, journalOf, oneASecond, played as journalOfCommands } from "./Journals.ts"

const start = Date.parse("2026-11-21T18:00:00Z")

const settings: AnyConfiguration = { ...oneASecond, admissionExpirationSeconds: 60 }

const enter = (n: number) => ({ _tag: "Enter", consumerId: consumer(n), isGuest: false, loyaltyScore: 0 })
const hundred = Array.from({ length: 100 }, (_, index) => index + 1)

/** A hundred people at once, in a line of one a second. Those who use their grant do so 10 s after it is made. */
const friday = (uses: (n: number) => boolean = () => true, gone?: number) =>
  journalOfCommands("queue", settings, [
    ...hundred.map((n) => [start, enter(n)] as const),
    ...hundred
      .filter((n) => uses(n) && n !== gone)
      .map((n) => [start + n * 1_000 + 9_000, { _tag: "Complete", consumerId: consumer(n), by: "shop" }] as const),
    ...(gone === undefined ? [] : [[start + 40_000, { _tag: "Leave", consumerId: consumer(gone) }] as const])
  ])

const changedJournal = (kind: Kind, events: ReadonlyArray<Event>, texts: ReadonlyArray<string>, seed = 1) => {
  const { steps, difference } = replay(deciders[kind], events, 1)
  assert.isUndefined(difference)
  const configurations = steps.flatMap(({ command }) =>
    command._tag === "Configure" ? [command["configuration"] as AnyConfiguration] : []
  )
  const changes = Result.getOrThrow(checkChanges(kind, texts.map(changeOfText), configurations))
  return playChanged(kind, events, steps, changes, seed)
}

describe("a drop that is played with other settings", () => {
  it("has half the wait at twice the rate", () => {
    const recorded = figuresOf("queue", friday())
    assert.deepStrictEqual(recorded.waitSeconds, { median: 49, p95: 94, longest: 99 })
    const changed = figuresOf("queue", changedJournal("queue", friday(), ["admitRate=120"]))
    assert.deepStrictEqual(changed.waitSeconds, { median: 24.5, p95: 47, longest: 49.5 })
    assert.deepStrictEqual(
      [changed.people, changed.admitted, changed.used, changed.lapsed, changed.stillWaiting],
      [100, 100, 100, 0, 0]
    )
    assert.strictEqual(recorded.largestSecond.entries, 100)
    assert.strictEqual(changed.largestSecond.grants, 2)
  })

  it("lets a grant lapse that is shorter than the time people took", () => {
    const changed = figuresOf("queue", changedJournal("queue", friday(), ["admissionExpirationSeconds=9"]))
    assert.deepStrictEqual([changed.admitted, changed.used, changed.lapsed], [100, 0, 100])
  })

  it("says when nothing was left, and turns nobody away without a closing", () => {
    const changed = figuresOf("queue", changedJournal("queue", friday(), ["maxAdmissions=30"]))
    assert.strictEqual(changed.soldOutAt, "2026-11-21T18:00:29.000Z")
    assert.deepStrictEqual([changed.admitted, changed.stillWaiting], [30, 70])
  })

  it("keeps giving up where it was, and admits nobody who has given up", () => {
    const recorded = friday(() => true, 100)
    const slower = figuresOf("queue", changedJournal("queue", recorded, ["admitRate=30"]))
    assert.deepStrictEqual([slower.gaveUp, slower.admitted], [1, 99])
    // At this rate the last in line is admitted before it would have given up.
    const faster = figuresOf("queue", changedJournal("queue", recorded, ["admitRate=600"]))
    assert.deepStrictEqual([faster.gaveUp, faster.admitted], [0, 100])
  })

  it("draws what follows a grant from what people did, by the seed", () => {
    const recorded = friday((n) => n % 2 === 0)
    assert.deepInclude(figuresOf("queue", recorded), { used: 50, lapsed: 50 })
    const used = (seed: number) => figuresOf("queue", changedJournal("queue", recorded, ["admitRate=120"], seed)).used
    assert.isAtLeast(used(7), 35)
    assert.isAtMost(used(7), 65)
    assert.strictEqual(used(7), used(7))
    assert.isAbove(new Set([1, 2, 3, 4, 5].map(used)).size, 1)
  })

  for (const kind of kinds) {
    it(`is the same again for the same seed, and keeps the rules: ${kind}`, () => {
      for (let seed = 1; seed <= 15; seed++) {
        const recorded = journalOf(kind, seed)
        const { steps } = replay(deciders[kind], recorded, 1)
        const play = () => playChanged(kind, recorded, steps, new Map(), 7)
        const events = play()
        assert.deepStrictEqual(events, play())
        assert.isUndefined(replay(deciders[kind], events, 1).difference, `seed ${seed}`)
        assert.isAtMost(figuresOf(kind, events).people, figuresOf(kind, recorded).people)
      }
    })
  }
})

describe("a setting of a replay", () => {
  const configuration = settings
  const problem = (...texts: ReadonlyArray<string>): string => {
    const parsed = checkChanges("queue", texts.map(changeOfText), [configuration])
    return Result.isFailure(parsed) ? parsed.failure.message : "none"
  }

  it("is read as the Admin API reads it", () => {
    const parsed = Result.getOrThrow(
      checkChanges("queue", ["admitRate=120", "closeAt=2026-11-21T19:00:00Z", "capacity="].map(changeOfText), [
        configuration
      ])
    )
    assert.deepStrictEqual(
      [...parsed],
      [
        ["admitRate", 120],
        ["closeAt", start + 3_600_000],
        ["capacity", undefined]
      ]
    )
  })

  it("is refused with the settings that there are", () => {
    assert.include(problem("speed=3"), "a queue has no such setting. Settings that can be changed")
    assert.include(problem("speed=3"), "admitRate")
    assert.strictEqual(problem("admitRate"), "needs a value, as NAME=VALUE")
    assert.include(problem("openAt=2026-11-21T19:00:00Z"), "the journal does not say what people would have done")
  })

  it("is refused with a value out of range, of another type, or against another setting", () => {
    assert.include(problem("admitRate=-1"), "between 0 and")
    assert.include(problem("admitRate=fast"), "Expected")
    assert.include(problem("admitRate="), "Missing key")
    assert.strictEqual(problem("admitBurst=3"), "admitBurst needs standby")
  })

  it("is there in every kind", () => {
    for (const kind of kinds) assert.isNotEmpty(changeable(kind))
  })

  it("counts percentiles by the nearest rank", () => {
    assert.deepStrictEqual(
      [percentile([1, 2, 3, 4], 0.5), percentile([1, 2, 3, 4], 0.95), percentile([5], 0.5)],
      [2, 4, 5]
    )
  })
})
