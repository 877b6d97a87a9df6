/** A rehearsal that a server runs. */
import { assert, describe, it } from "@effect/vitest"
import { peopleMax } from "../../../src/domain/rehearsal/Crowd.ts"
import { authorOf, servedPeopleMax } from "../../../src/domain/rehearsal/Rehearsal.ts"

describe("A rehearsal that a server runs", () => {
  it("has fewer people than the command takes", () => assert.isBelow(servedPeopleMax, peopleMax))

  it("is the author of what it has made", () => assert.strictEqual(authorOf("7"), "rehearsal:7"))
})
