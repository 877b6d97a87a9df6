import { assert, describe, it } from "@effect/vitest"
import { makeKept } from "../../../src/http/server/ServedFiles.ts"

const bytes = (length: number) => new Uint8Array(length)

describe("The files that a listener keeps", () => {
  it("are those that were asked for last, within their bytes", () => {
    const kept = makeKept(100)
    for (const id of ["a", "b", "c"]) kept.set(id, bytes(40), 0)
    assert.isUndefined(kept.get("a", 0))
    assert.deepStrictEqual(kept.get("b", 0), { bytes: bytes(40), isFresh: true })
    kept.set("b", bytes(50), 1)
    kept.set("d", bytes(50), 1)
    assert.deepStrictEqual(
      ["b", "c", "d"].map((id) => kept.get(id, 1)?.bytes.length),
      [50, undefined, 50]
    )
    kept.set("e", bytes(101), 1)
    for (const id of ["b", "d", "e"]) assert.isUndefined(kept.get(id, 1), id)
  })

  it("are read again after five minutes, and dropped if they are gone", () => {
    const kept = makeKept(100)
    kept.set("a", bytes(1), 1_000)
    assert.isTrue(kept.get("a", 300_999)?.isFresh)
    assert.isFalse(kept.get("a", 301_000)?.isFresh)
    kept.set("a", undefined, 301_000)
    assert.isUndefined(kept.get("a", 301_000))
  })
})
