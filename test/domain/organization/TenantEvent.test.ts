import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { TenantEventType, tenantEventTypes } from "../../../src/domain/organization/TenantEvent.ts"

const isType = (text: string) => Result.isSuccess(Schema.decodeUnknownResult(TenantEventType)(text))

describe("An event of a tenant", () => {
  it("names a kind of record and its event", () => {
    for (const type of ["experience.created", "consumer.archived", "api_key.revoked", "webhook.secret_rotated"]) {
      assert.isTrue(isType(type), type)
    }
    for (const type of ["consumer.deleted", "api_key.archived", "experience"]) assert.isFalse(isType(type), type)
  })

  it("has a type of its own", () => {
    assert.strictEqual(new Set(tenantEventTypes).size, tenantEventTypes.length)
  })
})
