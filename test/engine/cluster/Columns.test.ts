import { assert, describe, it } from "@effect/vitest"
import { deserialize, serialize } from "node:v8"
import { fromColumn, toColumn } from "../../../src/engine/cluster/Columns.ts"
import { seededRandom } from "../../../src/domain/values/SeededRandom.ts"

const travelled = (values: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  fromColumn(deserialize(serialize(toColumn(values))), values.length)

/** Returns random plain data: objects of a few shapes, nested, with other values between them. */
const valueOf = (random: () => number, depth: number): unknown => {
  const leaves = [
    random() % 3,
    "text",
    `text ${random() % 4}`,
    undefined,
    null,
    -0,
    Number.NaN,
    [1, { a: 2 }],
    new Date(5)
  ]
  if (depth === 0 || random() % 3 === 0) return leaves[random() % leaves.length]
  const names = [["a"], ["a", "b"], ["b", "a"], [], ["c", "0"]][random() % 5]!
  return Object.fromEntries(names.map((name) => [name, valueOf(random, depth - 1)]))
}

describe("values as columns", () => {
  it("are the same values afterwards, whatever their shapes", () => {
    for (let seed = 0; seed < 200; seed++) {
      const random = seededRandom(seed.toString(16).padStart(32, "0"))
      const values = Array.from({ length: random() % 40 }, () => valueOf(random, 3))
      assert.deepStrictEqual(travelled(values), values)
    }
  })

  it("of one shape travel as one array for each field that differs, and as one value for each other", () => {
    const entries = Array.from({ length: 3 }, (_, index) => ({
      method: "send",
      mechanism: { kind: "queue", id: "q" },
      command: { consumerId: `c${index}`, loyaltyScore: 0 }
    }))
    assert.deepStrictEqual(toColumn(entries), {
      names: ["method", "mechanism", "command"],
      fields: [
        { same: "send" },
        { same: { kind: "queue", id: "q" } },
        { names: ["consumerId", "loyaltyScore"], fields: [{ each: ["c0", "c1", "c2"] }, { same: 0 }] }
      ]
    })
  })

  it("of several shapes travel by shape, in their order", () => {
    const values = [{ a: 1 }, { b: 1 }, { a: 2 }, "text", { b: 2 }]
    assert.deepStrictEqual(toColumn(values), {
      by: Uint8Array.of(0, 1, 0, 2, 1),
      parts: [
        { names: ["a"], fields: [{ each: [1, 2] }] },
        { names: ["b"], fields: [{ each: [1, 2] }] },
        { same: "text" }
      ]
    })
    assert.deepStrictEqual(travelled(values), values)
  })

  it("of very many shapes travel as they are", () => {
    const values = Array.from({ length: 40 }, (_, index) => ({ [`field ${index}`]: index }))
    assert.deepStrictEqual(toColumn(values), { each: values })
  })
})
