import { assert, describe, it } from "@effect/vitest"
import { createHash, createHmac } from "node:crypto"
import { hmacSha256, runningSha256, sha256, sha256OfHex } from "../../../src/domain/values/Digest.ts"

describe("digests", () => {
  it("of the published samples are the published ones (FIPS 180-2)", () => {
    assert.strictEqual(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    assert.strictEqual(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    assert.strictEqual(sha256OfHex("616263"), sha256("abc"))
  })

  it("of a text in pieces are those of the whole, wherever it was cut", () => {
    const piece = "0123456789abcdef,1000000\n"
    for (const count of [0, 1, 163, 164, 1_000]) {
      const running = runningSha256()
      for (let index = 0; index < count; index++) running.add(piece)
      assert.strictEqual(running.digest(), createHash("sha256").update(piece.repeat(count)).digest("hex"))
    }
  })

  it("with a key are those of RFC 2104, as Node makes them, one after the other", () => {
    for (const keyBytes of [1, 20, 32, 64]) {
      const key = Buffer.alloc(keyBytes, 0xa7)
      const digest = hmacSha256(key.toString("hex"), "a beginning, ", 5)
      for (const ending of ["first", "other", "third"]) {
        const expected = createHmac("sha256", key).update(`a beginning, ${ending}`).digest("hex")
        assert.strictEqual(digest(ending), expected)
      }
    }
  })

  it("with a key are the published one (RFC 4231, test case 2)", () => {
    const digest = hmacSha256(Buffer.from("Jefe").toString("hex"), "what do ya want ", 12)
    assert.strictEqual(digest("for nothing?"), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
  })
})
