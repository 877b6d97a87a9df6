/** What the report of a rehearsal says about drops with one mistake each, and about one without. */
import { assert, describe, it } from "@effect/vitest"
import { codes } from "../../../src/domain/rehearsal/Finding.ts"
import { mistakes, right } from "../proofs/rehearsal/drops.ts"
import { faultsOf, Stage } from "../proofs/rehearsal/Stage.ts"

/** Every fifth. `npm run prove -- rehearsal-findings` plays all. */
const some = mistakes.filter((_, index) => index % 5 === 4)

describe("The report of a rehearsal", () => {
  it("names the mistake of each drop and nothing else, and finds nothing in a drop without one", async () => {
    await using stage = await Stage.make()
    assert.deepStrictEqual(await faultsOf(stage, [right, ...some], 7), [])
  })

  it("is proved with 25 mistakes, some of which only playing shows", () => {
    const checked: ReadonlyArray<string> = codes
    const onlyPlayed = mistakes.filter(({ finding }) => !checked.includes(finding!.code))
    assert.deepStrictEqual([mistakes.length, onlyPlayed.length], [25, 6])
  })
})
