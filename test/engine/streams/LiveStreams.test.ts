/** Subscriptions to places, through the engine; and `Subscribers` alone, where the test counts its work. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { View } from "../../../src/domain/queue/Queue.ts"
import type { MechanismViews } from "../../../src/engine/actor/Actor.ts"
import { Engine } from "../../../src/engine/Engine.ts"
import { Subscribers, type Ending, type Listener, streamsOfOneMax } from "../../../src/engine/streams/LiveStreams.ts"
import { byHand, consumer, createQueue, enter, Hands, layerJournal, leave, queue, stranger } from "../engineFixture.ts"

const layer = Engine.layer({ node: "here" }).pipe(Layer.provideMerge(layerJournal))

/** Runs all fibers until they wait. */
const settle = Effect.repeat(Effect.yieldNow, { times: 200 })

/** A listener that records what it gets: event numbers and views. */
class Recorder implements Listener {
  readonly consumerId: string
  readonly since: number | undefined
  lastView: unknown = undefined
  readonly sequences: Array<number> = []
  readonly views: Array<View> = []
  readonly endings: Array<Ending> = []
  constructor(n: number, since?: number) {
    this.consumerId = consumer(n)
    this.since = since
  }
  readonly send = (view: unknown, sequence: number): Effect.Effect<void, Cause.NoSuchElementError> =>
    Effect.sync(() => {
      this.views.push(view as View)
      this.sequences.push(sequence)
    })
  readonly end = (ending: Ending): void => void this.endings.push(ending)
  get positions() {
    return this.views.map((view) => (view.status === "QUEUED" ? view.position : view.status))
  }
}

/** Adds the listener to the first queue. Returns an effect that removes it. */
const listen = Effect.fnUntraced(function* <E extends Recorder>(listener: E) {
  const engine = yield* Engine
  const subscribers = yield* engine.subscribers(queue())
  subscribers.add(listener)
  yield* settle
  return Effect.sync(() => subscribers.remove(listener))
})

const send = Effect.fnUntraced(function* (command: ReturnType<typeof enter> | ReturnType<typeof leave>) {
  const engine = yield* Engine
  yield* engine.send(queue(), command)
  yield* settle
})

describe("A place with a subscription", () => {
  it.effect("is sent as it is, and again immediately after a change", () =>
    Effect.gen(function* () {
      yield* createQueue(1, byHand)
      const listener = new Recorder(1)
      yield* listen(listener)
      assert.deepStrictEqual(listener.views, [{ status: "NOT_QUEUED" }])
      yield* send(enter(1))
      yield* send(leave(1))
      assert.deepStrictEqual(listener.positions, ["NOT_QUEUED", 1, "LEFT"])
      assert.deepStrictEqual(listener.sequences, [1, 2, 3])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is sent with its latest position at most once a second", () =>
    Effect.gen(function* () {
      yield* createQueue(1, byHand)
      yield* Effect.forEach([1, 2, 3, 4, 5, 6], (n) => send(enter(n)), { discard: true })
      const listener = new Recorder(6)
      yield* listen(listener)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(listener.positions, [6])
      yield* send(leave(1))
      assert.deepStrictEqual(listener.positions, [6, 5])
      yield* send(leave(2))
      yield* send(leave(3))
      yield* send(leave(4))
      yield* TestClock.adjust("999 millis")
      assert.deepStrictEqual(listener.positions, [6, 5])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(listener.positions, [6, 5, 2])
      assert.strictEqual(listener.sequences.at(-1), 11)
      yield* send(leave(6))
      assert.deepStrictEqual(listener.positions, [6, 5, 2, "LEFT"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is not sent after changes that do not affect it", () =>
    Effect.gen(function* () {
      yield* createQueue(1, byHand)
      yield* send(enter(1))
      const listener = new Recorder(1)
      yield* listen(listener)
      for (const n of [2, 3, 4]) {
        yield* send(enter(n))
        yield* TestClock.adjust("1 second")
      }
      assert.deepStrictEqual(listener.positions, [1])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is sent only from committed state", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const hands = yield* Hands
      yield* createQueue(1, byHand)
      const listener = new Recorder(1)
      yield* listen(listener)
      const release = yield* hands.hold
      const entry = yield* Effect.forkChild(engine.send(queue(), enter(1)))
      yield* settle
      const late = new Recorder(1)
      yield* listen(late)
      assert.deepStrictEqual([listener.positions, late.positions], [["NOT_QUEUED"], []])
      yield* release
      yield* Fiber.join(entry)
      yield* settle
      assert.deepStrictEqual([listener.positions, late.positions], [["NOT_QUEUED", 1], [1]])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is sent as stored after a failed write, and continues with the rebuilt mechanism", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const hands = yield* Hands
      yield* createQueue(1, byHand)
      yield* send(enter(1))
      yield* send(enter(2))
      const listener = new Recorder(2)
      yield* listen(listener)
      yield* hands.failNext
      yield* Effect.flip(engine.send(queue(), leave(1)))
      yield* TestClock.adjust("10 seconds")
      yield* settle
      assert.deepStrictEqual(listener.positions, [2, 2])
      yield* send(leave(1))
      assert.deepStrictEqual(listener.positions, [2, 2, 1])
      assert.deepStrictEqual(listener.sequences, [3, 3, 4])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is not sent again with a view that it got before the connection was cut", () =>
    Effect.gen(function* () {
      yield* createQueue(1, byHand)
      yield* send(enter(1))
      yield* send(enter(2))
      const [present, former] = [new Recorder(2, 3), new Recorder(2, 2)]
      yield* listen(present)
      yield* listen(former)
      assert.deepStrictEqual([present.positions, former.positions], [[], [2]])
      yield* send(leave(1))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual([present.positions, former.positions], [[1], [2, 1]])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is not sent without a listener, and is sent in full to a new listener", () =>
    Effect.gen(function* () {
      yield* createQueue(1, byHand)
      const listener = new Recorder(1)
      const stop = yield* listen(listener)
      yield* stop
      yield* send(enter(1))
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(listener.positions, ["NOT_QUEUED"])
      const next = new Recorder(1)
      yield* listen(next)
      yield* send(leave(1))
      assert.deepStrictEqual(next.positions, [1, "LEFT"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is sent a last time when the mechanism is torn down, and the stream is closed", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      yield* createQueue(1, byHand)
      yield* send(enter(1))
      const [waiting, bystander] = [new Recorder(1), new Recorder(2)]
      yield* listen(waiting)
      yield* listen(bystander)
      yield* engine.sendAdmin(queue(), { _tag: "End", by: "test" })
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.deepStrictEqual([waiting.positions, waiting.endings], [[1, "DENIED"], ["CLOSED"]])
      assert.deepStrictEqual([bystander.positions, bystander.endings], [["NOT_QUEUED"], ["CLOSED"]])
    }).pipe(Effect.provide(layer))
  )

  it.effect("has no subscription where the mechanism is not found", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      yield* createQueue(1, byHand)
      for (const unknown of [queue(2), { ...queue(), tenant: stranger }]) {
        assert.strictEqual((yield* Effect.flip(engine.subscribers(unknown)))._tag, "MechanismNotFound")
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("is sent again a second after a failure", () =>
    Effect.gen(function* () {
      yield* createQueue(1, byHand)
      class Failing extends Recorder {
        isFailing = true
        override readonly send = (view: unknown) =>
          this.isFailing
            ? Effect.fail(new Cause.NoSuchElementError())
            : Effect.sync(() => void this.views.push(view as View))
      }
      const listener = new Failing(1)
      yield* listen(listener)
      listener.isFailing = false
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.deepStrictEqual(listener.positions, ["NOT_QUEUED"])
    }).pipe(Effect.provide(layer))
  )
})

describe("The subscribers of a mechanism", () => {
  /**
   * Subscribers of a mechanism in which every view is the event number. `slices` records the consumers of each read.
   */
  const makeSubscribers = Effect.gen(function* () {
    const slices: Array<ReadonlyArray<string>> = []
    const mechanism = { sequence: 1, isDown: false }
    const scope = yield* Effect.scope
    const fork = Effect.runForkWith(yield* Effect.context<never>())
    const viewMany = (consumerIds: ReadonlyArray<string>) =>
      Effect.suspend((): Effect.Effect<MechanismViews, string> => {
        if (mechanism.isDown) return Effect.fail("down")
        slices.push(consumerIds)
        const { sequence } = mechanism
        return Effect.succeed({ sequence, isOver: false, views: consumerIds.map(() => ({ position: sequence })) })
      })
    const subscribers = new Subscribers({ viewMany, fork: (loop) => void Fiber.runIn(fork(loop), scope) })
    /** A commit that changes every view. */
    const commit = (...consumerIds: ReadonlyArray<string>) => {
      mechanism.sequence += 1
      subscribers.changed(consumerIds)
    }
    const readCount = () => slices.splice(0).flat().length
    return { subscribers, mechanism, slices, commit, readCount }
  })

  const recorders = (count: number) => Array.from({ length: count }, (_, n) => new Recorder(n))

  it.effect("cost one pass a second in slices, however many commits there are (1,000 subscribers)", () =>
    Effect.gen(function* () {
      const { subscribers, slices, commit, readCount } = yield* makeSubscribers
      const listeners = recorders(1_000)
      for (const listener of listeners) subscribers.add(listener)
      yield* settle
      assert.strictEqual(readCount(), 1_000)
      yield* TestClock.adjust("1 second")
      for (let n = 0; n < 50; n++) commit()
      yield* settle
      assert.isAtMost(Math.max(...slices.map(({ length }) => length)), 128)
      assert.strictEqual(readCount(), 1_000)
      for (let n = 0; n < 50; n++) {
        commit()
        yield* settle
      }
      assert.strictEqual(readCount(), 0)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(readCount(), 1_000)
      for (const { views, sequences } of listeners) {
        assert.strictEqual(views.length, 3)
        assert.deepStrictEqual(sequences, [1, 51, 101])
      }
    })
  )

  it.effect("are read immediately if their own place changed, and the others are not", () =>
    Effect.gen(function* () {
      const { subscribers, slices, commit, readCount } = yield* makeSubscribers
      for (const listener of recorders(100)) subscribers.add(listener)
      yield* settle
      commit()
      yield* settle
      readCount()
      commit(consumer(7), consumer(5_000), consumer(8))
      yield* settle
      assert.deepStrictEqual(slices, [[consumer(7), consumer(8)]])
    })
  )

  it.effect("are all reached by a pass while others change all the time", () =>
    Effect.gen(function* () {
      const { subscribers, commit } = yield* makeSubscribers
      const listeners = recorders(500)
      for (const listener of listeners) subscribers.add(listener)
      yield* settle
      for (let n = 0; n < 300; n++) {
        commit(...listeners.slice(0, 200).map(({ consumerId }) => consumerId))
        yield* Effect.yieldNow
      }
      assert.isTrue(listeners.every(({ views }) => views.length > 1))
    })
  )

  it.effect("lose the oldest stream of a consumer with more than a few", () =>
    Effect.gen(function* () {
      const { subscribers } = yield* makeSubscribers
      const streams = Array.from({ length: streamsOfOneMax + 2 }, () => new Recorder(1))
      for (const listener of streams) subscribers.add(listener)
      yield* settle
      const endings = streams.map((listener) => listener.endings.join())
      assert.deepStrictEqual(endings, ["REPLACED", "REPLACED", ...Array.from({ length: streamsOfOneMax }, () => "")])
      assert.deepStrictEqual(
        streams.map(({ views }) => views.length),
        [0, 0, 1, 1, 1, 1, 1]
      )
    })
  )

  it.effect("are read again after a rebuild, or after a second, if the mechanism cannot be read", () =>
    Effect.gen(function* () {
      const { subscribers, mechanism } = yield* makeSubscribers
      const listener = new Recorder(1)
      mechanism.isDown = true
      subscribers.add(listener)
      yield* settle
      mechanism.isDown = false
      yield* settle
      assert.deepStrictEqual(listener.views, [])
      yield* TestClock.adjust("1 second")
      assert.strictEqual(listener.views.length, 1)
      subscribers.rebuilt()
      yield* settle
      assert.strictEqual(listener.views.length, 2)
    })
  )
})
