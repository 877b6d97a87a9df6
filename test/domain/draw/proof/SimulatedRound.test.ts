import { assert, describe, it } from "@effect/vitest"
import { verifyBeacon } from "../../../../src/beacon/Quicknet.ts"
import { simulatedRound } from "../../../../src/domain/draw/proof/SimulatedRound.ts"
import { sha256OfHex } from "../../../../src/domain/values/Digest.ts"

describe("A simulated round", () => {
  it("follows from its seed and its number, and has the form of a real one", () => {
    const round = simulatedRound("seven", 1_000)
    assert.deepStrictEqual(simulatedRound("seven", 1_000), round)
    assert.match(round.signature, /^[0-9a-f]{96}$/)
    assert.strictEqual(round.randomness, sha256OfHex(round.signature))
    const others = [simulatedRound("eight", 1_000), simulatedRound("seven", 1_001)]
    assert.lengthOf(new Set([round, ...others].map(({ randomness }) => randomness)), 3)
  })

  it("is not one that the network has signed", () => {
    assert.isFalse(verifyBeacon({ round: 1_000, ...simulatedRound("seven", 1_000) }))
  })
})
