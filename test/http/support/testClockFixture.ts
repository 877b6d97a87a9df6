/** Both APIs with the worker that advances test clocks, and an organization whose time a test controls. */
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Organizations } from "../../../src/auth/keys/Organizations.ts"
import { Alerts } from "../../../src/store/message/Alerts.ts"
import * as TestClockAdvances from "../../../src/workers/TestClockAdvances.ts"
import * as Fixture from "./usherFixture.ts"
import { asServer, Usher } from "./usherFixture.ts"

/** The worker with its services. */
export const advances = Layer.provideMerge(TestClockAdvances.layer, Alerts.layer)

export const layer = Layer.provideMerge(advances, Fixture.layer)

/** Advances the clock of the brand by so many seconds, and returns when all that was due by then has happened. */
type Advance = (seconds: number) => Effect.Effect<void>

/** Runs a test whose brand is a new organization in test mode. Its clock stands still unless the test advances it. */
export const withTestClock = <A, E, R>(test: (advance: Advance) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const usher = yield* Usher
    const made = yield* (yield* Organizations).create({ name: "Brand with a clock", plan: "enterprise" })
    const { testPublishableKey: publishableKey, testSecretKey: secretKey } = made
    const ask = Effect.fnUntraced(function* (method: string, path: string, body: object) {
      const answer = yield* usher.admin({ method, path: `/api/test-clock${path}`, headers: asServer(secretKey), body })
      assert.isBelow(answer.status, 300, answer.text)
      return answer.body
    })
    yield* ask("PUT", "", { frozenAt: new Date().toISOString(), seed: "seven" })
    const advance: Advance = Effect.fnUntraced(function* (by) {
      let clock = yield* ask("POST", "/advance", { by, waitSeconds: 10 })
      while (clock.status === "ADVANCING") {
        clock = (yield* usher.admin({ path: "/api/test-clock", headers: asServer(secretKey) })).body
      }
      assert.strictEqual(clock.status, "READY", clock.problem)
    })
    return yield* Effect.provideService(test(advance), Usher, {
      ...usher,
      brand: { ...made, publishableKey, secretKey },
      guest: (key = publishableKey) => usher.guest(key),
      queue: (settings, key = secretKey) => usher.queue(settings, key)
    })
  })
