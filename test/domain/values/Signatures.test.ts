import { assert, describe, it } from "@effect/vitest"
import { createHmac, generateKeyPairSync, sign } from "node:crypto"
import {
  hmacSha1Of,
  hmacSha256Of,
  isP256Key,
  isSameBytes,
  isSignedWithP256
} from "../../../src/domain/values/Signatures.ts"

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

describe("Signatures of requests", () => {
  it("by HMAC are those of RFC 2202 and RFC 4231, whatever the parts", () => {
    for (const parts of [["what do ya want for nothing?"], ["what do ya ", Buffer.from("want for nothing?")]]) {
      assert.strictEqual(hex(hmacSha1Of("Jefe", ...parts)), "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
      assert.strictEqual(
        hex(hmacSha256Of("Jefe", ...parts)),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
      )
    }
  })

  it("are equal only as the same bytes", () => {
    const digest = createHmac("sha256", "a").update("b").digest()
    assert.isTrue(isSameBytes(digest, digest.toString("hex"), "hex"))
    assert.isTrue(isSameBytes(digest, digest.toString("base64"), "base64"))
    for (const text of ["", "00", digest.toString("hex").slice(2), `${digest.toString("hex")}00`, "zz"]) {
      assert.isFalse(isSameBytes(digest, text, "hex"))
    }
  })

  it("by P-256 fit their key and their bytes alone", () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" })
    const key = publicKey.export({ type: "spki", format: "der" }).toString("base64")
    const signature = sign("sha256", Buffer.from("ab"), privateKey).toString("base64")
    assert.isTrue(isSignedWithP256(key, signature, Buffer.from("a"), Buffer.from("b")))
    assert.isFalse(isSignedWithP256(key, signature, Buffer.from("b"), Buffer.from("a")))
    assert.isFalse(isSignedWithP256(key, "", Buffer.from("ab")))
    assert.isFalse(isSignedWithP256("no key", signature, Buffer.from("ab")))
    const other = generateKeyPairSync("ec", { namedCurve: "secp384r1" }).publicKey
    assert.isTrue(isP256Key(key))
    assert.isFalse(isP256Key(other.export({ type: "spki", format: "der" }).toString("base64")))
  })
})
