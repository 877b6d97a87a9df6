import { assert, describe, it } from "@effect/vitest"
import { namedGrant } from "../../../src/domain/receiver/Meaning.ts"
import { grantName } from "../../../src/auth/tokens/Grants.ts"

const id = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

describe("The reference of a checkout", () => {
  it("names a grant as its token does", () => {
    assert.deepStrictEqual(namedGrant(grantName(id, 17)), { mechanismId: id, sequence: 17 })
  })

  it("names none in another spelling", () => {
    for (const text of [undefined, "", id, `${id}.`, `${id}.0`, `${id}.01`, `${id}.1.1`, `${id}.1e3`, ` ${id}.1`]) {
      assert.isUndefined(namedGrant(text))
    }
    assert.isUndefined(namedGrant(`${id}.${"9".repeat(16)}`))
  })
})
