import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { jsonLengthMax, Settings } from "../../../src/domain/consumer/Consumer.ts"

const decode = Schema.decodeUnknownSync(Settings)

const refuses = (settings: object) => assert.throws(() => decode({ loyaltyBalance: "0", ...settings }))

describe("A consumer's settings", () => {
  it("contain every known field", () => {
    assert.deepStrictEqual(decode({ loyaltyBalance: "12.5" }), { loyaltyBalance: 1_250_000_000n })
    const settings = { email: "ann@example.com", attributes: { tier: "gold", visits: [1, 2] }, metadata: {} }
    assert.deepStrictEqual(decode({ loyaltyBalance: "0", ...settings }), { loyaltyBalance: 0n, ...settings })
  })

  it("are bounded", () => {
    refuses({ fullName: "" })
    refuses({ fullName: "x".repeat(201) })
    refuses({ externalId: "x".repeat(201) })
    refuses({ externalId: "\u0000" })
    refuses({ loyaltyBalance: "-1" })
    const fitting = { text: "x".repeat(jsonLengthMax - '{"text":""}'.length) }
    assert.deepStrictEqual(decode({ loyaltyBalance: "0", metadata: fitting }).metadata, fitting)
    refuses({ metadata: { text: `${fitting.text}x` } })
    let deep: object = {}
    for (let depth = 0; depth < 20_000; depth++) deep = { deep }
    refuses({ attributes: deep })
  })
})
