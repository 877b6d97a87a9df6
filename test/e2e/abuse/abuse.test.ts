import { assert, describe, it } from "@effect/vitest"
import { attacks } from "./Attacks.ts"
import { abuseProof } from "../proofs/attacks/AbuseProof.ts"

describe("An attack from another address", () => {
  it("leaves honest shoppers and the shop's server all their answers", { timeout: 240_000 }, async () => {
    const { outcomes } = await abuseProof({ millis: 3_000 })
    assert.strictEqual(outcomes.length, attacks.length)
    for (const { attack, failures } of outcomes) assert.deepStrictEqual(failures, [], attack)
  })
})
