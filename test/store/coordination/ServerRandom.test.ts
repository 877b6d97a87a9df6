import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as ServerRandom from "../../../src/store/coordination/ServerRandom.ts"
import { TestModeClock } from "../../../src/store/coordination/TestModeClock.ts"

/** The instant at the beginning of a UUIDv7. */
const instantOf = (id: string): number => Number.parseInt(id.replace("-", "").slice(0, 12), 16)

describe("A UUIDv7 of the server", () => {
  it.effect("begins with the server's time, also after one was made under a test clock of the future", () =>
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const now = yield* Clock.currentTimeMillis
      const future = new TestModeClock(yield* Clock.Clock, () => Date.parse("2033-06-01T00:00:00Z"))
      const ofRehearsal = yield* Effect.provideService(random.uuidV7(), Clock.Clock, future)
      const later = yield* random.uuidV7()
      assert.deepStrictEqual([ofRehearsal, later].map(instantOf), [now, now])
      assert.isTrue(later > ofRehearsal)
    }).pipe(Effect.provide(ServerRandom.layer.pipe(Layer.provide(SecureRandom.layerWebCrypto))))
  )
})
