import { assert, describe, it } from "@effect/vitest"
import { refusedWords } from "../../../src/domain/rehearsal/Refused.ts"

describe("The reason for a refusal", () => {
  it("is in words, or the code where it is unknown", () => {
    assert.deepStrictEqual(["SOLD_OUT", "423", "TEAPOT"].map(refusedWords), [
      "nothing was left",
      "it was not open yet",
      "of TEAPOT"
    ])
  })
})
