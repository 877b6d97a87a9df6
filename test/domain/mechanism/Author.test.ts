import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { authored, by } from "../../../src/domain/mechanism/Author.ts"
import { deciders } from "../../../src/domain/mechanism/Mechanism.ts"

const read: (schema: Schema.Codec<unknown, unknown>) => (event: unknown) => unknown = Schema.decodeUnknownSync

describe("the author of an event", () => {
  it("is absent from an event without one", () => {
    assert.deepStrictEqual(authored("api_key:1"), { by: "api_key:1" })
    assert.deepStrictEqual(authored(undefined), {})
    assert.isTrue(Schema.is(Schema.Struct({ by }))({}))
  })

  it("may be absent, or be the value from before keys were recorded", () => {
    const at = 1_795_284_000_000
    const consumerId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"
    for (const [kind, event] of [
      ["queue", { _tag: "Granted", at, consumerId, by: "operator" }],
      ["queue", { _tag: "Denied", at, consumerId, reason: "ORDER_LIMIT_EXCEEDED" }],
      ["draw", { _tag: "Denied", at, consumerId, reason: "ORDER_LIMIT_EXCEEDED" }],
      ["auction", { _tag: "Denied", at, consumerId, reason: "ORDER_LIMIT_EXCEEDED" }],
      ["timed_release", { _tag: "Denied", at, consumerId, reason: "ORDER_LIMIT_EXCEEDED" }],
      ["appointment", { _tag: "CheckedIn", at, consumerId }],
      ["appointment", { _tag: "Completed", at, consumerId, by: "operator" }],
      ["appointment", { _tag: "Missed", at, consumerId, by: "operator" }],
      ["waitlist", { _tag: "Left", at, consumerId }]
    ] as const) {
      const decoded = read(deciders[kind].event)(event)
      assert.deepStrictEqual<unknown>(decoded, event)
    }
  })
})
