import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { recordSchema } from "../../../src/domain/values/Record.ts"

describe("the schema of a record", () => {
  it("has the fields of the kind between those that every kind has", () => {
    assert.deepStrictEqual(Object.keys(recordSchema("Thing", { name: Schema.String }).fields), [
      "id",
      "organizationId",
      "name",
      "createdAt",
      "createdBy",
      "updatedAt",
      "updatedBy",
      "archived"
    ])
  })
})
