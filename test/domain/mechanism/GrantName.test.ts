import { assert, describe, it } from "@effect/vitest"
import { namedGrant, plainName } from "../../../src/domain/mechanism/GrantName.ts"

const id = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

describe("The name of a grant", () => {
  it("tells the mechanism and the sequence, with a proof or without one", () => {
    for (const name of [plainName(id, 17), `${id}.17.abcdefghijklmnopqrstu_`, `${id}.17.${"-".repeat(22)}`]) {
      assert.deepStrictEqual(namedGrant(name), { mechanismId: id, sequence: 17, name })
    }
  })

  it("has no other spelling", () => {
    for (const text of [undefined, "", id, `${id}.`, `${id}.0`, `${id}.01`, `${id}.1.1`, `${id}.1e3`, ` ${id}.1`]) {
      assert.isUndefined(namedGrant(text))
    }
    for (const proof of ["", "a".repeat(21), "a".repeat(23), `${"a".repeat(21)}=`, `${"a".repeat(22)}.1`]) {
      assert.isUndefined(namedGrant(`${id}.1.${proof}`), proof)
    }
    assert.isUndefined(namedGrant(`${id}.${"9".repeat(16)}`))
    assert.isUndefined(namedGrant(`${id.toUpperCase()}.1`))
  })
})
