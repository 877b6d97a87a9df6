/** Workers that wait for mechanisms that need an effect: here, waitlists whose notices are due. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Engine } from "../../../src/engine/Engine.ts"
import { creationOf } from "../../../src/engine/lifecycle/Creation.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import {
  anotherEngine,
  byHand,
  consumer,
  createQueue,
  enter,
  Hands,
  layerJournal,
  queue,
  tenant
} from "../engineFixture.ts"

const id = "00000000-0000-7000-9000-000000000e01"
const waitlist = { kind: "waitlist", id, tenant } as const
const join = (n: number) => ({ _tag: "Enter", consumerId: consumer(n) }) as const

const createWaitlist = Effect.gen(function* () {
  const journal = yield* Journal
  const identity = { ...tenant, id, kind: "waitlist", experienceId: id, sequenceId: id } as const
  yield* journal.create([creationOf<"waitlist">(identity, { name: "Waitlist", timeZone: "UTC" }, "test", 0)])
})

/** A waitlist with one member, whose sequence opens after a second. */
const withMember = Effect.fnUntraced(function* (engine: Engine["Service"]) {
  yield* createWaitlist
  yield* engine.send(waitlist, join(1))
  yield* engine.sendAdmin(waitlist, { _tag: "ScheduleNotice", at: 1_000 })
})

/** Counts an engine's calls of the worker. */
const counting = (engine: Engine["Service"]) => {
  const signals = { count: 0, stop: () => {} }
  signals.stop = engine.onEffectNeeded("waitlist", () => void signals.count++)
  return signals
}

const settle = Effect.repeat(Effect.yieldNow, { times: 50 })
const layer = Engine.layer({ node: "here" }).pipe(Layer.provideMerge(layerJournal))

describe("A worker of waitlists", () => {
  it.effect("is called when notices are due, and after each commit while notices remain, and never otherwise", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const signals = counting(engine)
      yield* withMember(engine)
      yield* createQueue(1, byHand)
      yield* engine.send(queue(), enter(1))
      yield* TestClock.adjust(999)
      assert.strictEqual(signals.count, 0)
      yield* TestClock.adjust(1)
      assert.strictEqual(signals.count, 1)
      yield* engine.send(waitlist, join(2))
      assert.strictEqual(signals.count, 2)
      yield* engine.send(waitlist, { _tag: "MarkNotified", consumerId: consumer(1) })
      assert.strictEqual(signals.count, 3)
      yield* engine.send(waitlist, { _tag: "MarkNotified", consumerId: consumer(2) })
      assert.strictEqual(signals.count, 3)
      yield* engine.send(waitlist, join(3))
      assert.strictEqual(signals.count, 4)
      signals.stop()
      yield* engine.send(waitlist, join(4))
      assert.strictEqual(signals.count, 4)
    }).pipe(Effect.provide(layer))
  )

  it.effect("can query the waitlist at once, because its commit has finished", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const answers: Array<unknown> = []
      engine.onEffectNeeded("waitlist", () => {
        answers.push(
          ...Effect.runSync(engine.query("waitlist", ({ waiting }) => waiting.size)).map((said) => said.answer)
        )
      })
      yield* withMember(engine)
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual(answers, [1])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is called again when the actor is rebuilt after a failed write", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const { failNext } = yield* Hands
      yield* withMember(engine)
      yield* TestClock.adjust(1_000)
      const signals = counting(engine)
      yield* failNext
      yield* Effect.flip(engine.send(waitlist, join(2)))
      assert.strictEqual(signals.count, 0)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(signals.count, 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("is called again in the next process, and when an operator unparks a waitlist", () => {
    let isPoisoned = false
    const poisoned = Layer.effect(
      Journal,
      Effect.map(Journal, (journal) => ({
        ...journal,
        read: (...args: Parameters<typeof journal.read>) =>
          isPoisoned ? Stream.die(new Error("a corrupt event")) : journal.read(...args)
      }))
    ).pipe(Layer.provideMerge(layerJournal))
    return Effect.gen(function* () {
      const first = yield* anotherEngine("first")
      yield* withMember(first.engine)
      yield* TestClock.adjust(1_000)
      yield* first.close

      const second = yield* anotherEngine("second")
      const heard = counting(second.engine)
      yield* settle
      assert.strictEqual(heard.count, 1)
      yield* second.close

      isPoisoned = true
      const third = yield* anotherEngine("third")
      const signals = counting(third.engine)
      yield* TestClock.adjust("10 seconds")
      yield* settle
      assert.lengthOf(yield* third.engine.parked, 1)
      assert.strictEqual(signals.count, 0)
      isPoisoned = false
      yield* third.engine.unpark(id)
      assert.strictEqual(signals.count, 1)
      yield* third.close
    }).pipe(Effect.provide(poisoned))
  })
})
