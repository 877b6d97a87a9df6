/** Those who follow their places: through the engine, and an audience by itself where its work is counted. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { View } from "../../../src/domain/queue/Queue.ts"
import type { MechanismViews } from "../../../src/engine/actor/Actor.ts"
import { Engine } from "../../../src/engine/Engine.ts"
import { Subscribers, type Ending, type Listener, streamsOfOneMax } from "../../../src/engine/streams/LiveStreams.ts"
import { byHand, consumer, createQueue, enter, Hands, layerJournal, leave, queue, stranger } from "../engineFixture.ts"

const layer = Engine.layer({ node: "here" }).pipe(Layer.provideMerge(layerJournal))

/** Lets every fiber that can go on, go on. */
const settle = Effect.repeat(Effect.yieldNow, { times: 200 })

/** A listener that notes what it is told, as `sequence: view`, or only the position. */
class Ear implements Listener {
  readonly consumerId: string
  readonly since: number | undefined
  told: unknown = undefined
  readonly sequences: Array<number> = []
  readonly views: Array<View> = []
  readonly endings: Array<Ending> = []
  constructor(n: number, since?: number) {
    this.consumerId = consumer(n)
    this.since = since
  }
  readonly tell = (view: unknown, sequence: number): Effect.Effect<void, Cause.NoSuchElementError> =>
    Effect.sync(() => {
      this.views.push(view as View)
      this.sequences.push(sequence)
    })
  readonly end = (ending: Ending): void => void this.endings.push(ending)
  get positions() {
    return this.views.map((view) => (view.status === "QUEUED" ? view.position : view.status))
  }
}

/** Lets the ear listen to the first queue; answers how to stop. */
const listen = Effect.fnUntraced(function* <E extends Ear>(ear: E) {
  const engine = yield* Engine
  const audience = yield* engine.subscribers(queue())
  audience.add(ear)
  yield* settle
  return Effect.sync(() => audience.remove(ear))
})

const send = Effect.fnUntraced(function* (command: ReturnType<typeof enter> | ReturnType<typeof leave>) {
  const engine = yield* Engine
  yield* engine.send(queue(), command)
  yield* settle
})

describe("A place that is followed", () => {
  it.effect("is told as it is, and again at once when it changes", () =>
    Effect.gen(function* () {
      yield* createQueue(1, byHand)
      const ear = new Ear(1)
      yield* listen(ear)
      assert.deepStrictEqual(ear.views, [{ status: "NOT_QUEUED" }])
      yield* send(enter(1))
      yield* send(leave(1))
      assert.deepStrictEqual(ear.positions, ["NOT_QUEUED", 1, "LEFT"])
      assert.deepStrictEqual(ear.sequences, [1, 2, 3])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is told its position once a second at most, the latest of it", () =>
    Effect.gen(function* () {
      yield* createQueue(1, byHand)
      yield* Effect.forEach([1, 2, 3, 4, 5, 6], (n) => send(enter(n)), { discard: true })
      const ear = new Ear(6)
      yield* listen(ear)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(ear.positions, [6])
      yield* send(leave(1))
      assert.deepStrictEqual(ear.positions, [6, 5])
      yield* send(leave(2))
      yield* send(leave(3))
      yield* send(leave(4))
      yield* TestClock.adjust("999 millis")
      assert.deepStrictEqual(ear.positions, [6, 5])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(ear.positions, [6, 5, 2])
      assert.strictEqual(ear.sequences.at(-1), 11)
      yield* send(leave(6))
      assert.deepStrictEqual(ear.positions, [6, 5, 2, "LEFT"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is told nothing by changes that leave it as it is", () =>
    Effect.gen(function* () {
      yield* createQueue(1, byHand)
      yield* send(enter(1))
      const ear = new Ear(1)
      yield* listen(ear)
      for (const n of [2, 3, 4]) {
        yield* send(enter(n))
        yield* TestClock.adjust("1 second")
      }
      assert.deepStrictEqual(ear.positions, [1])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is told only what is on disk", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const hands = yield* Hands
      yield* createQueue(1, byHand)
      const ear = new Ear(1)
      yield* listen(ear)
      const release = yield* hands.hold
      const entry = yield* Effect.forkChild(engine.send(queue(), enter(1)))
      yield* settle
      const late = new Ear(1)
      yield* listen(late)
      assert.deepStrictEqual([ear.positions, late.positions], [["NOT_QUEUED"], []])
      yield* release
      yield* Fiber.join(entry)
      yield* settle
      assert.deepStrictEqual([ear.positions, late.positions], [["NOT_QUEUED", 1], [1]])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is told after a failed write what is stored, and goes on with the mechanism as it was rebuilt", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const hands = yield* Hands
      yield* createQueue(1, byHand)
      yield* send(enter(1))
      yield* send(enter(2))
      const ear = new Ear(2)
      yield* listen(ear)
      yield* hands.failNext
      yield* Effect.flip(engine.send(queue(), leave(1)))
      yield* TestClock.adjust("10 seconds")
      yield* settle
      assert.deepStrictEqual(ear.positions, [2, 2])
      yield* send(leave(1))
      assert.deepStrictEqual(ear.positions, [2, 2, 1])
      assert.deepStrictEqual(ear.sequences, [3, 3, 4])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is not told again what it was told before it was cut off", () =>
    Effect.gen(function* () {
      yield* createQueue(1, byHand)
      yield* send(enter(1))
      yield* send(enter(2))
      const [present, former] = [new Ear(2, 3), new Ear(2, 2)]
      yield* listen(present)
      yield* listen(former)
      assert.deepStrictEqual([present.positions, former.positions], [[], [2]])
      yield* send(leave(1))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual([present.positions, former.positions], [[1], [2, 1]])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is told no more when nobody listens, and anew to whoever listens then", () =>
    Effect.gen(function* () {
      yield* createQueue(1, byHand)
      const ear = new Ear(1)
      const stop = yield* listen(ear)
      yield* stop
      yield* send(enter(1))
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(ear.positions, ["NOT_QUEUED"])
      const next = new Ear(1)
      yield* listen(next)
      yield* send(leave(1))
      assert.deepStrictEqual(next.positions, [1, "LEFT"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is told its last state when the mechanism is torn down, and that it was the last", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      yield* createQueue(1, byHand)
      yield* send(enter(1))
      const [waiting, bystander] = [new Ear(1), new Ear(2)]
      yield* listen(waiting)
      yield* listen(bystander)
      yield* engine.sendAdmin(queue(), { _tag: "End", by: "test" })
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.deepStrictEqual([waiting.positions, waiting.endings], [[1, "DENIED"], ["CLOSED"]])
      assert.deepStrictEqual([bystander.positions, bystander.endings], [["NOT_QUEUED"], ["CLOSED"]])
    }).pipe(Effect.provide(layer))
  )

  it.effect("cannot be followed where it is not found", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      yield* createQueue(1, byHand)
      for (const unknown of [queue(2), { ...queue(), tenant: stranger }]) {
        assert.strictEqual((yield* Effect.flip(engine.subscribers(unknown)))._tag, "MechanismNotFound")
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("is told again a second later if it could not be told", () =>
    Effect.gen(function* () {
      yield* createQueue(1, byHand)
      class Deaf extends Ear {
        isDeaf = true
        override readonly tell = (view: unknown) =>
          this.isDeaf
            ? Effect.fail(new Cause.NoSuchElementError())
            : Effect.sync(() => void this.views.push(view as View))
      }
      const ear = new Deaf(1)
      yield* listen(ear)
      ear.isDeaf = false
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.deepStrictEqual(ear.positions, ["NOT_QUEUED"])
    }).pipe(Effect.provide(layer))
  )
})

describe("An audience", () => {
  /** An audience of a mechanism in which everyone's view is the sequence, and whom it has looked at, a slice each. */
  const makeAudience = Effect.gen(function* () {
    const slices: Array<ReadonlyArray<string>> = []
    const mechanism = { sequence: 1, isDown: false }
    const scope = yield* Effect.scope
    const fork = Effect.runForkWith(yield* Effect.context<never>())
    const survey = (consumerIds: ReadonlyArray<string>) =>
      Effect.suspend((): Effect.Effect<MechanismViews, string> => {
        if (mechanism.isDown) return Effect.fail("down")
        slices.push(consumerIds)
        const { sequence } = mechanism
        return Effect.succeed({ sequence, isOver: false, views: consumerIds.map(() => ({ position: sequence })) })
      })
    const audience = new Subscribers({ viewMany: survey, fork: (loop) => void Fiber.runIn(fork(loop), scope) })
    /** A commit after which everybody stands otherwise. */
    const commit = (...consumerIds: ReadonlyArray<string>) => {
      mechanism.sequence += 1
      audience.changed(consumerIds)
    }
    const looked = () => slices.splice(0).flat().length
    return { audience, mechanism, slices, commit, looked }
  })

  const ears = (count: number) => Array.from({ length: count }, (_, n) => new Ear(n))

  it.effect("of 1,000 costs one pass a second, however many commits there are, in slices", () =>
    Effect.gen(function* () {
      const { audience, slices, commit, looked } = yield* makeAudience
      const listeners = ears(1_000)
      for (const ear of listeners) audience.add(ear)
      yield* settle
      assert.strictEqual(looked(), 1_000)
      yield* TestClock.adjust("1 second")
      for (let n = 0; n < 50; n++) commit()
      yield* settle
      assert.isAtMost(Math.max(...slices.map(({ length }) => length)), 128)
      assert.strictEqual(looked(), 1_000)
      for (let n = 0; n < 50; n++) {
        commit()
        yield* settle
      }
      assert.strictEqual(looked(), 0)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(looked(), 1_000)
      for (const { views, sequences } of listeners) {
        assert.strictEqual(views.length, 3)
        assert.deepStrictEqual(sequences, [1, 51, 101])
      }
    })
  )

  it.effect("looks at once at those whose place changed, and at nobody else", () =>
    Effect.gen(function* () {
      const { audience, slices, commit, looked } = yield* makeAudience
      for (const ear of ears(100)) audience.add(ear)
      yield* settle
      commit()
      yield* settle
      looked()
      commit(consumer(7), consumer(5_000), consumer(8))
      yield* settle
      assert.deepStrictEqual(slices, [[consumer(7), consumer(8)]])
    })
  )

  it.effect("comes to everyone in a pass while others change all the time", () =>
    Effect.gen(function* () {
      const { audience, commit } = yield* makeAudience
      const listeners = ears(500)
      for (const ear of listeners) audience.add(ear)
      yield* settle
      for (let n = 0; n < 300; n++) {
        commit(...listeners.slice(0, 200).map(({ consumerId }) => consumerId))
        yield* Effect.yieldNow
      }
      assert.isTrue(listeners.every(({ views }) => views.length > 1))
    })
  )

  it.effect("with more than a few streams of one consumer ends the oldest", () =>
    Effect.gen(function* () {
      const { audience } = yield* makeAudience
      const streams = Array.from({ length: streamsOfOneMax + 2 }, () => new Ear(1))
      for (const ear of streams) audience.add(ear)
      yield* settle
      const endings = streams.map((ear) => ear.endings.join())
      assert.deepStrictEqual(endings, ["REPLACED", "REPLACED", ...Array.from({ length: streamsOfOneMax }, () => "")])
      assert.deepStrictEqual(
        streams.map(({ views }) => views.length),
        [0, 0, 1, 1, 1, 1, 1]
      )
    })
  )

  it.effect("of a mechanism that cannot be looked at waits until it is rebuilt, or asks again after a second", () =>
    Effect.gen(function* () {
      const { audience, mechanism } = yield* makeAudience
      const ear = new Ear(1)
      mechanism.isDown = true
      audience.add(ear)
      yield* settle
      mechanism.isDown = false
      yield* settle
      assert.deepStrictEqual(ear.views, [])
      yield* TestClock.adjust("1 second")
      assert.strictEqual(ear.views.length, 1)
      audience.rebuilt()
      yield* settle
      assert.strictEqual(ear.views.length, 2)
    })
  )
})
