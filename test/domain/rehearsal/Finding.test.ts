import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { check } from "../../../src/domain/rehearsal/Check.ts"
import { codes, Finding } from "../../../src/domain/rehearsal/Finding.ts"
import { emptyMistakes, surroundingMistakes, termMistakes, timeMistakes, unitMistakes } from "./mistakes.ts"

const mistakes = [...emptyMistakes, ...timeMistakes, ...termMistakes, ...unitMistakes, ...surroundingMistakes]

describe("a finding", () => {
  it("has a prepared drop for every code", () => {
    assert.sameMembers(
      mistakes.map(([, , code]) => code),
      [...codes]
    )
  })

  it("is encoded as the API describes it", () => {
    for (const [, drop] of mistakes) {
      const findings = check(drop)
      assert.deepStrictEqual(Schema.decodeUnknownSync(Schema.Array(Finding))(structuredClone(findings)), findings)
    }
  })
})
