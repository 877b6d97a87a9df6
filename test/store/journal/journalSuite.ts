/** The contract of every journal, whatever its storage. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect, Exit, Fiber, type Layer, Stream } from "effect"
import { randomUUID } from "node:crypto"
import type { Event } from "../../../src/domain/mechanism/Decider.ts"
import { type Head, Journal, type MechanismRecord } from "../../../src/store/journal/Journal.ts"
import {
  Rows,
  TestEvent,
  start,
  configured,
  record,
  identity,
  creation,
  created,
  entries,
  place,
  ids,
  eventsOf,
  sequenceOf
} from "./journalSamples.ts"

/** Tests of the contract over one kind of journal. */
export const journalSuite = (name: string, layer: Layer.Layer<Journal | Rows>) =>
  withLayer(layer, { excludeTestServices: true })(name, (it) => {
    it.effect("answers an append only after its events can be read", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const id = yield* created
        const [one, two] = ids(2) as [string, string]
        const events: ReadonlyArray<TestEvent> = [
          { _tag: "Entered", at: start + 5, consumerId: one },
          { _tag: "Entered", at: start + 5, consumerId: two, note: 'again, „quoted“ \\ "so" \n' },
          { _tag: "Left", at: start + 6, consumerId: one },
          { _tag: "Closed", at: start + 7 }
        ]
        yield* journal.append({ ...entries(id, 1, []), events })
        assert.deepStrictEqual(
          yield* eventsOf(id),
          [configured, ...events].map((event, index) => ({
            sequence: index + 1,
            event: event as Event
          }))
        )
        assert.strictEqual(yield* sequenceOf(id), 5)
      })
    )

    it.effect("refuses a commit that expects another sequence, and writes no part of it", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const id = yield* created
        const [early, late] = ids(2) as [string, string]
        yield* journal.append(entries(id, 1, [early]))
        for (const expected of [0, 1, 3]) {
          const conflict = yield* Effect.flip(
            journal.append({
              ...entries(id, expected, [late]),
              wakeAt: start,
              record: { ...record, archived: true }
            })
          )
          assert.strictEqual(conflict._tag, "JournalConflict")
          assert.strictEqual(conflict._tag === "JournalConflict" && conflict.mechanismId, id)
        }
        const rows = yield* Rows
        assert.strictEqual((yield* eventsOf(id)).length, 2)
        assert.deepStrictEqual([...(yield* rows.places(id)).keys()], [early])
        assert.deepStrictEqual(yield* rows.record(id), record)
        assert.strictEqual((yield* journal.head(id))?.wakeAt, null)
      })
    )

    it.effect("refuses a commit to a mechanism that does not exist", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const id = randomUUID()
        assert.strictEqual((yield* Effect.flip(journal.append(entries(id, 0, ids(1)))))._tag, "JournalConflict")
        assert.strictEqual(yield* journal.head(id), undefined)
      })
    )

    it.effect("refuses only the stale commit of several", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const mechanisms = yield* Effect.all(Array.from({ length: 20 }, () => created))
        const exits = yield* Effect.forEach(
          mechanisms,
          (id, index) => Effect.exit(journal.append(entries(id, index === 7 ? 4 : 1, ids(3)))),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          exits.map(Exit.isSuccess),
          mechanisms.map((_, index) => index !== 7)
        )
        const sequences = yield* Effect.forEach(mechanisms, sequenceOf)
        assert.deepStrictEqual(
          sequences,
          mechanisms.map((_, index) => (index === 7 ? 1 : 4))
        )
      })
    )

    it.effect("accepts exactly one of two commits that expect the same sequence", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const id = yield* created
        const exits = yield* Effect.forEach(
          ids(2),
          (consumer) => Effect.exit(journal.append(entries(id, 1, [consumer]))),
          {
            concurrency: "unbounded"
          }
        )
        assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
        assert.strictEqual((yield* eventsOf(id)).length, 2)
      })
    )

    it.effect("keeps the events of many actors separate, and each actor's in order", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const mechanisms = yield* Effect.all(Array.from({ length: 30 }, () => created))
        const consumers = yield* Effect.forEach(
          mechanisms,
          Effect.fnUntraced(function* (id, index) {
            const entered: Array<string> = []
            for (let round = 0; round < 5; round++) {
              const some = ids(1 + ((index + round) % 4))
              yield* journal.append(entries(id, 1 + entered.length, some))
              entered.push(...some)
            }
            return entered
          }),
          { concurrency: "unbounded" }
        )
        for (const [index, id] of mechanisms.entries()) {
          const events = yield* eventsOf(id, 1)
          assert.deepStrictEqual(
            events.map(({ event }) => event.consumerId),
            consumers[index]
          )
          assert.deepStrictEqual(
            events.map(({ sequence }) => sequence),
            events.map((_, position) => position + 2)
          )
        }
      })
    )

    it.effect("writes the places in their state after the commit", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const rows = yield* Rows
        const id = yield* created
        const [one, two] = ids(2) as [string, string]
        yield* journal.append(entries(id, 1, [one, two]))
        const granted = { grantedAt: "2026-11-21T18:00:00.000Z", grantSequence: 4 }
        yield* journal.append({
          ...entries(id, 3, []),
          events: [{ _tag: "Left", at: start + 9, consumerId: one }],
          places: [{ ...place(one, "GRANTED", start + 1, granted), updatedAt: start + 9 }]
        })
        const places = yield* rows.places(id)
        assert.deepStrictEqual(places.get(one), {
          status: "GRANTED",
          enteredAt: start + 1,
          updatedAt: start + 9,
          fields: granted
        })
        assert.deepStrictEqual(places.get(two), {
          status: "QUEUED",
          enteredAt: start + 2,
          updatedAt: start + 2,
          fields: {}
        })
        assert.strictEqual(places.size, 2)
      })
    )

    it.effect("stores each commit's wake-up, and finds mechanisms that are due", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const [soon, later, never] = [yield* created, yield* created, yield* created]
        yield* journal.append(entries(soon, 1, ids(1), { wakeAt: start + 1_000 }))
        yield* journal.append(entries(later, 1, ids(1), { wakeAt: start + 2_000 }))
        yield* journal.append(entries(never, 1, ids(1), { wakeAt: start + 500 }))
        yield* journal.append(entries(never, 2, ids(1), { wakeAt: null }))
        const dueAt = Effect.fnUntraced(function* (at: number) {
          const due = yield* journal.due(at)
          return due.map(({ identity }) => identity.id).filter((id) => [soon, later, never].includes(id))
        })
        assert.deepStrictEqual(yield* dueAt(start + 999), [])
        assert.deepStrictEqual(yield* dueAt(start + 1_000), [soon])
        assert.sameMembers(yield* dueAt(start + 2_000), [soon, later])
        assert.strictEqual((yield* journal.head(soon))?.wakeAt, start + 1_000)
      })
    )

    it.effect("rewrites a mechanism's record with the commit that changed it", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const rows = yield* Rows
        const [changed, other] = [yield* created, yield* created]
        const after: MechanismRecord = {
          configuration: { name: "renamed", nested: { deep: [1, "two", null] } },
          status: {
            statusOverride: "ended",
            statusOverrideAt: start + 77,
            statusOverrideBy: "someone",
            teardownStatus: "pending"
          },
          archived: true,
          updatedAt: start + 78,
          updatedBy: "someone else"
        }
        yield* Effect.all(
          [journal.append(entries(other, 1, ids(1))), journal.append(entries(changed, 1, ids(1), { record: after }))],
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(yield* rows.record(changed), after)
        assert.deepStrictEqual(yield* rows.record(other), record)
      })
    )

    it.effect("after a takeover, refuses only the former owner, whatever sequence it expects", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const [taken, other] = [yield* created, yield* created]
        const [head, ...rest] = yield* journal.takeOver([taken])
        assert.deepStrictEqual([head?.identity.id, head?.sequence, head?.epoch, rest.length], [taken, 1, 1, 0])
        const former = yield* Effect.flip(journal.append(entries(taken, 1, ids(1))))
        assert.strictEqual(former._tag, "JournalConflict")
        yield* journal.append(entries(taken, 1, ids(1), { epoch: 1 }))
        yield* journal.append(entries(other, 1, ids(1)))
        const [again] = yield* journal.takeOver([taken])
        assert.deepStrictEqual([again?.sequence, again?.epoch], [2, 2])
        assert.strictEqual((yield* journal.head(taken))?.epoch, 2)
        assert.deepStrictEqual(yield* journal.takeOver([randomUUID()]), [])
      })
    )

    it.effect("has one last owner for each mechanism after concurrent takeovers", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const mechanisms = yield* Effect.all(Array.from({ length: 20 }, () => created))
        const backwards = mechanisms.toReversed()
        const rounds = Array.from({ length: 8 }, (_, round) => (round % 2 === 0 ? mechanisms : backwards))
        const epochs = yield* Effect.forEach(rounds, (ids) => journal.takeOver(ids), { concurrency: "unbounded" })
        for (const id of mechanisms) {
          const found = epochs.map((heads) => heads.find(({ identity }) => identity.id === id)!.epoch)
          assert.sameMembers(found, [1, 2, 3, 4, 5, 6, 7, 8])
        }
      })
    )

    it.effect("creates several mechanisms, or none", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const rows = yield* Rows
        const [first, second, third] = [identity(), identity(), identity()]
        yield* journal.create([creation(first), creation(second)])
        assert.deepStrictEqual(yield* journal.head(first.id), {
          identity: first,
          sequence: 1,
          epoch: 0,
          formatVersion: 1,
          wakeAt: null,
          placesSequence: 1,
          isOver: false
        })
        assert.deepStrictEqual(yield* eventsOf(second.id), [{ sequence: 1, event: configured as Event }])
        assert.deepStrictEqual(yield* rows.record(second.id), record)
        assert.isTrue(Exit.isFailure(yield* Effect.exit(journal.create([creation(third), creation(first)]))))
        assert.strictEqual(yield* journal.head(third.id), undefined)
        yield* journal.create([])
      })
    )

    it.effect("lists as unfinished the mechanisms that are not torn down", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const [fresh, pending, over] = [yield* created, yield* created, yield* created]
        const torn = (teardownStatus: "pending" | "completed") => ({
          ...record,
          status: { ...record.status, teardownStatus }
        })
        yield* journal.append(
          entries(pending, 1, ids(1), {
            record: { ...torn("pending"), archived: true },
            wakeAt: start
          })
        )
        yield* journal.append(entries(over, 1, ids(1), { record: torn("completed") }))
        const unfinished = new Map((yield* journal.unfinished).map((head) => [head.identity.id, head]))
        assert.strictEqual(unfinished.get(fresh)?.sequence, 1)
        assert.strictEqual(unfinished.get(pending)?.wakeAt, start)
        assert.isFalse(unfinished.has(over))
        yield* journal.append(entries(pending, 2, ids(1), { record: { ...torn("pending"), archived: true } }))
        assert.isFalse((yield* journal.head(pending))?.isOver)
        yield* journal.append(entries(pending, 3, ids(1), { record: { ...torn("completed"), archived: true } }))
        assert.isTrue((yield* journal.head(pending))?.isOver)
      })
    )

    it.effect("reads in pages, from any sequence up to the head it was given", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const id = yield* created
        const consumers = ids(2_500)
        yield* journal.append(entries(id, 1, consumers))
        const head = (yield* journal.head(id)) as Head
        yield* journal.append(entries(id, 2_501, ids(1)))
        const pages = yield* Stream.runCollect(journal.read(head, 1))
        assert.isAbove(pages.length, 1)
        assert.deepStrictEqual(
          pages.flat().map(({ event }) => event.consumerId),
          consumers
        )
        assert.deepStrictEqual(
          (yield* Stream.runCollect(journal.read(head, 2_499))).flat().map(({ sequence }) => sequence),
          [2_500, 2_501]
        )
        assert.deepStrictEqual(yield* Stream.runCollect(journal.read(head, 2_501)), [])
      })
    )

    it.effect("writes a commit even if its caller is interrupted", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const id = yield* created
        const caller = yield* Effect.forkChild(journal.append(entries(id, 1, ids(1))), {
          startImmediately: true
        })
        yield* Fiber.interrupt(caller)
        yield* Effect.sleep(20).pipe(
          Effect.andThen(sequenceOf(id)),
          Effect.repeat({ until: (sequence) => sequence === 2, times: 100 })
        )
        assert.strictEqual(yield* sequenceOf(id), 2)
      })
    )
  })
