import { assert, it } from "@effect/vitest"
import { check } from "../../../src/domain/rehearsal/Check.ts"
import type { Mistake } from "./mistakes.ts"

/** Tests that the check of each drop names its mistake, and nothing else. */
export const areNamed = (mistakes: ReadonlyArray<Mistake>): void => {
  for (const [what, drop, code, words] of mistakes) {
    it(`names one mistake: ${what}`, () => {
      const findings = check(drop)
      assert.deepStrictEqual(
        findings.map((finding) => finding.code),
        [code]
      )
      assert.include(findings[0]!.message, words)
    })
  }
}
