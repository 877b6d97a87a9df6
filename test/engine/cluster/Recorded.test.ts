import { assert, describe, it } from "@effect/vitest"
import { Effect, Equal, Result } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { release } from "../../../src/domain/values/Release.ts"
import { answerQuestion } from "../../../src/engine/cluster/MechanismEntity.ts"
import {
  type AddressedQuestion,
  answerFromWire,
  decode,
  encode,
  type WireAnswer,
  type WireReply
} from "../../../src/engine/cluster/Wire.ts"
import * as Engine from "../../../src/engine/Engine.ts"
import * as Registry from "../../../src/engine/registry/Registry.ts"
import { ownsAll } from "../../../src/engine/registry/ShardOwnership.ts"
import { Unavailable } from "../../../src/store/postgres/Unavailable.ts"
import { byHand, createQueue, enter, layerJournal, queue, queueId } from "../engineFixture.ts"
import { answered, messages } from "./recorded/messages.ts"

interface Recorded {
  readonly name: string
  readonly bytes: string
}

const folder = new URL("recorded/", import.meta.url)
const files = readdirSync(folder).filter((name) => name.startsWith("protocol"))
const read = (file: string): ReadonlyArray<Recorded> =>
  readFileSync(new URL(file, folder), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

/** A node's answers to questions about its mechanisms, among them one queue. */
const aNode = Effect.gen(function* () {
  const registry = yield* Registry.make()
  const engine = Engine.make("here", registry, 0)
  yield* createQueue(1, byHand)
  return (question: unknown) =>
    Effect.map(answerQuestion({ engine, registry, ownership: ownsAll }, question as AddressedQuestion), (answer) =>
      decode<WireAnswer>(encode(answer))
    )
})

describe("messages that a node of an earlier release sends", () => {
  for (const file of files) {
    for (const { name, bytes } of read(file)) {
      it(`are understood: ${file}, ${name}`, () => {
        const message = messages.find((message) => message.name === name)!
        const value = message.decode(Buffer.from(bytes, "base64"))
        assert.deepStrictEqual(value, message.value)
        const [question, expected] = answered.get(name) ?? []
        if (question === undefined) return
        const answer = answerFromWire(question, (value as WireReply).answers[0]![1])
        assert.strictEqual(Result.isSuccess(answer), Result.isSuccess(expected!))
        if (Result.isSuccess(answer)) assert(Equal.equals(answer.success, Result.getOrThrow(expected!)))
      })
    }
  }

  it("are recorded for every protocol that this release speaks", () => {
    const [min, max] = release.protocol
    const spoken = Array.from({ length: max - min + 1 }, (_, index) => `protocol${min + index}.jsonl`)
    assert.includeMembers(files, spoken)
  })
})

describe("messages that a node of a later release sends", () => {
  it.effect("are answered where only a field is unknown", () =>
    Effect.gen(function* () {
      const ask = yield* aNode
      const question = {
        method: "send",
        mechanism: { ...queue(), since: 2 },
        command: { ...enter(1), mood: "calm" },
        hint: 3
      }
      const [kind, view] = yield* ask({ id: queueId(1), question, priority: 1 })
      assert.strictEqual(kind, "yes")
      assert.deepInclude(view as object, { status: "QUEUED", position: 1 })
    }).pipe(Effect.provide(layerJournal))
  )

  it.effect("are answered as unavailable where the question itself is unknown", () =>
    Effect.gen(function* () {
      const ask = yield* aNode
      const [kind, refusal] = yield* ask({ id: queueId(1), question: { method: "foresee", mechanism: queue() } })
      assert.strictEqual(kind, "no")
      assert.deepStrictEqual(refusal, { _tag: "Unavailable", cause: "an unknown question: foresee" })
    }).pipe(Effect.provide(layerJournal))
  )

  it("count as unavailable where the answer is of an unknown kind", () => {
    const answer = answerFromWire({ method: "start" }, ["perhaps", 1] as unknown as WireAnswer)
    assert(Result.isFailure(answer) && answer.failure instanceof Unavailable)
  })
})
