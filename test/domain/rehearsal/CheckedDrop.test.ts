import { assert, describe, it } from "@effect/vitest"
import { collectsInterest, inWords, mechanismsOf, number } from "../../../src/domain/rehearsal/CheckedDrop.ts"
import { all, at, right } from "./rightDrop.ts"

describe("the words of a check", () => {
  it("name an instant by its local day and time", () => {
    assert.strictEqual(inWords(at("2026-11-27T17:00:00Z"), "Europe/Berlin"), "Friday, 2026-11-27 18:00 (Europe/Berlin)")
    assert.strictEqual(inWords(at("2026-11-27T17:00:00Z"), "Asia/Tokyo"), "Saturday, 2026-11-28 02:00 (Asia/Tokyo)")
    assert.strictEqual(inWords(at("1969-12-31T23:00:00Z"), "UTC"), "Wednesday, 1969-12-31 23:00 (UTC)")
  })

  it("write numbers with separators", () => {
    assert.deepStrictEqual([number(999), number(1_000), number(12_500_000)], ["999", "1,000", "12,500,000"])
  })

  it("tell mechanisms that only collect interest from the others", () => {
    assert.deepStrictEqual(
      mechanismsOf(right)
        .filter(collectsInterest)
        .map(({ kind }) => kind),
      ["waitlist"]
    )
    assert.lengthOf(all, 7)
  })
})
