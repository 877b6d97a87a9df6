import { assert, describe, it } from "@effect/vitest"
import {
  type Extend,
  extended,
  extendedAtOnce,
  extendGrants,
  withLaterClosing
} from "../../../../src/domain/mechanism/extension/Extension.ts"

const extend = (more: Partial<Extend>): Extend => ({ _tag: "Extend", to: { seconds: 2 }, by: "admin", ...more })

describe("An extension", () => {
  it("moves by seconds, or to an instant, and never back", () => {
    assert.strictEqual(extended({ seconds: 2 }, 500), 2_500)
    assert.strictEqual(extended({ until: 900 }, 500), 900)
    assert.strictEqual(extended({ until: 100 }, 500), 500)
  })

  it("takes a part of the grants in the order of their consumers, and the next part after the last", () => {
    const count = extendedAtOnce + 3
    const grants = Array.from({ length: count }, (_, index) => ({
      consumerId: `${count - index}`.padStart(6, "0"),
      expiresAt: index
    }))
    const first = extendGrants(extend({}), grants, 7)
    assert.lengthOf(first, extendedAtOnce)
    const last = first[first.length - 1]!.consumerId
    const rest = extendGrants(extend({ after: last }), grants, 7)
    assert.lengthOf(rest, 3)
    const moved = new Map([...first, ...rest].map(({ consumerId, expiresAt }) => [consumerId, expiresAt]))
    for (const { consumerId, expiresAt } of grants) assert.strictEqual(moved.get(consumerId), expiresAt + 2_000)
    assert.deepStrictEqual(extendGrants(extend({ to: { until: 0 } }), grants, 7), [])
  })

  it("moves a closing by the difference to the one in force, with its window and the dependent times", () => {
    const configured = { closeAt: 5_000, drawAt: 6_000, experienceWindow: { revision: 2, closeAt: 4_000 } }
    const drawing = ({ drawAt }: typeof configured, millis: number) => ({ drawAt: drawAt + millis })
    const moved = { closeAt: 6_000, drawAt: 7_000, experienceWindow: { revision: 2, closeAt: 5_000 } }
    assert.deepStrictEqual(withLaterClosing(configured, 4_000, { until: 5_000 }, drawing), moved)
    assert.isUndefined(withLaterClosing(configured, 4_000, { until: 4_000 }, drawing))
    assert.isUndefined(withLaterClosing({}, undefined, { seconds: 1 }))
  })
})
