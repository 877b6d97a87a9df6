/**
 * Journals that are replayed. A failure names its seed; `REPLAY_SEED=<seed>` replays that journal alone.
 * `npm run prove -- replay` replays 1,000 of each kind.
 */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import type { Event } from "../../../src/domain/mechanism/Decider.ts"
import { deciders, type Kind, kinds } from "../../../src/domain/mechanism/Mechanism.ts"
import { replay } from "../../../src/engine/replay/Unchanged.ts"
import { eventsOf, type Recording } from "../recorded/replay.ts"
import { consumer, journalOf, oneASecond } from "./Journals.ts"

const alone = process.env["REPLAY_SEED"]
const count = Number(process.env["REPLAY_JOURNALS"] ?? 40)
const seeds = alone === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(alone)]

const differenceOf = (kind: Kind, events: ReadonlyArray<Event>) => replay(deciders[kind], events, 1).difference

describe("a journal that is replayed unchanged", () => {
  for (const kind of kinds) {
    it(`leads to every event again, for every seed: ${kind}`, () => {
      let events = 0
      for (const seed of seeds) {
        const journal = journalOf(kind, seed)
        const replayed = replay(deciders[kind], journal, 1)
        assert.deepStrictEqual(replayed.difference, undefined, `REPLAY_SEED=${seed} plays this journal again`)
        assert.strictEqual(replayed.events, journal.length)
        events += journal.length
      }
      assert.isAbove(events, 5 * seeds.length)
    })

    it(`leads to the events that a server has recorded under a load: ${kind}`, () => {
      const path = new URL(`../recorded/level1/${kind}.jsonl`, import.meta.url)
      const { journals }: Recording = JSON.parse(readFileSync(path, "utf8"))
      // The others have samples of events, which no rules lead to.
      const loads = journals.slice(0, kind === "appointment" ? 1 : 2)
      for (const { events } of loads) assert.isUndefined(differenceOf(kind, eventsOf(kind, events)))
    })

    it(`is found altered if an event in its middle belongs to another consumer: ${kind}`, () => {
      let found = 0
      const altered = seeds.slice(0, 20).map((seed) => {
        const journal = journalOf(kind, seed)
        const index = journal.findIndex(({ consumerId }, n) => consumerId !== undefined && n > journal.length / 3)
        if (index < 0) return 0
        const other = journal.with(index, { ...journal[index]!, consumerId: consumer(999_999) })
        // Another consumer could have entered in its place.
        if (differenceOf(kind, other) !== undefined) found++
        return 1
      })
      const tried = altered.reduce<number>((sum, one) => sum + one, 0)
      assert.isAbove(found, tried / 4)
    })
  }
})

const at = Date.parse("2026-11-21T18:00:00Z")
const settings = { ...oneASecond, maxAdmissions: 3 }

/** Three enter, and are admitted a second apart; the second one uses its grant. */
const line: ReadonlyArray<Event> = [
  { _tag: "Configured", at, configuration: settings, by: "admin" },
  { _tag: "Entered", at: at + 100, consumerId: consumer(1) },
  { _tag: "Granted", at: at + 100, consumerId: consumer(1) },
  { _tag: "Entered", at: at + 200, consumerId: consumer(2) },
  { _tag: "Entered", at: at + 300, consumerId: consumer(3) },
  { _tag: "Granted", at: at + 1_100, consumerId: consumer(2) },
  { _tag: "Completed", at: at + 1_500, consumerId: consumer(2), by: "shop", grant: { sequence: 6 } },
  { _tag: "Granted", at: at + 2_100, consumerId: consumer(3) }
] as ReadonlyArray<Event>

describe("an altered journal of a queue", () => {
  const alter = (index: number, change: object) => line.with(index, { ...line[index]!, ...change })

  it("is as the rules say before it is altered", () => assert.isUndefined(differenceOf("queue", line)))

  const cases: ReadonlyArray<readonly [string, ReadonlyArray<Event>, number, string]> = [
    ["an admission out of order", alter(5, { consumerId: consumer(3) }), 6, `Granted of ${consumer(2)}`],
    ["an admission before its time", alter(5, { at: at + 1_000 }), 6, "no such event at this time"],
    ["a missing admission", line.toSpliced(5, 1), 6, `Granted of ${consumer(2)}`],
    ["a use by someone who waits", alter(6, { consumerId: consumer(3) }), 7, "a refusal of Complete, WrongStatus"],
    ["an entry at the same time again", line.toSpliced(5, 0, line[4]!), 6, "no event for Enter"],
    [
      "one admission more than there are units",
      [
        ...line,
        { _tag: "Entered", at: at + 3_000, consumerId: consumer(4) },
        { ...line[7]!, consumerId: consumer(4), at: at + 3_100 }
      ],
      10,
      "no such event at this time"
    ],
    [
      "a second grant for someone who holds one",
      [...line, { _tag: "Granted", at: at + 4_000, consumerId: consumer(1), by: "admin" } as Event],
      9,
      "no event for Admit"
    ]
  ]
  for (const [what, events, sequence, expected] of cases) {
    it(`is found: ${what}`, () => {
      const difference = differenceOf("queue", events)
      assert.strictEqual(difference?.sequence, sequence)
      assert.include(difference?.expected, expected)
      assert.include(difference?.recorded, events[sequence - 1]!._tag)
    })
  }

  it("shows no secret of a draw", () => {
    const journal = journalOf("draw", 1)
    const seed = (journal[1] as { readonly seed?: string }).seed!
    const difference = differenceOf("draw", journal.with(1, { ...journal[1]!, at: at - 90_000 }))
    assert.isDefined(difference)
    assert.notInclude(JSON.stringify(difference), seed)
  })
})
