import { assert, describe, it } from "@effect/vitest"
import { isolated } from "../../../src/domain/values/Direction.ts"

describe("A name in a text", () => {
  it("is isolated if letters of both directions could meet", () => {
    for (const [name, around] of [
      ["מכירה 2026!", "It is your turn:"],
      ["Spring Drop (2026)!", "حان دورك:"],
      ["عرض (Drop)", ""],
      ["ܐܪܡܝܐ", "x"],
      ["ދިވެހި", "x"],
      ["𞤀𞤣𞤤𞤢𞤥", "x"],
      ["ﷺ", "x"]
    ] as const) {
      assert.strictEqual(isolated(name, around), `\u2068${name}\u2069`)
    }
  })

  it("stays as it is without a letter from right to left, and without a letter", () => {
    for (const [name, around] of [
      ["Spring Drop!", "It is your turn:"],
      ["Ünïcödé 試着 Привет", "नमस्ते"],
      ["5", "متبقٍّ:"],
      ["٥", "متبقٍّ:"],
      ["", "متبقٍّ:"]
    ] as const) {
      assert.strictEqual(isolated(name, around), name)
    }
  })

  it("cannot end its isolation, or turn the text behind it", () => {
    for (const name of ["א\u2069ב", "\u202eאב", "א\u2068ב", "א\u2069\u2068ב", "\u2067אב", "אב\u202c\u202d"]) {
      assert.strictEqual(isolated(name, "x"), "\u2068אב\u2069")
    }
    // A text with isolated parts keeps them.
    assert.strictEqual(isolated("Deny \u2068אב\u2069?", "x"), "\u2068Deny \u2068אב\u2069?\u2069")
  })
})
