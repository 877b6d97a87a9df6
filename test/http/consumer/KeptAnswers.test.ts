import { assert, describe, it } from "@effect/vitest"
import { KeptAnswers } from "../../../src/http/consumer/KeptAnswers.ts"

/** Answers that name their question and basis, and how often each was made. */
const counted = (bytesMax?: number) => {
  const kept = new KeptAnswers<string, string>((answer) => answer.length, bytesMax)
  let made = 0
  const ask = (question: string, basis: string) =>
    kept.of(
      question,
      (known) => known === basis,
      () => {
        made++
        return { basis, answer: `${question} ${basis}` }
      }
    )
  return { kept, ask, made: () => made }
}

describe("Kept answers", () => {
  it("are made once while their basis stays the same", () => {
    const { ask, made } = counted()
    for (let repetition = 0; repetition < 5; repetition++) assert.strictEqual(ask("slots", "1"), "slots 1")
    assert.strictEqual(made(), 1)
  })

  it("are made again at once when it changes, and back", () => {
    const { ask, made } = counted()
    for (const basis of ["1", "2", "2", "1"]) assert.strictEqual(ask("slots", basis), `slots ${basis}`)
    assert.strictEqual(made(), 3)
  })

  it("of many questions take bounded space; the oldest are dropped", () => {
    const { ask, kept, made } = counted(10_500)
    for (let question = 0; question < 1_000; question++) {
      ask(`${question}`, "1")
      assert.isAtMost(kept.bytes, 10_500)
    }
    ask("999", "1")
    assert.strictEqual(made(), 1_000)
    ask("0", "1")
    assert.strictEqual(made(), 1_001)
  })

  it("larger than all the space are not kept", () => {
    const { ask, kept, made } = counted(10)
    ask("slots", "1")
    ask("slots", "1")
    assert.deepStrictEqual([made(), kept.bytes], [2, 0])
  })
})
