import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Entropy } from "../../../src/engine/actor/Entropy.ts"

describe("the entropy of mechanisms", () => {
  it.effect("is 16 fresh random bytes in hex, unless another source is provided", () =>
    Effect.gen(function* () {
      const entropy = yield* Entropy
      assert.match(entropy(), /^[0-9a-f]{32}$/)
      assert.notStrictEqual(entropy(), entropy())
      const provided = yield* Effect.provideService(Entropy, Entropy, () => "loaded")
      assert.strictEqual(provided(), "loaded")
    })
  )
})
