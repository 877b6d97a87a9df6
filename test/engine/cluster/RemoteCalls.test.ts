import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import { hasStopped } from "../../../src/engine/actor/Actor.ts"
import * as RemoteCalls from "../../../src/engine/cluster/RemoteCalls.ts"
import {
  type Answer,
  answerToWire,
  type AddressedQuestion,
  decode,
  type Question,
  type WireAnswers
} from "../../../src/engine/cluster/Wire.ts"
import { Unavailable } from "../../../src/store/postgres/Unavailable.ts"
import { consumer, queue, queueId } from "../engineFixture.ts"

const view = (n: number): Question => ({ method: "view", mechanism: queue(), consumerId: consumer(n) })

const elsewhere = () => undefined

/** Runs all fibers until they wait. */
const settle = Effect.repeat(Effect.yieldNow, { times: 50 })

/** Nodes that answer each question with `answer`, once the gate of its message is open. */
class Nodes {
  readonly messages: Array<ReadonlyArray<AddressedQuestion>> = []
  readonly gates: Array<Deferred.Deferred<void>> = []
  answer: (question: Question, message: number) => Answer = (question) => Result.succeed(question)

  /** Answers the questions one by one, so that each answer arrives alone. */
  readonly transport: RemoteCalls.Transport = (_, bytes) => {
    const questions = decode<ReadonlyArray<AddressedQuestion>>(bytes)
    const message = this.messages.push(questions) - 1
    const gate = this.gates[message]
    const answers = questions.map(({ question }, index): WireAnswers => [
      [index, answerToWire(question, this.answer(question, message))]
    ])
    return Stream.concat(
      Stream.fromIterable(answers.slice(0, gate === undefined ? undefined : 1)),
      Stream.unwrap(
        Effect.as(gate === undefined ? Effect.void : Deferred.await(gate), Stream.fromIterable(answers.slice(1)))
      )
    )
  }

  get sizes(): ReadonlyArray<number> {
    return this.messages.map(({ length }) => length)
  }
}

/** All mechanisms live on one node, except the second; `forgotten` records the calls of `forget`. */
const ownerLookup = () => {
  const forgotten: Array<string> = []
  return {
    forgotten,
    of: (id: string) => (id === queueId(2) ? "another" : "one"),
    forget: (id: string) => void forgotten.push(id)
  }
}

const notTried = Result.fail(new Unavailable({ cause: hasStopped }))

describe("questions to another node", () => {
  it.effect(
    "to one node gather while a message is in progress, and travel together, whatever mechanism they are about",
    () =>
      Effect.gen(function* () {
        const nodes = new Nodes()
        nodes.gates.push(yield* Deferred.make<void>())
        const { query } = yield* RemoteCalls.make(nodes.transport, ownerLookup())
        const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
        for (let n = 0; n < 12; n++) {
          fibers.push(yield* Effect.forkChild(query(n % 2 === 0 ? queueId(1) : queueId(3), view(n), elsewhere)))
          yield* settle
        }
        assert.deepStrictEqual(nodes.sizes, [1])
        yield* Deferred.succeed(nodes.gates[0]!, undefined)
        yield* settle
        assert.deepStrictEqual(nodes.sizes, [1, 11])
        const answers = yield* Effect.forEach(fibers, (fiber) => Fiber.join(fiber))
        assert.deepStrictEqual(
          answers,
          Array.from({ length: 12 }, (_, n) => view(n))
        )
      })
  )

  it.effect("are sent while a message is held up, four messages at most", () =>
    Effect.gen(function* () {
      const nodes = new Nodes()
      for (let message = 0; message < 4; message++) nodes.gates.push(yield* Deferred.make<void>())
      const { query } = yield* RemoteCalls.make(nodes.transport, ownerLookup())
      const ask = (n: number) => Effect.tap(Effect.forkChild(query(queueId(), view(n), elsewhere)), () => settle)
      for (let n = 0; n < 6; n++) {
        yield* ask(n)
        yield* ask(n + 10)
        yield* TestClock.adjust(25)
      }
      assert.deepStrictEqual(nodes.sizes, [1, 1, 2, 2])
      yield* Deferred.succeed(nodes.gates[2]!, undefined)
      yield* settle
      assert.deepStrictEqual(nodes.sizes, [1, 1, 2, 2, 6])
    })
  )

  it.effect("are answered as the answers arrive, without waiting for the rest of the message", () =>
    Effect.gen(function* () {
      const nodes = new Nodes()
      for (let message = 0; message < 2; message++) nodes.gates.push(yield* Deferred.make<void>())
      const { query } = yield* RemoteCalls.make(nodes.transport, ownerLookup())
      yield* Effect.forkChild(query(queueId(), view(3), elsewhere))
      yield* settle
      const [first, second] = [
        yield* Effect.forkChild(query(queueId(), view(4), elsewhere)),
        yield* Effect.forkChild(query(queueId(), view(5), elsewhere))
      ]
      yield* settle
      yield* Deferred.succeed(nodes.gates[0]!, undefined)
      yield* settle
      assert.strictEqual(nodes.sizes[1], 2)
      assert.deepStrictEqual(yield* Fiber.join(first), view(4))
      assert.isUndefined(second.pollUnsafe())
      yield* Deferred.succeed(nodes.gates[1]!, undefined)
      assert.deepStrictEqual(yield* Fiber.join(second), view(5))
    })
  )

  it.effect("to different nodes do not wait for each other", () =>
    Effect.gen(function* () {
      const nodes = new Nodes()
      nodes.gates.push(yield* Deferred.make<void>())
      const { query } = yield* RemoteCalls.make(nodes.transport, ownerLookup())
      for (let n = 0; n < 2; n++) yield* Effect.forkChild(query(queueId(1), view(n), elsewhere))
      yield* settle
      assert.deepStrictEqual(yield* query(queueId(2), view(9), elsewhere), view(9))
      assert.deepStrictEqual(nodes.sizes, [1, 1])
    })
  )

  it.effect("that nobody waits for any more leave their node free for others", () =>
    Effect.gen(function* () {
      let messages = 0
      const silent = Stream.suspend(() => {
        messages += 1
        return Stream.never
      })
      const { query } = yield* RemoteCalls.make(() => silent, ownerLookup())
      for (let n = 0; n < 4; n++) {
        yield* Effect.forkChild(Effect.exit(query(queueId(), view(n), elsewhere)))
        yield* TestClock.adjust(25)
      }
      yield* Effect.forkChild(Effect.exit(query(queueId(), view(5), elsewhere)))
      yield* settle
      assert.strictEqual(messages, 4)
      yield* TestClock.adjust(2_300)
      assert.strictEqual(messages, 5)
    })
  )

  it.effect("whose answers end too soon fail, and are not sent again", () =>
    Effect.gen(function* () {
      let messages = 0
      const nothing = Stream.suspend(() => {
        messages += 1
        return Stream.empty
      })
      const { query } = yield* RemoteCalls.make(() => nothing, ownerLookup())
      assert.instanceOf(yield* Effect.flip(query(queueId(), view(1), elsewhere)), Unavailable)
      assert.strictEqual(messages, 1)
    })
  )

  it.effect("that no node answers fail after a time", () =>
    Effect.gen(function* () {
      const { query } = yield* RemoteCalls.make(() => Stream.never, ownerLookup())
      const fiber = yield* Effect.forkChild(Effect.flip(query(queueId(), view(1), elsewhere)))
      yield* settle
      yield* TestClock.adjust(2_399)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
      const refused = yield* Fiber.join(fiber)
      assert.instanceOf(refused, Unavailable)
    })
  )

  it.effect("are sent again, until that time, after a node that is not the owner refused them", () =>
    Effect.gen(function* () {
      const nodes = new Nodes()
      nodes.answer = (question, message) => (message < 3 ? notTried : Result.succeed(question))
      const owners = ownerLookup()
      const { query } = yield* RemoteCalls.make(nodes.transport, owners)
      const fiber = yield* Effect.forkChild(query(queueId(), view(1), elsewhere))
      yield* settle
      assert.strictEqual(nodes.messages.length, 1)
      for (let pause = 0; pause < 3; pause++) yield* TestClock.adjust(50)
      assert.deepStrictEqual(yield* Fiber.join(fiber), view(1))
      assert.strictEqual(nodes.messages.length, 4)
      assert.deepStrictEqual(owners.forgotten, [queueId(), queueId(), queueId()])
    })
  )

  it.effect("are answered by this node once it owns the mechanism", () =>
    Effect.gen(function* () {
      const nodes = new Nodes()
      nodes.answer = () => notTried
      const { query } = yield* RemoteCalls.make(nodes.transport, ownerLookup())
      let isHere = false
      const here = () => (isHere ? Effect.succeed("here") : undefined)
      const fiber = yield* Effect.forkChild(query(queueId(), view(1), here))
      yield* settle
      isHere = true
      yield* TestClock.adjust(50)
      assert.strictEqual(yield* Fiber.join(fiber), "here")
      assert.strictEqual(nodes.messages.length, 1)
    })
  )

  it.effect("are not sent again if they may have been carried out", () =>
    Effect.gen(function* () {
      let messages = 0
      const lost = Stream.fail(new Unavailable({ cause: "the connection broke" }))
      const losing = Stream.suspend(() => {
        messages += 1
        return lost
      })
      const { query } = yield* RemoteCalls.make(() => losing, ownerLookup())
      const refused = yield* Effect.flip(query(queueId(), view(1), elsewhere))
      assert.instanceOf(refused, Unavailable)
      yield* TestClock.adjust(10_000)
      assert.strictEqual(messages, 1)
    })
  )
})
