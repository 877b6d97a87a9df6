/** Chance that follows from the seed of a test clock. */
import { assert, describe, it } from "@effect/vitest"
import { createdAtOf, isUuid } from "../../../src/domain/values/Ids.ts"
import { seededEntropy, seededId } from "../../../src/store/testClock/SeededChance.ts"

const clock = (seed: string) => ({ organizationId: "", frozenAt: 0, seed, webhookIds: [] })
const [one, two] = [1_764_000_000_000, 1_764_000_000_001]

describe("With a test clock", () => {
  it("the id of a mechanism keeps its own instant, and the rest follows from seed and key", () => {
    const id = seededId(clock("7"), one, "queue")
    assert.isTrue(isUuid(id))
    assert.strictEqual(createdAtOf(id), one)
    assert.strictEqual(seededId(clock("7"), two, "queue").slice(15), id.slice(15))
    assert.notStrictEqual(seededId(clock("8"), one, "queue"), id)
    assert.notStrictEqual(seededId(clock("7"), one, "draw"), id)
  })

  it("a mechanism's chance follows from its seed, its place in the journal and the call", () => {
    const id = seededId(clock("7"), one, "queue")
    const again = seededId(clock("7"), two, "queue")
    const chance = seededEntropy(clock("7"), id, 4, 0)
    assert.match(chance, /^[0-9a-f]{32}$/)
    assert.strictEqual(seededEntropy(clock("7"), again, 4, 0), chance)
    for (const other of [
      seededEntropy(clock("8"), id, 4, 0),
      seededEntropy(clock("7"), id, 5, 0),
      seededEntropy(clock("7"), id, 4, 1)
    ]) {
      assert.notStrictEqual(other, chance)
    }
  })
})
