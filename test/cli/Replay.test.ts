/** `usher replay` on journals in a real database. */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Event } from "../../src/domain/mechanism/Decider.ts"
import { deciders, type Kind, kinds } from "../../src/domain/mechanism/Mechanism.ts"
import type { AnyDecider } from "../../src/engine/actor/Batch.ts"
import { recordOf } from "../../src/engine/actor/Record.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import * as JournalCodec from "../../src/store/journal/JournalCodec.ts"
import { consumer, journalOf, oneASecond, played } from "../engine/replay/Journals.ts"
import { layerWith } from "../store/journal/journalFixture.ts"
import { experienceId, sequenceId, tenant } from "../store/journal/journalSamples.ts"
import { TestDatabase } from "../store/support/TestDatabase.ts"
import * as UsherInProcess from "./usherInProcess.ts"

const idOf = (n: number): string => `00000000-0000-7000-9000-${n.toString(16).padStart(12, "0")}`

/** Stores a journal as one commit. */
const store = Effect.fnUntraced(function* (n: number, kind: Kind, events: ReadonlyArray<Event>) {
  const id = idOf(n)
  const decider: AnyDecider = deciders[kind]
  const state: unknown = decider.initial()
  for (const event of events) decider.evolve(state, event)
  const commit = {
    mechanismId: id,
    kind,
    expectedSequence: 0,
    events,
    places: [],
    wakeAt: decider.wakeAt(state) ?? null,
    record: recordOf(decider, state, events, events.at(-1)!.at)
  }
  const identity = { ...tenant, id, kind, experienceId, sequenceId }
  yield* (yield* Journal).create([{ identity, createdBy: "admin", commit }])
  return id
})

const replay = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(TestDatabase, ({ url }) => UsherInProcess.run(["replay", ...args], { DATABASE_URL: url }))

const start = Date.parse("2026-11-21T18:00:00Z")

/** Sixty people at once, in a line of one a second; two in three use their grant. */
const friday = played(
  "queue",
  { ...oneASecond, admissionExpirationSeconds: 120 },
  Array.from({ length: 60 }, (_, n) => n).flatMap((n) => [
    [start, { _tag: "Enter", consumerId: consumer(n), isGuest: false, loyaltyScore: 0 }] as const,
    ...(n % 3 === 0
      ? []
      : [[start + n * 1_000 + 30_000, { _tag: "Complete", consumerId: consumer(n), by: "shop" }] as const])
  ])
)

layer(layerWith({ codecs: JournalCodec.codecs(deciders) }), { excludeTestServices: true, timeout: "2 minutes" })(
  "usher replay",
  (it) => {
    for (const [index, kind] of kinds.entries()) {
      it.effect(`leads to every event of a stored journal: ${kind}`, () =>
        Effect.gen(function* () {
          const events = journalOf(kind, 3)
          const { code, stdout, stderr } = yield* replay(yield* store(100 + index, kind, events), "--json")
          assert.strictEqual(code, 0, stderr)
          const report = JSON.parse(stdout)
          assert.deepInclude(report, { kind, events: events.length })
          assert.notProperty(report, "difference")
        })
      )
    }

    it.effect("ends with code 1 at an altered journal, and shows the first event that differs", () =>
      Effect.gen(function* () {
        const id = yield* store(1, "queue", friday)
        const sql = yield* PgClient.PgClient
        const [altered] = yield* sql<{ readonly sequence: string }>`
          update journal set consumer_id = ${consumer(59)}
          where mechanism_id = ${id} and type = 'Granted' and consumer_id = ${consumer(7)} returning sequence::text`
        const { code, stdout, stderr } = yield* replay(id)
        assert.strictEqual(code, 1)
        assert.include(stdout, `Event ${altered!.sequence} of ${friday.length} is not what the rules lead to.`)
        assert.include(stdout, `recorded: Granted of ${consumer(59)}`)
        assert.include(stdout, `expected: Granted of ${consumer(7)}`)
        assert.include(stderr, "The rules of this release do not lead to the recorded events.")
        assert.notInclude(stderr, "at ")
      })
    )

    it.effect("shows the figures of another rate beside the recorded ones, under its assumption", () =>
      Effect.gen(function* () {
        const id = yield* store(2, "queue", friday)
        const args = [id, "--set", "admitRate=120", "--seed", "7"]
        const { code, stdout } = yield* replay(...args)
        assert.strictEqual(code, 0)
        const [first, ...rest] = stdout.split("\n")
        assert.match(first!, /^Assumed: people came and gave up as they did; .* \(seed 7\)/)
        const row = (name: string) =>
          rest
            .find((line) => line.startsWith(name))
            ?.slice(name.length)
            .trim()
        assert.match(row("admitted")!, /^60 +60$/)
        assert.match(row("wait, median")!, /^29 s +14.5 s$/)
        assert.match(row("wait, longest")!, /^59 s +29.5 s$/)
        assert.match(row("lapsed")!, /^20 +\d+$/)
        assert.strictEqual((yield* replay(...args)).stdout, stdout)
        const json = JSON.parse((yield* replay(...args, "--json")).stdout)
        assert.deepStrictEqual(json.changed.figures.waitSeconds, { median: 14.5, p95: 28, longest: 29.5 })
        assert.strictEqual(json.changed.assumption, first)
      })
    )

    it.effect("refuses unknown mechanisms, settings and values in words", () =>
      Effect.gen(function* () {
        const id = yield* store(3, "queue", friday)
        const cases: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
          [[idOf(999)], `There is no mechanism ${idOf(999)}.`],
          [["Drop"], "the id of a mechanism"],
          [[id, "--set", "speed=3"], "speed: a queue has no such setting"],
          [[id, "--set", "admitRate=-1"], "admitRate: "],
          [[id, "--set", "admitBurst=3"], "admitBurst needs standby"]
        ]
        for (const [args, words] of cases) {
          const { code, stderr } = yield* replay(...args)
          assert.strictEqual(code, 1)
          assert.include(stderr, words)
        }
      })
    )
  }
)
