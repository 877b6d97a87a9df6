import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { runAll } from "../../../src/engine/cluster/MechanismEntity.ts"
import type { AddressedQuestion, WireAnswer } from "../../../src/engine/cluster/Wire.ts"
import * as Engine from "../../../src/engine/Engine.ts"
import * as Registry from "../../../src/engine/registry/Registry.ts"
import { ownsAll } from "../../../src/engine/registry/ShardOwnership.ts"
import {
  byHand,
  consumer,
  createQueue,
  enter,
  Hands,
  layerJournal,
  queue,
  queueId,
  stranger
} from "../engineFixture.ts"

const entry = (n: number): AddressedQuestion => ({
  id: queueId(),
  question: { method: "send", mechanism: queue(), command: enter(n) }
})

const entryOfStranger: AddressedQuestion = {
  id: queueId(),
  question: { method: "send", mechanism: { ...queue(), tenant: stranger }, command: enter(9) }
}

const read = (n: number): AddressedQuestion => ({
  id: queueId(),
  question: { method: "view", mechanism: queue(), consumerId: consumer(n) }
})

/** A node with one queue, whose actor runs. `ask` returns the answers to a message, in the order of its questions. */
const aNode = Effect.gen(function* () {
  yield* createQueue(1, byHand)
  const registry = yield* Registry.make()
  const engine = Engine.make("here", registry, 0)
  yield* engine.identity(queue())
  let isOwner = true
  const ownership = { ...ownsAll, owns: () => isOwner }
  const ask = (questions: ReadonlyArray<AddressedQuestion>) =>
    Effect.gen(function* () {
      const batch = yield* runAll({ engine, registry, ownership }, questions)
      const answers: Array<WireAnswer> = []
      while (!batch.isDone) for (const [index, answer] of yield* batch.taken) answers[index] = answer
      return answers
    })
  return { engine, ask, giveAway: () => (isOwner = false) }
})

describe("the questions of one message", () => {
  it.effect("become one commit if they are commands to one mechanism", () =>
    Effect.gen(function* () {
      const { ask } = yield* aNode
      const { commits } = yield* Hands
      const answers = yield* ask([entry(1), entry(2), read(1), entry(3)])
      assert.deepStrictEqual(
        answers.map(([kind]) => kind),
        ["yes", "yes", "yes", "yes"]
      )
      assert.deepStrictEqual(
        [answers[0], answers[1], answers[3]].map((answer) => (answer![1] as { readonly position: number }).position),
        [1, 2, 3]
      )
      assert.deepStrictEqual(
        commits.map(({ events }) => events.length),
        [3]
      )
    }).pipe(Effect.provide(layerJournal))
  )

  it.effect("are refused one by one", () =>
    Effect.gen(function* () {
      const { ask } = yield* aNode
      const [first, second] = yield* ask([entryOfStranger, entry(1)])
      assert.deepStrictEqual(first, ["no", { _tag: "MechanismNotFound", kind: "queue" }])
      assert.strictEqual(second![0], "yes")
    }).pipe(Effect.provide(layerJournal))
  )

  it.effect("fail together with their commit, and say so", () =>
    Effect.gen(function* () {
      const { ask } = yield* aNode
      const { failNext } = yield* Hands
      yield* failNext
      for (const [kind, refusal] of yield* ask([entry(1), entry(2)])) {
        assert.strictEqual(kind, "no")
        assert.deepInclude(refusal as object, { _tag: "Unavailable" })
        assert.notStrictEqual((refusal as { readonly cause: string }).cause, "the mechanism's actor has stopped")
      }
    }).pipe(Effect.provide(layerJournal))
  )

  it.effect("are not tried by a node that has given the mechanism away, and it says so", () =>
    Effect.gen(function* () {
      const { ask, giveAway } = yield* aNode
      const { commits } = yield* Hands
      giveAway()
      const notTried = ["no", { _tag: "Unavailable", cause: "the mechanism's actor has stopped" }]
      assert.deepStrictEqual(yield* ask([entry(1), read(1)]), [notTried, notTried] as never)
      assert.lengthOf(commits, 0)
    }).pipe(Effect.provide(layerJournal))
  )

  it.effect("give a line as of the last event on disk, after the write in progress, and not to a stranger", () =>
    Effect.gen(function* () {
      const { engine, ask } = yield* aNode
      const { hold } = yield* Hands
      const line = (tenant: Tenant = queue().tenant): AddressedQuestion => ({
        id: queueId(),
        question: { method: "line", mechanism: { ...queue(), tenant }, version: undefined }
      })
      yield* ask([entry(1)])
      const release = yield* hold
      const settle = Effect.repeat(Effect.yieldNow, { times: 50 })
      yield* Effect.forkChild(ask([entry(2)]))
      yield* settle
      const asking = yield* Effect.forkChild(ask([line()]))
      yield* settle
      assert.isUndefined(asking.pollUnsafe())
      yield* release
      const [answer] = yield* Fiber.join(asking)
      const { live } = yield* engine.inspect(queue())
      assert.deepInclude(answer![1], { issued: 2, sequence: live.lastSequence, version: 0, base: 0 })
      assert.deepStrictEqual(yield* ask([line(stranger)]), [["yes", undefined]])
    }).pipe(Effect.provide(layerJournal))
  )
})
