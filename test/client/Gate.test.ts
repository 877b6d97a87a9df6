/** The decision of a gate in TypeScript, by the vectors that gates in every language pass. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { decide, type GateRecord, importKeys, settle } from "../../src/client/gate.ts"
import type { KeySet } from "../../src/client/grantKeys.ts"
import { vectorFile } from "./gates/vectorFile.ts"
import type { Vector } from "./gates/vectorParts.ts"

interface Vectors {
  readonly now: number
  readonly newState: string
  readonly keys: { readonly published: KeySet; readonly former: KeySet }
  readonly gates: { readonly [name: string]: GateRecord }
  readonly cases: ReadonlyArray<Vector>
}

const text = readFileSync(new URL("../../src/gates/vectors.json", import.meta.url), "utf8")
const { now, newState, keys, gates, cases } = JSON.parse(text) as Vectors

describe("a gate", () => {
  it("has its vectors in a file that the script wrote", () => {
    assert.strictEqual(text, vectorFile)
    assert.isAtLeast(cases.length, 120)
    assert.strictEqual(new Set(cases.map(({ name }) => name)).size, cases.length)
  })

  it.each(cases)("$name", async (vector) => {
    const knowledge = {
      gate: gates[vector.gate]!,
      keys: await importKeys(keys[vector.keys ?? "published"]),
      ended: new Set(vector.ended),
      isReachable: vector.isReachable ?? true,
      now: vector.now ?? now,
      newState
    }
    const decision = vector.answer
      ? await settle(knowledge, vector.request, vector.answer)
      : await decide(knowledge, vector.request)
    assert.deepStrictEqual(decision, vector.expected)
  })
})
