/** Tables as text. */
import { assert, describe, it } from "@effect/vitest"
import { columns } from "../../../src/domain/values/Columns.ts"

describe("columns", () => {
  it("are as wide as their longest cell, and end no line with a space", () => {
    assert.strictEqual(
      columns([
        ["name", "units"],
        ["a long name", "5"],
        ["", ""]
      ]),
      "name         units\na long name  5\n"
    )
  })
})
