import { assert, describe, it } from "@effect/vitest"
import { webhookProof } from "../proofs/webhook/WebhookProof.ts"

const kills = 3

describe("a server that is killed while it delivers webhooks", () => {
  it("delivers each event at least once, each lane in order, with the same id every time", async () => {
    const figures = await webhookProof({ kills, seed: 20_261_122 })
    assert.deepStrictEqual(figures.violations.slice(0, 10), [])
    assert.strictEqual(figures.missing, 0)
    assert.strictEqual(figures.kills, kills)
    assert.isAbove(figures.events, 20)
    assert.isAbove(figures.refused, 0)
  })
})
