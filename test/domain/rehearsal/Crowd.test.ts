/** The file of a crowd. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { CrowdFile, crowdOf, defaultCrowd } from "../../../src/domain/rehearsal/Crowd.ts"

const decode = Schema.decodeUnknownSync(CrowdFile)

describe("A crowd", () => {
  it("has a default for all that its file leaves out", () => {
    assert.deepStrictEqual(crowdOf(decode({})), defaultCrowd)
    const { arrival, people, patience } = crowdOf(
      decode({ people: 7, arrival: { before: "5 minutes" }, patience: { median: "2 hours", spread: 1.5 } })
    )
    assert.strictEqual(people, 7)
    assert.deepStrictEqual(arrival, { ...defaultCrowd.arrival, before: 300_000 })
    assert.deepStrictEqual(patience, { median: 7_200_000, spread: 1.5 })
  })

  it("has as many people as the flag says", () => assert.strictEqual(crowdOf({ people: 7 }, 9).people, 9))

  for (const [field, file] of [
    ["people", { people: 0 }],
    ["before", { arrival: { before: "soon" } }],
    ["before", { arrival: { before: "1 millis" } }],
    ["noShow", { noShow: 1.5 }],
    ["spread", { checkout: { median: "90 seconds", spread: 0 } }],
    ["shape", { arrival: { shape: "wave" } }]
  ] as const) {
    it(`is refused with a wrong ${field}, by its name`, () => assert.throws(() => decode(file), new RegExp(field)))
  }
})
