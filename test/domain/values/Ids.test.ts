import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { createdAtOf, Id, Mode, sameTenant } from "../../../src/domain/values/Ids.ts"

const id = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

describe("an identifier", () => {
  it("tells when it was made, if it is a UUIDv7", () => {
    assert.strictEqual(createdAtOf("0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"), 0x0199b2a17c3e)
    assert.strictEqual(createdAtOf("0199b2a1-7c3e-4d7a-b0f2-0f1e2d3c4b5a"), 0)
    assert.strictEqual(createdAtOf(""), 0)
  })

  it("is any UUID, and lower case inside", () => {
    assert.strictEqual(Schema.decodeUnknownSync(Id)(id), id)
    assert.strictEqual(Schema.decodeUnknownSync(Id)(id.toUpperCase()), id)
    assert.strictEqual(Schema.decodeUnknownSync(Id)("00000000-0000-0000-0000-000000000000").length, 36)
  })

  it("is refused if it is anything else", () => {
    const inputs = [
      "",
      "1",
      id.slice(1),
      `${id}0`,
      `{${id}}`,
      ` ${id}`,
      `${id}\n`,
      id.replaceAll("-", ""),
      id.replace("a", "g"),
      7,
      null
    ]
    assert.deepStrictEqual(inputs.filter(Schema.is(Schema.toEncoded(Id))), [])
  })
})

describe("a tenant", () => {
  it("is the same only for the same organization in the same mode", () => {
    const tenant = { organizationId: id, mode: "live" } as const
    assert.isTrue(sameTenant(tenant, { ...tenant }))
    assert.isFalse(sameTenant(tenant, { ...tenant, mode: "test" }))
    assert.isFalse(sameTenant(tenant, { ...tenant, organizationId: id.replace("5a", "5b") }))
  })

  it("has one of two modes", () => {
    assert.deepStrictEqual(["live", "test", "LIVE", "", null].filter(Schema.is(Mode)), ["live", "test"])
  })
})
