import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Audience, Settings } from "../../../src/domain/consumer/Audience.ts"

describe("an audience", () => {
  it("is set by a name alone", () => {
    const isAccepted = Schema.is(Settings)
    assert.isTrue(isAccepted({ name: "Friends" }))
    const wrong = [{}, { name: "" }, { name: 1 }, { name: "x".repeat(201) }]
    assert.deepStrictEqual(wrong.filter(isAccepted), [])
  })

  it("goes out with its instants as text", () => {
    const id = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"
    const stamps = { createdAt: 0, createdBy: "x", updatedAt: 0, updatedBy: "x", archived: false }
    const friends = { id, organizationId: id, name: "Friends", type: "STATIC", rules: null } as const
    const audience = { ...friends, memberCount: 2, ...stamps }
    const sent = Schema.encodeSync(Audience)({ ...audience, lastRefreshedAt: 1_000 })
    assert.deepInclude(sent, { lastRefreshedAt: "1970-01-01T00:00:01.000Z", memberCount: 2, type: "STATIC" })
    assert.isNull(Schema.encodeSync(Audience)({ ...audience, lastRefreshedAt: null }).lastRefreshedAt)
  })
})
