/**
 * Simulated raffles. A failure names its seed; `SIMULATION_SEED=<seed>` plays that raffle alone, the same way again.
 * `npm run prove -- simulation` plays 300.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { play } from "./Raffle.ts"

const alone = process.env["SIMULATION_SEED"]
const count = Number(process.env["SIMULATION_RAFFLES"] ?? 40)
const seeds = alone === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(alone)]

const playSeed = (seed: number) => Effect.runPromise(play(seed))

describe("a simulated raffle with crashes and failing appends", () => {
  it("keeps every promise for every seed", async () => {
    const total = { events: 0, wins: 0, crashes: 0, failures: 0, drawn: 0 }
    for (const seed of seeds) {
      const { violations, isDrawn, ...counts } = await playSeed(seed)
      assert.deepStrictEqual(violations, [], `SIMULATION_SEED=${seed} plays this raffle again`)
      for (const name of Object.keys(counts) as Array<keyof typeof counts>) total[name] += counts[name]
      if (isDrawn) total.drawn++
    }
    if (alone !== undefined) return
    assert.isAbove(total.drawn, count / 2)
    assert.isAbove(total.wins, 3 * count)
    assert.isAbove(total.crashes, count)
    assert.isAbove(total.failures, count / 2)
  })

  it("is the same raffle again for the same seed", async () => {
    const seed = seeds[seeds.length - 1]!
    assert.deepStrictEqual(await playSeed(seed), await playSeed(seed))
  })
})
