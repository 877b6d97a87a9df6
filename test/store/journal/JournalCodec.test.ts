import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import type { Event } from "../../../src/domain/mechanism/Decider.ts"
import * as JournalCodec from "../../../src/store/journal/JournalCodec.ts"
import { codecs, configured, entries, identity, ids, TestEvent } from "./journalSamples.ts"

const codec = JournalCodec.make(TestEvent)
const [consumerId] = ids(1) as [string]

describe("An event's own fields", () => {
  it("are absent for an event that has none", () => {
    assert.deepStrictEqual(codec.encode({ _tag: "Entered", at: 1, consumerId }), Result.succeed(null))
    assert.deepStrictEqual(codec.encode({ _tag: "Closed", at: 1 }), Result.succeed(null))
  })

  it("are stored as their schema encodes them", () => {
    assert.deepStrictEqual(
      codec.encode(configured),
      Result.succeed({
        by: "an admin",
        configuration: { name: "a drop", openAt: "2026-11-21T18:00:01.234Z" }
      })
    )
  })

  it("do not hide the columns", () => {
    const stored = { type: "Closed", at: 5, consumerId: null, data: { _tag: "Left", at: 7 } }
    assert.deepStrictEqual(codec.decode(stored), Result.succeed({ _tag: "Closed", at: 5 }))
  })

  it.prop("are read back as they were, through JSON", [TestEvent.cases.Entered, Schema.Int], ([event, at]) => {
    const given = { ...event, at } as Event
    const data = Result.getOrThrow(codec.encode(given))
    const stored = JSON.parse(JSON.stringify(data)) as typeof data
    const row = { type: given._tag, at, consumerId: given.consumerId ?? null, data: stored }
    assert.deepStrictEqual(Result.getOrThrow(codec.decode(row)), given)
  })
})

describe("A refused event", () => {
  const refusal = (event: object) => Result.getOrThrow(Result.flip(codec.encode(event as Event)))

  it("is an event that its schema does not know, before it is written", () => {
    assert.match(refusal({ _tag: "Entered", at: 1, consumerId, note: 5 }), /^Entered is not valid: .*note/s)
    assert.match(refusal({ _tag: "Left", at: 1 }), /consumerId/)
    assert.match(refusal({ _tag: "Exploded", at: 1 }), /^Exploded is not valid/)
  })

  it("is an instant that the column would truncate", () => {
    assert.match(refusal({ _tag: "Closed", at: 1.5 }), /whole milliseconds: 1.5/)
    assert.match(refusal({ _tag: "Closed", at: 1e300 }), /whole milliseconds/)
  })

  it("is a commit with any such event, and one of an unknown kind", () => {
    const commit = entries(identity().id, 0, ids(2))
    assert.isTrue(Result.isSuccess(JournalCodec.encodeCommit(codecs, commit)))
    const spoiled = { ...commit, events: [...commit.events, { _tag: "Closed", at: 0.5 }] }
    assert.isTrue(Result.isFailure(JournalCodec.encodeCommit(codecs, spoiled)))
    assert.isTrue(Result.isFailure(JournalCodec.encodeCommit(codecs, { ...commit, kind: "auction" })))
  })

  it("is a stored row that its schema does not accept", () => {
    const wrong = { type: "Left", at: 1, consumerId: null, data: null }
    assert.match(Result.getOrThrow(Result.flip(codec.decode(wrong))), /^Left cannot be read: .*consumerId/s)
  })
})
