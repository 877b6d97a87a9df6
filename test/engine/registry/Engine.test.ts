import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Engine } from "../../../src/engine/Engine.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import {
  anotherEngine,
  byHand,
  consumer,
  createQueue,
  enter,
  Hands,
  layerJournal,
  leave,
  queue,
  queueId,
  recorded,
  stranger,
  tenant
} from "../engineFixture.ts"

const layer = Engine.layer({ node: "here" }).pipe(Layer.provideMerge(layerJournal))

/** Runs every fiber that is ready. */
const settle = Effect.repeat(Effect.yieldNow, { times: 50 })

describe("the actor", () => {
  it.effect("answers no caller before the append has returned", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const hands = yield* Hands
      yield* createQueue(1, byHand)
      const release = yield* hands.hold
      const answer = yield* Effect.forkChild(engine.send(queue(), enter(1)))
      yield* settle
      assert.isUndefined(answer.pollUnsafe())
      yield* release
      const view = yield* Fiber.join(answer)
      assert.strictEqual(view.status, "QUEUED")
    }).pipe(Effect.provide(layer))
  )

  it.effect("lets a read wait for the write in progress", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const hands = yield* Hands
      yield* createQueue(1, byHand)
      yield* engine.send(queue(), enter(1))
      yield* engine.send(queue(), enter(2))
      const release = yield* hands.hold
      yield* Effect.forkChild(engine.send(queue(), leave(1)))
      yield* settle
      const read = yield* Effect.forkChild(engine.view(queue(), consumer(2)))
      yield* settle
      assert.isUndefined(read.pollUnsafe())
      yield* release
      const view = yield* Fiber.join(read)
      assert.isTrue(view.status === "QUEUED" && view.position === 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("shows no uncommitted state to a reader that waited for a failed write", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const hands = yield* Hands
      yield* createQueue(1, byHand)
      yield* hands.failNext
      const release = yield* hands.hold
      const entry = yield* Effect.forkChild(Effect.flip(engine.send(queue(), enter(1))))
      yield* settle
      const read = yield* Effect.forkChild(Effect.flip(engine.view(queue(), consumer(1))))
      yield* settle
      yield* release
      assert.strictEqual((yield* Fiber.join(entry))._tag, "Unavailable")
      assert.strictEqual((yield* Fiber.join(read))._tag, "Unavailable")
    }).pipe(Effect.provide(layer))
  )

  it.effect("answers every caller of a batch whose append failed, and starts again from the journal", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const hands = yield* Hands
      yield* createQueue(1, byHand)
      yield* engine.send(queue(), enter(1))
      yield* hands.failNext
      const failures = yield* Effect.forEach([2, 3, 4], (n) => Effect.flip(engine.send(queue(), enter(n))), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(
        failures.map(({ _tag }) => _tag),
        ["Unavailable", "Unavailable", "Unavailable"]
      )
      const view = yield* engine.send(queue(), enter(5))
      assert.isTrue(view.status === "QUEUED" && view.position === 2)
      assert.deepStrictEqual(yield* recorded(1), ["Configured", "Entered", "Entered"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("changes nothing for a retry of a write whose answer was lost", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const hands = yield* Hands
      yield* createQueue(1, byHand)
      yield* hands.failNextAfterWriting
      yield* Effect.flip(engine.send(queue(), enter(1)))
      const view = yield* engine.send(queue(), enter(1))
      assert.isTrue(view.status === "QUEUED" && view.position === 1)
      assert.deepStrictEqual(yield* recorded(1), ["Configured", "Entered"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("cannot write after another process took its mechanism over, and then shows the other's events", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      yield* createQueue(1, byHand)
      yield* engine.send(queue(), enter(1))
      const other = yield* anotherEngine("there")
      yield* other.engine.send(queue(), enter(2))
      const overtaken = yield* Effect.flip(engine.send(queue(), enter(3)))
      assert.strictEqual(overtaken._tag, "Unavailable")
      const view = yield* engine.send(queue(), enter(3))
      assert.isTrue(view.status === "QUEUED" && view.position === 3)
      assert.deepStrictEqual(yield* recorded(1), ["Configured", "Entered", "Entered", "Entered"])
      yield* other.close
    }).pipe(Effect.provide(layer))
  )

  it.effect("rebuilds the same state from the journal", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      yield* createQueue(1, { ...byHand, admitRate: 60, admissionExpirationSeconds: 2 })
      yield* Effect.forEach([1, 2, 3, 4, 5], (n) => engine.send(queue(), enter(n)))
      yield* TestClock.adjust("1500 millis")
      yield* engine.send(queue(), leave(3))
      yield* TestClock.adjust("1 second")
      yield* settle
      const other = yield* anotherEngine("there")
      for (const n of [1, 2, 3, 4, 5, 6]) {
        assert.deepStrictEqual(yield* other.engine.view(queue(), consumer(n)), yield* engine.view(queue(), consumer(n)))
      }
      const [here, there] = [yield* engine.inspect(queue()), yield* other.engine.inspect(queue())]
      assert.deepStrictEqual(there.live.counts, here.live.counts)
      assert.strictEqual(there.live.lastSequence, here.live.lastSequence)
      yield* other.close
    }).pipe(Effect.provide(layer))
  )

  it.effect("keeps a mechanism's time when the clock runs backwards", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      yield* createQueue(1, byHand)
      yield* TestClock.setTime(10_000)
      const first = yield* engine.send(queue(), enter(1))
      yield* TestClock.setTime(4_000)
      const second = yield* engine.send(queue(), enter(2))
      assert.isTrue(first.status === "QUEUED" && first.enteredAt === 10_000)
      assert.isTrue(second.status === "QUEUED" && second.enteredAt === 10_000 && second.position === 2)
    }).pipe(Effect.provide(layer))
  )

  it.effect("performs and writes timed transitions without a caller", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const hands = yield* Hands
      yield* createQueue(1, { ...byHand, admitRate: 60, admissionExpirationSeconds: 10, closeAt: 30_000 })
      yield* engine.send(queue(), enter(1))
      yield* engine.send(queue(), enter(2))
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.deepStrictEqual(yield* recorded(1), ["Configured", "Entered", "Granted", "Entered", "Granted"])
      assert.strictEqual(hands.commits.at(-1)!.wakeAt, 10_000)
      yield* TestClock.adjust("9 seconds")
      yield* settle
      yield* TestClock.adjust("1 second")
      yield* settle
      yield* TestClock.adjust("19 seconds")
      yield* settle
      assert.deepStrictEqual((yield* recorded(1)).slice(5), ["Expired", "Expired", "Closed", "TornDown"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is woken by the next process if its time came while no process ran", () =>
    Effect.gen(function* () {
      yield* createQueue(1, { ...byHand, closeAt: 5_000 })
      yield* TestClock.setTime(60_000)
      const later = yield* anotherEngine("later")
      yield* settle
      assert.deepStrictEqual(yield* recorded(1), ["Configured", "Closed", "TornDown"])
      yield* later.close
    }).pipe(Effect.provide(layerJournal))
  )

  it.effect("is woken when it is due, even if another process created the mechanism", () =>
    Effect.gen(function* () {
      yield* Engine
      yield* settle
      yield* createQueue(1, { ...byHand, closeAt: 5_000 })
      yield* TestClock.adjust("6 seconds")
      yield* settle
      assert.deepStrictEqual(yield* recorded(1), ["Configured", "Closed", "TornDown"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("commits the commands that waited for one write together in the next", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const hands = yield* Hands
      yield* createQueue(1, byHand)
      const release = yield* hands.hold
      const first = yield* Effect.forkChild(engine.send(queue(), enter(1)))
      yield* settle
      const others = yield* Effect.forEach([2, 3, 4], (n) => Effect.forkChild(engine.send(queue(), enter(n))))
      yield* settle
      yield* release
      yield* Fiber.join(first)
      yield* Fiber.joinAll(others)
      assert.deepStrictEqual(
        hands.commits.map(({ events }) => events.length),
        [1, 3]
      )
    }).pipe(Effect.provide(layer))
  )
})

describe("the engine", () => {
  it.effect("does not find an unknown mechanism, another tenant's, or one of another mode", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      yield* createQueue(1, byHand)
      const refused = [
        engine.view(queue(2), consumer(1)),
        engine.view({ ...queue(1), tenant: stranger }, consumer(1)),
        engine.view({ ...queue(1), tenant: { ...tenant, mode: "test" } }, consumer(1))
      ]
      for (const attempt of refused) assert.strictEqual((yield* Effect.flip(attempt))._tag, "MechanismNotFound")
    }).pipe(Effect.provide(layer))
  )

  it.effect("does not find an archived mechanism", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      yield* createQueue(1, byHand)
      const archived = yield* engine.sendAdmin(queue(), { _tag: "Archive", by: "admin" })
      assert.isTrue(archived.status.archived)
      assert.strictEqual((yield* Effect.flip(engine.view(queue(), consumer(1))))._tag, "MechanismNotFound")
    }).pipe(Effect.provide(layer))
  )

  it.effect("counts places, entries and grants for the live view", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      yield* createQueue(1, { ...byHand, admitRate: 60 })
      yield* Effect.forEach([1, 2, 3], (n) => engine.send(queue(), enter(n)))
      yield* TestClock.adjust("1 second")
      yield* settle
      const { live, lifecycle } = yield* engine.inspect(queue())
      assert.strictEqual(lifecycle, "open")
      assert.deepInclude(live, { entriesPerMinute: 3, grantsPerMinute: 2, lastSequence: 6, node: "here" })
      assert.deepInclude(live.counts, { QUEUED: 1, GRANTED: 2 })
    }).pipe(Effect.provide(layer))
  )

  it.effect("refuses commands beyond the mailbox at once, and does not buffer them", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const hands = yield* Hands
      yield* createQueue(1, byHand)
      yield* engine.send(queue(), enter(0))
      const release = yield* hands.hold
      yield* Effect.forkChild(engine.send(queue(), enter(1)))
      yield* settle
      const crowd = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: 33_000 }, (_, n) => n + 2),
          (n) => Effect.result(engine.send(queue(), enter(n))),
          {
            concurrency: "unbounded"
          }
        )
      )
      yield* settle
      yield* release
      const results = yield* Fiber.join(crowd)
      const refused = results.filter((result) => result._tag === "Failure")
      assert.strictEqual(refused.length, 33_000 - 32_768)
      assert.isTrue(refused.every((result) => result._tag === "Failure" && result.failure._tag === "Overloaded"))
    }).pipe(Effect.provide(layer))
  )
})

describe("the supervisor", () => {
  /** The journal with one queue whose events cannot be decoded. */
  const poisoned = Layer.effect(
    Journal,
    Effect.gen(function* () {
      const journal = yield* Journal
      return {
        ...journal,
        read: (head, after) =>
          head.identity.id === queueId(1) ? Stream.die(new Error("a corrupt event")) : journal.read(head, after)
      }
    })
  ).pipe(Layer.provideMerge(layerJournal))

  it.effect("parks a mechanism that keeps failing, and the others continue", () =>
    Effect.gen(function* () {
      yield* createQueue(1, byHand)
      yield* createQueue(2, byHand)
      const { engine } = yield* anotherEngine("here")
      yield* TestClock.adjust("10 seconds")
      yield* settle
      const failure = yield* Effect.flip(engine.send(queue(1), enter(1)))
      assert.strictEqual(failure._tag, "Parked")
      assert.isUndefined(yield* engine.problem)
      const view = yield* engine.send(queue(2), enter(1))
      assert.strictEqual(view.status, "QUEUED")
    }).pipe(Effect.provide(poisoned))
  )

  it.effect("does not let callers use up the attempts of a mechanism", () =>
    Effect.gen(function* () {
      yield* createQueue(1, byHand)
      const { engine } = yield* anotherEngine("here")
      yield* settle
      for (let call = 0; call < 20; call++) {
        assert.strictEqual((yield* Effect.flip(engine.send(queue(1), enter(1))))._tag, "Unavailable")
        yield* TestClock.adjust("4 millis")
        yield* settle
      }
    }).pipe(Effect.provide(poisoned))
  )

  it.effect("starts a parked mechanism again when an operator unparks it", () =>
    Effect.gen(function* () {
      yield* createQueue(1, byHand)
      const { engine } = yield* anotherEngine("here")
      yield* TestClock.adjust("10 seconds")
      yield* settle
      yield* engine.unpark(queueId(1))
      const failure = yield* Effect.flip(engine.send(queue(1), enter(1)))
      assert.strictEqual(failure._tag, "Unavailable")
    }).pipe(Effect.provide(poisoned))
  )

  it.effect("parks no mechanism while the database is unreachable, however long", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const hands = yield* Hands
      yield* createQueue(1, byHand)
      for (let attempt = 0; attempt < 20; attempt++) {
        yield* hands.failNext
        assert.strictEqual((yield* Effect.flip(engine.send(queue(), enter(attempt))))._tag, "Unavailable")
      }
      assert.strictEqual((yield* engine.send(queue(), enter(99))).status, "QUEUED")
    }).pipe(Effect.provide(layer))
  )
})
