/** The gate with a clock that stands still, for the time in which a challenge is solved. */
import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import { ChallengePolicies } from "../../../src/auth/challenge/ChallengePolicies.ts"
import { type Arrival, type ChallengeAsked, Challenges } from "../../../src/auth/challenge/Challenges.ts"
import { SpentSolutions } from "../../../src/auth/challenge/SpentSolutions.ts"
import { TokenProviders } from "../../../src/auth/challenge/TokenProviders.ts"
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
})
