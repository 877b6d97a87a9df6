import { assert, describe, it } from "@effect/vitest"
import { authorOf, mayDo } from "../../../src/domain/organization/Person.ts"

describe("A role", () => {
  it("allows what those below it allow, and nothing more", () => {
    const roles = ["viewer", "operator", "admin"] as const
    const allowed = roles.map((role) => roles.filter((needed) => mayDo(role, needed)))
    assert.deepStrictEqual(allowed, [["viewer"], ["viewer", "operator"], ["viewer", "operator", "admin"]])
  })
})

describe("A person", () => {
  it("is named as an author by its id", () => {
    assert.strictEqual(authorOf("0199"), "operator:0199")
  })
})
