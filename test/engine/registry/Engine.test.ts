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

/** Lets every fiber that can go on, go on. */
const settle = Effect.repeat(Effect.yieldNow, { times: 50 })

describe("the actor's promises", () => {
  it.effect("nobody is answered before the append has returned", () =>
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

  it.effect("a read that meets a write under way waits for it", () =>
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

  it.effect("a reader that waited for a write that failed is not told what was never written", () =>
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

  it.effect("a failed append answers everyone in the batch, and the actor starts again from what is stored", () =>
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

  it.effect("a retry after a write whose answer was lost changes nothing", () =>
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

  it.effect("an owner that was overtaken cannot write, and answers from what the other wrote", () =>
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

  it.effect("replaying the journal gives the state again", () =>
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

  it.effect("a mechanism's time does not run backwards with the clock", () =>
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

  it.effect("timed transitions happen, and are written, with nobody calling", () =>
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

  it.effect("a mechanism whose time came while no process ran is woken by the next one", () =>
    Effect.gen(function* () {
      yield* createQueue(1, { ...byHand, closeAt: 5_000 })
      yield* TestClock.setTime(60_000)
      const later = yield* anotherEngine("later")
      yield* settle
      assert.deepStrictEqual(yield* recorded(1), ["Configured", "Closed", "TornDown"])
      yield* later.close
    }).pipe(Effect.provide(layerJournal))
  )

  it.effect("a mechanism made by another process is woken when it is due", () =>
    Effect.gen(function* () {
      yield* Engine
      yield* settle
      yield* createQueue(1, { ...byHand, closeAt: 5_000 })
      yield* TestClock.adjust("6 seconds")
      yield* settle
      assert.deepStrictEqual(yield* recorded(1), ["Configured", "Closed", "TornDown"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("the commands that wait for one write travel together in the next", () =>
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

describe("the engine's door", () => {
  it.effect("an unknown mechanism, another tenant's and one of another mode are all not found", () =>
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

  it.effect("an archived mechanism is not found", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      yield* createQueue(1, byHand)
      const archived = yield* engine.sendAdmin(queue(), { _tag: "Archive", by: "admin" })
      assert.isTrue(archived.status.archived)
      assert.strictEqual((yield* Effect.flip(engine.view(queue(), consumer(1))))._tag, "MechanismNotFound")
    }).pipe(Effect.provide(layer))
  )

  it.effect("the live view counts places, entries and grants", () =>
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

  it.effect("commands beyond the mailbox are refused at once, not buffered", () =>
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

describe("supervision", () => {
  /** The journal with one queue whose events cannot be read. */
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

  it.effect("a mechanism that keeps failing is parked, and the others go on", () =>
    Effect.gen(function* () {
      yield* createQueue(1, byHand)
      yield* createQueue(2, byHand)
      const { engine } = yield* anotherEngine("here")
      yield* TestClock.adjust("10 seconds")
      yield* settle
      const failure = yield* Effect.flip(engine.send(queue(1), enter(1)))
      assert.strictEqual(failure._tag, "Parked")
      assert.isTrue(yield* engine.isRestored)
      const view = yield* engine.send(queue(2), enter(1))
      assert.strictEqual(view.status, "QUEUED")
    }).pipe(Effect.provide(poisoned))
  )

  it.effect("callers do not wear its attempts out", () =>
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

  it.effect("an operator can unpark it", () =>
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

  it.effect("a database that is away parks nobody, however long", () =>
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
