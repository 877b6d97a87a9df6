/** The seal of stored secrets. */
import { assert, describe, it } from "@effect/vitest"
import { randomBytes } from "node:crypto"
import { fromStored, keyOf, keyringOf, open, seal, toStored } from "../../../src/store/secrets/Sealing.ts"

const key = keyOf(randomBytes(32))
const former = keyOf(randomBytes(32))
const secret = Buffer.from("a secret of any length")

describe("A sealed secret", () => {
  it("is opened with its key and under its name alone", () => {
    const sealed = seal(key, "server_secret:cursors", secret)
    assert.deepStrictEqual(Buffer.from(open(key, "server_secret:cursors", sealed)!), secret)
    assert.isUndefined(open(former, "server_secret:cursors", sealed))
    assert.isUndefined(open(key, "server_secret:nodes", sealed))
    assert.isUndefined(open(key, "server_secret:cursors", sealed.subarray(1)))
    assert.isUndefined(open(key, "server_secret:cursors", Buffer.alloc(3)))
    for (let index = 0; index < sealed.length; index++) {
      const altered = Buffer.from(sealed)
      altered[index]! ^= 1
      assert.isUndefined(open(key, "server_secret:cursors", altered))
    }
  })

  it("looks different each time, and contains nothing of the secret", () => {
    const [one, two] = [seal(key, "a", secret), seal(key, "a", secret)]
    assert.notDeepEqual(one, two)
    assert.isFalse(Buffer.from(one).includes(secret.subarray(0, 4)))
  })

  it("of a former key is readable while that key is in the keyring", () => {
    const stored = toStored(keyringOf([former]), "a", secret)
    assert.strictEqual(stored.sealedBy, former.id)
    assert.deepStrictEqual(Buffer.from(fromStored(keyringOf([key, former]), "a", stored)!), secret)
    assert.isUndefined(fromStored(keyringOf([key]), "a", stored))
  })

  it("is the secret itself without a key", () => {
    const stored = toStored(keyringOf([]), "a", secret)
    assert.deepStrictEqual(stored, { bytes: secret, sealedBy: null })
    assert.strictEqual(fromStored(keyringOf([key]), "a", stored), secret)
  })
})
