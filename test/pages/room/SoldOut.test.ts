/** A timed release whose units are all held or sold: what its room shows before a visitor tries to enter. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type Language, languages, wordsIn } from "../../../src/pages/Words.ts"
import { movableClock } from "../../support/movableClock.ts"
import * as Fixture from "../support/roomFixture.ts"

const { formsOf, textOf } = Fixture
const clock = movableClock()

/** Longer than public facts are reused. */
const laterMillis = 3_000

const admissionExpirationSeconds = 60

describe("A sold-out release", () => {
  layer(Fixture.layer.pipe(Layer.provide(clock.layer)), { excludeTestServices: true })((it) => {
    it.effect("says so in every language, has no form to enter, and has it again once a unit is free", () =>
      Effect.gen(function* () {
        const { id: productId, variants } = yield* Fixture.product(["42", "43"])
        const closeAt = new Date(clock.now() + 7_200_000).toISOString()
        const timedReleases = [{ name: "Sale", capacity: 1, closeAt, admissionExpirationSeconds }]
        const first = yield* Fixture.room({ timedReleases }, { products: [{ productId }] })
        const [variant] = variants
        yield* first.submit(yield* first.get(""), "Get access", { variant: variant.id })
        yield* clock.putForward(laterMillis)
        const late = yield* Fixture.visitor(first.experienceId)
        for (const language of Object.keys(languages) as ReadonlyArray<Language>) {
          const { soldOut } = wordsIn(language)
          for (const path of ["", "place", "now"]) {
            const page = yield* late.get(`${path}?lang=${language}`)
            assert.include(textOf(page), soldOut, `${path} in ${language}`)
            assert.isFalse(formsOf(page).some(({ action }) => action.includes("/enter")))
          }
        }
        // The visitor that holds the unit still has its turn.
        assert.include(textOf(yield* first.get("place")), "It is your turn")
        yield* clock.putForward(admissionExpirationSeconds * 1_000)
        yield* first.sees("Your time has run out The time to continue has passed.")
        yield* clock.putForward(laterMillis)
        const page = yield* late.get("")
        assert.notInclude(textOf(page), "Sold out")
        assert.include(textOf(yield* late.submit(page, "Get access", { variant: variant.id })), "It is your turn")
      })
    )
  })
})
