import { assert, describe, it } from "@effect/vitest"
import { generateKeyPairSync, sign } from "node:crypto"
import { importKeys } from "../../../src/cli/gate/Keys.ts"
import { isSignedBy } from "../../../src/client/grantKeys.ts"
import { partsOf } from "../../../src/client/grantRules.ts"

const aKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const token = (text: string) => {
    const signed = `e30.${Buffer.from(text).toString("base64url")}`
    return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`
  }
  const { x = "" } = publicKey.export({ format: "jwk" })
  return { token, published: { kty: "OKP", crv: "Ed25519", x } }
}

const isSigned = (keys: ReturnType<typeof importKeys>, token: string) => isSignedBy(keys, partsOf(token)!)

describe("The keys of usher gate", () => {
  it("take what a key has signed, the first time and again", async () => {
    const { token, published } = aKey()
    const keys = importKeys({ keys: [aKey().published, published] })
    const grant = token("one")
    for (let time = 0; time < 3; time++) assert.isTrue(await isSigned(keys, grant))
  })

  it("take nothing else with a signature that was right, nor the same text with another signature", async () => {
    const { token, published } = aKey()
    const keys = importKeys({ keys: [published] })
    const [one, other] = [token("one"), token("other")]
    assert.isTrue(await isSigned(keys, one))
    assert.isTrue(await isSigned(keys, other))
    const [head, payload, signature] = one.split(".")
    const [, otherPayload, otherSignature] = other.split(".")
    assert.isFalse(await isSigned(keys, [head, otherPayload, signature].join(".")))
    assert.isFalse(await isSigned(keys, [head, payload, otherSignature].join(".")))
  })

  it("stay the same objects while they are published, and are worth nothing afterwards", async () => {
    const [former, current] = [aKey(), aKey()]
    const before = importKeys({ keys: [former.published] })
    const grant = former.token("one")
    assert.isTrue(await isSigned(before, grant))
    const both = importKeys({ keys: [current.published, former.published] }, before)
    assert.strictEqual(both[1], before[0])
    assert.isFalse(await isSigned(importKeys({ keys: [current.published] }, both), grant))
  })

  it("are of Ed25519 alone", () => {
    assert.deepStrictEqual(importKeys({ keys: [{ kty: "EC", crv: "P-256", x: "AAAA" }] }), [])
  })
})
