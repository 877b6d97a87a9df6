/** S2 in short: a few generated requests of each sort for every operation. `npm run prove -- contract` sends many. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { proofs, services } from "./contractProof.ts"

const requests = 2
const { figures, operations } = proofs({ requests, seed: 1 })

describe("Generated requests", () => {
  layer(services, { excludeTestServices: true })((it) => {
    for (const { name, prove } of operations) {
      it.effect(`${name} responds as declared and refuses invalid requests`, () =>
        Effect.gen(function* () {
          const before = figures.violations.length
          yield* prove
          assert.deepStrictEqual(figures.violations.slice(before), [])
        })
      )
    }

    it.effect("cover every sort, and most operations have invalid requests", () =>
      Effect.sync(() => {
        assert.strictEqual(figures.count("valid"), operations.length * requests)
        assert.strictEqual(figures.count("mutated"), operations.length * requests)
        assert.strictEqual(figures.count("invalid"), (operations.length - figures.unbreakable.size) * requests)
        assert.isBelow(figures.unbreakable.size, operations.length / 20)
        assert.isAbove(figures.count("valid", 200), operations.length * (requests / 2))
      })
    )
  })
})
