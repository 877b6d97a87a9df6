/** The gate with a clock that stands still, for the time in which a challenge is solved. */
import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Option, Redacted } from "effect"
import { ChallengePolicies } from "../../../src/auth/challenge/ChallengePolicies.ts"
import { type Arrival, type ChallengeAsked, Challenges } from "../../../src/auth/challenge/Challenges.ts"
import { SpentSolutions } from "../../../src/auth/challenge/SpentSolutions.ts"
import { TokenProviders } from "../../../src/auth/challenge/TokenProviders.ts"
import { Settings } from "../../../src/settings/Settings.ts"
import { solve } from "../../http/challenge/challengeFixture.ts"
import { aTenant, layer as auth } from "../authFixture.ts"

/** A gate in whose time nothing passes unless the test says so, and an arrival that it asks for a challenge. */
const aGate = Effect.gen(function* () {
  const real = yield* Clock.Clock
  const time = { now: real.currentTimeMillisUnsafe() }
  const clock: Clock.Clock = Object.assign(Object.create(real), { currentTimeMillisUnsafe: () => time.now })
  const gate = Challenges.layer.pipe(
    Layer.provide(Layer.mergeAll(ChallengePolicies.layer, SpentSolutions.layer, TokenProviders.layer))
  )
  const built = yield* Layer.build(Layer.fresh(gate)).pipe(Effect.provideService(Clock.Clock, clock))
  const { check } = Context.get(built, Challenges)
  const arrival: Arrival = { action: "guest", tenant: yield* aTenant, address: "203.0.113.1" }
  const checked = (solution?: string) => Effect.suspend(() => check({ ...arrival, solution }) ?? Effect.undefined)
  for (let count = 0; count < 5; count++) assert.isUndefined(yield* checked())
  const { challenge } = (yield* Effect.flip(checked())) as ChallengeAsked
  if (challenge.provider !== "proof_of_work") return assert.fail(challenge.provider)
  return { time, checked, work: challenge.parameters.data.work, solution: yield* solve(challenge) }
})

layer(auth, { excludeTestServices: true })("The gate", (it) => {
  it.effect("tells how long the client took for its challenge, and how much work it was", () =>
    Effect.gen(function* () {
      const { time, checked, work, solution } = yield* aGate
      time.now += 17
      assert.deepStrictEqual(yield* checked(solution), { millis: 17, work })
    })
  )

  it.effect("does not tell it if the clock of the process that issued the challenge is ahead", () =>
    Effect.gen(function* () {
      const { time, checked, solution } = yield* aGate
      time.now -= 5
      assert.isUndefined(yield* checked(solution))
    })
  )

  /** A process with the gate, which asks every guest for a challenge after the fifth. */
  const aProcess = (settings: Parameters<typeof Settings.layerTest>[0], arrival: Arrival) =>
    Effect.gen(function* () {
      const gate = Challenges.layer.pipe(
        Layer.provide(Layer.mergeAll(ChallengePolicies.layer, SpentSolutions.layer, TokenProviders.layer)),
        Layer.provide(Settings.layerTest(settings))
      )
      const { check } = Context.get(yield* Layer.build(Layer.fresh(gate)), Challenges)
      const passes = (solution?: string) =>
        Effect.suspend(() => check({ ...arrival, solution }) ?? Effect.undefined).pipe(
          Effect.as(true),
          Effect.catchTag("ChallengeAsked", () => Effect.succeed(false))
        )
      for (let count = 0; count < 5; count++) assert.isTrue(yield* passes())
      const solved = Effect.gen(function* () {
        const { challenge } = (yield* Effect.flip(
          Effect.suspend(() => check(arrival) ?? Effect.undefined)
        )) as ChallengeAsked
        return challenge.provider === "proof_of_work" ? yield* solve(challenge) : assert.fail(challenge.provider)
      })
      return { passes, solved }
    })

  const installations = {
    "of a single process": { settings: {}, isRemembered: false },
    "of nodes": { settings: { cluster: true }, isRemembered: true },
    "of processes with Redis, which is away": {
      settings: { redisUrl: Option.some(Redacted.make("redis://127.0.0.1:1")) },
      isRemembered: true
    }
  } as const

  for (const [name, { settings, isRemembered }] of Object.entries(installations)) {
    it.effect(`${name} takes no solution twice, not after a restart either`, () =>
      Effect.gen(function* () {
        const arrival: Arrival = { action: "guest", tenant: yield* aTenant, address: "203.0.113.1" }
        const before = yield* aProcess(settings, arrival)
        const [spent, unspent] = [yield* before.solved, yield* before.solved]
        assert.isTrue(yield* before.passes(spent))
        assert.isFalse(yield* before.passes(spent))
        const after = yield* aProcess(settings, arrival)
        assert.isFalse(yield* after.passes(spent))
        // Where solutions are remembered, a restart throws nobody out.
        assert.strictEqual(yield* after.passes(unspent), isRemembered)
        assert.isFalse(yield* after.passes(unspent))
        const fresh = yield* after.solved
        assert.isTrue(yield* after.passes(fresh))
        assert.isFalse(yield* after.passes(fresh))
      })
    )
  }
})
