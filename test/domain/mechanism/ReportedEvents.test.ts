import { assert, describe, it } from "@effect/vitest"
import { declarations, grantingKinds, kinds } from "../../../src/domain/mechanism/Mechanism.ts"
import { denied, reportedOfAll, reportedOfGrants } from "../../../src/domain/mechanism/ReportedEvents.ts"

describe("The events that webhooks report", () => {
  for (const kind of kinds) {
    it(`have the creation, the closing and the end: ${kind}`, () => {
      assert.deepInclude(declarations[kind].reported, reportedOfAll)
    })
  }

  for (const kind of grantingKinds) {
    it(`have each grant, its completion and its denial: ${kind}`, () => {
      const { grants, reported } = declarations[kind]
      assert.deepInclude(reported, { Completed: reportedOfGrants.Completed, Denied: denied })
      for (const event of grants) {
        const row = (reported as { readonly [event: string]: ReadonlyArray<{ readonly type: string }> })[event]!
        assert.include(
          row.map(({ type }) => type),
          "distribution.admitted"
        )
      }
    })
  }
})
