import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import { hasStopped } from "../../../src/engine/actor/Actor.ts"
import type * as Outbox from "../../../src/engine/cluster/Outbox.ts"
import * as RemoteCalls from "../../../src/engine/cluster/RemoteCalls.ts"
import {
  type Answer,
  answerToWire,
  type AddressedQuestion,
  decodeQuestions,
  type Question,
  type WireAnswers
} from "../../../src/engine/cluster/Wire.ts"
import * as Measures from "../../../src/measures/Measures.ts"
import { Unavailable } from "../../../src/store/postgres/Unavailable.ts"
import { consumer, queue, queueId } from "../engineFixture.ts"

const view = (n: number): Question => ({ method: "view", mechanism: queue(), consumerId: consumer(n) })

const elsewhere = () => undefined

/** Runs all fibers until they wait. */
const settle = Effect.repeat(Effect.yieldNow, { times: 50 })

/**
 * Nodes that answer each question with `answer`. A message with a gate gets only the answers of `beforeGate` until the
 * gate opens.
 */
class Nodes {
  readonly messages: Array<ReadonlyArray<AddressedQuestion>> = []
  readonly gates: Array<Deferred.Deferred<void>> = []
  beforeGate = 0
  answer: (question: Question, message: number) => Answer = (question) => Result.succeed(question)

  /** Answers the questions one by one, so that each answer arrives alone. */
  readonly transport: Outbox.Transport = (_, bytes) => {
    const questions = decodeQuestions(bytes)
    const message = this.messages.push(questions) - 1
    const gate = this.gates[message]
    const answers = questions.map(({ question }, index): WireAnswers => [
      [index, answerToWire(question, this.answer(question, message))]
    ])
    return Stream.concat(
      Stream.fromIterable(answers.slice(0, gate === undefined ? undefined : this.beforeGate)),
      Stream.unwrap(
        gate === undefined
          ? Effect.succeed(Stream.empty)
          : Effect.as(Deferred.await(gate), Stream.fromIterable(answers.slice(this.beforeGate)))
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

/** Nodes whose first messages wait, each for its gate. */
const nodesWithGates = (count: number) =>
  Effect.gen(function* () {
    const nodes = new Nodes()
    for (let message = 0; message < count; message++) nodes.gates.push(yield* Deferred.make<void>())
    return nodes
  })

describe("questions to another node", () => {
  it.effect("gather while a message is in progress, and travel together, whatever mechanism they are about", () =>
    Effect.gen(function* () {
      const nodes = yield* nodesWithGates(1)
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

  it.effect("are not kept back by a message that has had no answer for 20 ms", () =>
    Effect.gen(function* () {
      const nodes = yield* nodesWithGates(1)
      const { query } = yield* RemoteCalls.make(nodes.transport, ownerLookup())
      const slow = yield* Effect.forkChild(query(queueId(1), view(1), elsewhere))
      yield* settle
      const other = yield* Effect.forkChild(query(queueId(3), view(2), elsewhere))
      yield* settle
      yield* TestClock.adjust(19)
      assert.deepStrictEqual(nodes.sizes, [1])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* Fiber.join(other), view(2))
      assert.isUndefined(slow.pollUnsafe())
      assert.deepStrictEqual(yield* query(queueId(3), view(3), elsewhere), view(3))
    })
  )

  it.effect("leave at once when only some answers to a message come", () =>
    Effect.gen(function* () {
      const nodes = yield* nodesWithGates(2)
      const { query } = yield* RemoteCalls.make(nodes.transport, ownerLookup())
      yield* Effect.forkChild(query(queueId(), view(1), elsewhere))
      yield* settle
      const [first, second] = [
        yield* Effect.forkChild(query(queueId(), view(2), elsewhere)),
        yield* Effect.forkChild(query(queueId(), view(3), elsewhere))
      ]
      yield* settle
      nodes.beforeGate = 1
      yield* Deferred.succeed(nodes.gates[0]!, undefined)
      yield* settle
      assert.deepStrictEqual(nodes.sizes, [1, 2])
      assert.deepStrictEqual(yield* Fiber.join(first), view(2))
      assert.isUndefined(second.pollUnsafe())
      assert.deepStrictEqual(yield* query(queueId(), view(4), elsewhere), view(4))
      yield* Deferred.succeed(nodes.gates[1]!, undefined)
      assert.deepStrictEqual(yield* Fiber.join(second), view(3))
    })
  )

  it.effect("wait while four messages are held up", () =>
    Effect.gen(function* () {
      const nodes = yield* nodesWithGates(4)
      const { query } = yield* RemoteCalls.make(nodes.transport, ownerLookup())
      for (let n = 0; n < 5; n++) {
        yield* Effect.forkChild(query(queueId(), view(n), elsewhere))
        yield* settle
        yield* TestClock.adjust(20)
      }
      assert.deepStrictEqual(nodes.sizes, [1, 1, 1, 1])
      const last = yield* Effect.forkChild(query(queueId(), view(5), elsewhere))
      yield* settle
      yield* Deferred.succeed(nodes.gates[2]!, undefined)
      assert.deepStrictEqual(yield* Fiber.join(last), view(5))
      assert.deepStrictEqual(nodes.sizes, [1, 1, 1, 1, 2])
    })
  )

  it.effect("to different nodes do not wait for each other", () =>
    Effect.gen(function* () {
      const nodes = yield* nodesWithGates(1)
      const { query } = yield* RemoteCalls.make(nodes.transport, ownerLookup())
      yield* Effect.forkChild(query(queueId(1), view(1), elsewhere))
      yield* settle
      assert.deepStrictEqual(yield* query(queueId(2), view(9), elsewhere), view(9))
      assert.deepStrictEqual(nodes.sizes, [1, 1])
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

  it.effect("that wait behind others fail after the same time", () =>
    Effect.gen(function* () {
      const { query } = yield* RemoteCalls.make(() => Stream.never, ownerLookup())
      for (let n = 0; n < 4; n++) {
        yield* Effect.forkChild(Effect.flip(query(queueId(), view(n), elsewhere)))
        yield* settle
        yield* TestClock.adjust(20)
      }
      const read = { ...view(4), recall: "owner" } as Question
      const [last, status] = [
        yield* Effect.forkChild(Effect.flip(query(queueId(), view(4), elsewhere))),
        yield* Effect.forkChild(Effect.flip(query(queueId(), read, elsewhere)))
      ]
      yield* settle
      yield* TestClock.adjust(2_399)
      assert.isUndefined(last.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.instanceOf(yield* Fiber.join(last), Unavailable)
      yield* TestClock.adjust(3_599)
      assert.isUndefined(status.pollUnsafe(), "a status read waits longer")
      yield* TestClock.adjust(1)
      assert.instanceOf(yield* Fiber.join(status), Unavailable)
    })
  )

  it.effect("are sent although the transport does not end messages whose callers have given up", () =>
    Effect.gen(function* () {
      const nodes = new Nodes()
      const end = yield* Deferred.make<void>()
      let isStuck = true
      const stuck = Stream.drain(Stream.fromEffect(Effect.uninterruptible(Deferred.await(end))))
      const transport: Outbox.Transport = (id, bytes) => (isStuck ? stuck : nodes.transport(id, bytes))
      const { query } = yield* RemoteCalls.make(transport, ownerLookup())
      for (let n = 0; n < 4; n++) {
        yield* Effect.forkChild(Effect.flip(query(queueId(), view(n), elsewhere)))
        yield* settle
        yield* TestClock.adjust(20)
      }
      isStuck = false
      yield* TestClock.adjust(2_300)
      const next = yield* Effect.forkChild(query(queueId(), view(4), elsewhere))
      yield* settle
      assert.isUndefined(next.pollUnsafe())
      yield* TestClock.adjust(20)
      assert.deepStrictEqual(yield* Fiber.join(next), view(4))
      yield* Deferred.succeed(end, undefined)
    })
  )

  it.effect("are counted by their outcome, each attempt once", () =>
    Effect.gen(function* () {
      const nodes = new Nodes()
      nodes.answer = (question, message) => (message === 0 ? notTried : Result.succeed(question))
      const { query } = yield* RemoteCalls.make(nodes.transport, ownerLookup())
      const moved = yield* Effect.forkChild(query(queueId(), view(1), elsewhere))
      yield* settle
      yield* TestClock.adjust(50)
      yield* Fiber.join(moved)
      nodes.answer = () => Result.fail(new Unavailable({ cause: "the database is away" }))
      yield* Effect.flip(query(queueId(), view(2), elsewhere))
      const { cluster } = yield* Measures.Measures
      assert.deepStrictEqual(Object.fromEntries(cluster.remoteQuestions.entries()), {
        answered: 1,
        moved: 1,
        failed: 1
      })
    }).pipe(Effect.provide(Measures.layer))
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
