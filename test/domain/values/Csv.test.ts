/** CSV: cells with commas, quotes and line breaks, and texts that a spreadsheet would run. */
import { assert, describe, it } from "@effect/vitest"
import { csvRow } from "../../../src/domain/values/Csv.ts"

describe("A row of CSV", () => {
  it("quotes what would end a cell, and leaves the rest as it is", () => {
    assert.strictEqual(csvRow(["a", 'b "c", d', "e\nf", 7, null, undefined]), 'a,"b ""c"", d","e\nf",7,,\r\n')
  })

  it("makes text of what a spreadsheet would take for a formula", () => {
    for (const formula of ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"]) {
      assert.isTrue(csvRow([formula]).startsWith("'"), formula)
    }
    assert.strictEqual(csvRow([-1, "a=1"]), "-1,a=1\r\n")
  })
})
