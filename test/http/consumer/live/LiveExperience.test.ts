/** Snapshots of live facts, and the streams that follow them, without a server. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, type Scope } from "effect"
import { TestClock } from "effect/testing"
import {
  LiveExperience,
  LiveWatcher,
  type Snapshot,
  snapshotOf
} from "../../../../src/http/consumer/live/LiveExperience.ts"
import type { EventStream } from "../../../../src/http/streams/EventStream.ts"
import { Unavailable } from "../../../../src/store/postgres/Unavailable.ts"
import { RecordNotFound } from "../../../../src/store/records/RecordNotFound.ts"

/** An experience whose facts the test sets, and the number of readings. */
const anExperience = Effect.fnUntraced(function* (first: Effect.Effect<Snapshot, RecordNotFound | Unavailable>) {
  const scope = yield* Effect.scope
  const runFork = Effect.runForkWith(yield* Effect.context<Scope.Scope>())
  const facts = { next: first, readings: 0 }
  const read = Effect.suspend(() => {
    facts.readings += 1
    return facts.next
  })
  const experience = new LiveExperience(read, (effect) => void Fiber.runIn(runFork(effect), scope))
  return { facts, experience }
})

/** A stream that notes what it gets. */
const follow = (experience: LiveExperience, lastEventId?: string) => {
  const got: Array<string> = []
  const watcher = new LiveWatcher(experience, lastEventId)
  const stream = {
    send: (event: string) => void got.push(event),
    end: (reason: string) => {
      got.push(reason)
      watcher.stop()
    }
  }
  watcher.begin(stream as unknown as EventStream)
  return { got, watcher }
}

const one = snapshotOf('{"entries":1}', 0)
const two = snapshotOf('{"entries":2}', 0)

describe("A snapshot", () => {
  it("is named by its facts without the instant", () => {
    const later = snapshotOf('{"entries":1}', 5_000)
    assert.deepStrictEqual([later.id, later.etag], [one.id, one.etag])
    assert.notStrictEqual(two.id, one.id)
    assert.include(later.event, 'data: {"now":"1970-01-01T00:00:05.000Z","entries":1}\n\n')
  })
})

describe("The facts of an experience", () => {
  it.effect("are read once a second for any number of callers", () =>
    Effect.gen(function* () {
      const { experience, facts } = yield* anExperience(Effect.delay(Effect.succeed(one), "10 millis"))
      const callers = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 100 }, () => experience.current),
          { concurrency: "unbounded" }
        )
      )
      yield* TestClock.adjust("10 millis")
      const snapshots = yield* Fiber.join(callers)
      assert.deepStrictEqual(new Set(snapshots), new Set([one]))
      yield* TestClock.adjust("999 millis")
      yield* experience.current
      assert.strictEqual(facts.readings, 1)
      facts.next = Effect.succeed(two)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* experience.current, two)
      assert.strictEqual(facts.readings, 2)
    })
  )

  it.effect("are read to the end although the first caller has gone", () =>
    Effect.gen(function* () {
      const { experience, facts } = yield* anExperience(Effect.delay(Effect.succeed(one), "10 millis"))
      const first = yield* Effect.forkChild(experience.current, { startImmediately: true })
      const second = yield* Effect.forkChild(experience.current, { startImmediately: true })
      yield* Fiber.interrupt(first)
      yield* TestClock.adjust("10 millis")
      assert.strictEqual(yield* Fiber.join(second), one)
      assert.strictEqual(facts.readings, 1)
    })
  )

  it.effect("are not asked for again in the second of a failure", () =>
    Effect.gen(function* () {
      const gone = new RecordNotFound({ record: "Experience" })
      const { experience, facts } = yield* anExperience(Effect.fail(gone))
      assert.strictEqual(yield* Effect.flip(experience.current), gone)
      assert.strictEqual(yield* Effect.flip(experience.current), gone)
      assert.strictEqual(facts.readings, 1)
      facts.next = Effect.succeed(one)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* experience.current, one)
    })
  )
})

describe("Streams of the facts", () => {
  it.effect("get the facts, then each change once, at most one a second", () =>
    Effect.gen(function* () {
      const { experience, facts } = yield* anExperience(Effect.succeed(one))
      yield* experience.current
      const [ada, bob] = [follow(experience), follow(experience, one.id)]
      assert.deepStrictEqual([ada.got, bob.got], [[one.event], []])
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual([ada.got, bob.got], [[one.event], []])
      facts.next = Effect.succeed(two)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual([ada.got, bob.got], [[one.event, two.event], [two.event]])
      const { readings } = facts
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(facts.readings, readings + 3)
    })
  )

  it.effect("are not read for when the last one has left", () =>
    Effect.gen(function* () {
      const { experience, facts } = yield* anExperience(Effect.succeed(one))
      const { watcher } = follow(experience)
      yield* TestClock.adjust("2 seconds")
      watcher.stop()
      yield* TestClock.adjust("1 second")
      const { readings } = facts
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(facts.readings, readings)
      const later = follow(experience)
      facts.next = Effect.succeed(two)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(later.got.at(-1), two.event)
    })
  )

  it.effect("outlast a store that is away, and end with the experience", () =>
    Effect.gen(function* () {
      const { experience, facts } = yield* anExperience(Effect.succeed(one))
      yield* experience.current
      const { got } = follow(experience)
      facts.next = Effect.fail(new Unavailable({ cause: "the test says so" }))
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(got, [one.event])
      facts.next = Effect.fail(new RecordNotFound({ record: "Experience" }))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(got, [one.event, "CLOSED"])
    })
  )

  it.effect("are all told although there are many", () =>
    Effect.gen(function* () {
      const { experience, facts } = yield* anExperience(Effect.succeed(one))
      yield* experience.current
      const followers = Array.from({ length: 1_000 }, () => follow(experience, one.id))
      facts.next = Effect.succeed(two)
      yield* TestClock.adjust("2 seconds")
      for (const { got } of followers) assert.deepStrictEqual(got, [two.event])
    })
  )
})
