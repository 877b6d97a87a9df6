/** Verifies rounds that the network has published. */
import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { chainHash, publicKey } from "../../src/beacon/Network.ts"
import { verifyBeacon } from "../../src/beacon/Quicknet.ts"
import { published } from "./relay.ts"

const [one, thousand] = published as [(typeof published)[number], (typeof published)[number]]
const randomnessOf = (signature: string) => createHash("sha256").update(Buffer.from(signature, "hex")).digest("hex")
const signedAs = (signature: string) => ({ ...one, signature, randomness: randomnessOf(signature) })
const flipped = (hex: string, bit: number) =>
  (BigInt(`0x${hex}`) ^ (1n << BigInt(bit))).toString(16).padStart(hex.length, "0")

describe("A round of the beacon", () => {
  for (const round of published) {
    it(`${round.round} is valid as published`, () => assert.isTrue(verifyBeacon(round)))
  }

  it("is invalid with the signature of another round", () => {
    assert.isFalse(verifyBeacon({ ...thousand, round: 1 }))
    assert.isFalse(verifyBeacon({ ...one, round: 2 }))
  })

  it("is invalid with randomness that does not match its signature", () => {
    assert.isFalse(verifyBeacon({ ...one, randomness: thousand.randomness }))
    assert.isFalse(verifyBeacon({ ...one, randomness: one.randomness.toUpperCase() }))
    assert.isFalse(verifyBeacon({ ...one, randomness: "" }))
  })

  it("is invalid when a single bit of its signature differs", () => {
    for (const bit of [0, 1, 200, 380, 381, 382, 383]) {
      assert.isFalse(verifyBeacon(signedAs(flipped(one.signature, bit))), `bit ${bit}`)
    }
  })

  it("is invalid with a malformed signature", () => {
    const infinity = `c0${"00".repeat(47)}`
    for (const signature of ["", "00".repeat(48), "ff".repeat(48), infinity, one.signature.slice(2), "zz".repeat(48)]) {
      assert.isFalse(verifyBeacon(signedAs(signature)), signature)
    }
    assert.isFalse(verifyBeacon({ ...one, signature: one.signature.toUpperCase() }))
  })

  it("is invalid with a number that no round has", () => {
    for (const round of [0, -1, 1.5, Number.NaN, Infinity, 2 ** 53]) assert.isFalse(verifyBeacon({ ...one, round }))
  })
})

it("The public key belongs to the chain: the digest of it and the network's other constants is the chain's hash", () => {
  const period = Buffer.alloc(4)
  period.writeUInt32BE(3)
  const genesisTime = Buffer.alloc(8)
  genesisTime.writeBigInt64BE(1_692_803_367n)
  const genesisSeed = Buffer.from("f477d5c89f21a17c863a7f937c6a6d15859414d2be09cd448d4279af331c5d3e", "hex")
  const parts = [period, genesisTime, Buffer.from(publicKey, "hex"), genesisSeed, Buffer.from("quicknet")]
  assert.strictEqual(createHash("sha256").update(Buffer.concat(parts)).digest("hex"), chainHash)
})
