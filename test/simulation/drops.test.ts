/**
 * Simulated drops. A failure names its seed; `SIMULATION_SEED=<seed>` plays that drop alone, the same way again.
 * `npm run prove -- simulation` plays 1,000.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { play } from "./Drop.ts"

const alone = process.env["SIMULATION_SEED"]
const count = Number(process.env["SIMULATION_DROPS"] ?? 100)
const seeds = alone === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(alone)]

const playSeed = (seed: number) => Effect.runPromise(play(seed))

describe("a simulated drop with crashes and failing appends", () => {
  it("keeps every promise for every seed", async () => {
    const total = { events: 0, grants: 0, acknowledged: 0, crashes: 0, failures: 0 }
    for (const seed of seeds) {
      const outcome = await playSeed(seed)
      assert.deepStrictEqual(outcome.violations, [], `SIMULATION_SEED=${seed} plays this drop again`)
      for (const name of Object.keys(total) as Array<keyof typeof total>) total[name] += outcome[name]
    }
    if (alone !== undefined) return
    assert.isAbove(total.grants, 5 * count)
    assert.isAbove(total.crashes, count)
    assert.isAbove(total.failures, count)
  })

  it("is the same drop again for the same seed", async () => {
    const seed = seeds[seeds.length - 1]!
    assert.deepStrictEqual(await playSeed(seed), await playSeed(seed))
  })
})
