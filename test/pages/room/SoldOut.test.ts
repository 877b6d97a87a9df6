/** A timed release whose units are all held or sold: what its room shows before a visitor tries to enter. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { SettleUnits } from "../../../src/domain/mechanism/UnitProtocol.ts"
import { Engine } from "../../../src/engine/Engine.ts"
import { type Language, languages, wordsIn } from "../../../src/pages/Words.ts"
import { movableClock } from "../../support/movableClock.ts"
import { snapshotMillis } from "../../../src/http/consumer/live/LiveExperience.ts"
import { type Answer, Usher } from "../../http/support/usherFixture.ts"
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

    it.effect(
      "says so at once to a visitor whose entry is refused, and to all others as soon as the live facts do",
      () =>
        Effect.gen(function* () {
          const { consumer } = yield* Usher
          const { id: productId, variants } = yield* Fixture.product(["42", "43"])
          const closeAt = new Date(clock.now() + 7_200_000).toISOString()
          const first = yield* Fixture.room(
            { timedReleases: [{ name: "Sale", capacity: 1, closeAt }] },
            { products: [{ productId }] }
          )
          const late = yield* Fixture.visitor(first.experienceId)
          const other = yield* Fixture.visitor(first.experienceId)
          const variant = { variant: variants[0].id }
          const page = yield* late.get("")
          const isOffered = (page: Answer) => formsOf(page).some(({ action }) => action.includes("/enter"))
          assert.isTrue(isOffered(page))
          yield* first.submit(yield* first.get(""), "Get access", variant)
          const refused = yield* late.submit(page, "Get access", variant)
          assert.include(textOf(refused), "Sold out")
          assert.isFalse(isOffered(refused))

          yield* clock.putForward(snapshotMillis)
          const { body } = yield* consumer({ path: `/api/experiences/${first.experienceId}/live` })
          assert.isTrue(body.mechanisms[0].isFull)
          for (const path of ["", "now", "place"]) assert.isFalse(isOffered(yield* other.get(path)), path)
        })
    )
  })
})

describe("A queue whose units are all given away", () => {
  layer(Fixture.layer.pipe(Layer.provide(clock.layer)), { excludeTestServices: true })((it) => {
    it.effect(
      "says so to those outside and to those in line, tells no rate, and takes nobody in until one is given up",
      () =>
        Effect.gen(function* () {
          const first = yield* Fixture.room({ queues: [{ name: "Line", admitRate: 0, maxAdmissions: 1 }] })
          const queueId = first.sequence.queues[0].id as string
          const [second, outside] = [
            yield* Fixture.visitor(first.experienceId),
            yield* Fixture.visitor(first.experienceId)
          ]
          for (const visitor of [first, second]) yield* visitor.submit(yield* visitor.get("place"), "Join the queue")
          const admit = Fixture.asBrandServer("POST", `/queues/${queueId}/admit`, { count: 1 })
          yield* admit
          yield* first.sees("It is your turn")
          yield* clock.putForward(laterMillis)
          for (const path of ["", "now", "place"]) {
            const page = yield* outside.get(path)
            assert.include(textOf(page), "Sold out", path)
            assert.notMatch(textOf(page), /order of arrival|Waiting now|What happens next/)
            assert.isFalse(formsOf(page).some(({ action }) => action.includes("/enter")))
          }
          const waiting = textOf(yield* second.get("place"))
          assert.include(waiting, "You are in line")
          assert.include(waiting, "Sold out")
          assert.notMatch(waiting, /order of arrival|What happens next/)

          const turn = yield* first.get("place")
          yield* first.submit(yield* first.submit(turn, "Give up my place"), "Give up my place")
          yield* admit
          yield* second.sees("It is your turn")
        })
    )
  })
})

describe("A queue of a stock without a free unit", () => {
  layer(Fixture.layer.pipe(Layer.provide(clock.layer)), { excludeTestServices: true })((it) => {
    it.effect(
      "tells those in line and outside whether units may come back, in every language, and keeps the places",
      () =>
        Effect.gen(function* () {
          const { brand } = yield* Usher
          const engine = yield* Engine
          const { variants } = yield* Fixture.product()
          const stock = yield* Fixture.brand("POST", "/stocks", { name: "Pairs", variantIds: [variants[0].id] })
          const first = yield* Fixture.room({ queues: [{ name: "Line", admitRate: 0, stockId: stock.id }] })
          const id = first.sequence.queues[0].id as string
          const tenant = { organizationId: brand.organizationId, mode: "live" } as const
          // What the stock would say.
          const settle = (message: Partial<SettleUnits>) =>
            Effect.andThen(
              engine.sendAdmin({ kind: "queue", id, tenant }, { _tag: "SettleUnits", taken: 0, ...message }),
              clock.putForward(laterMillis)
            )
          const second = yield* Fixture.visitor(first.experienceId)
          const outside = yield* Fixture.visitor(first.experienceId)
          for (const visitor of [first, second]) yield* visitor.submit(yield* visitor.get("place"), "Join the queue")
          yield* settle({ arriving: { transfer: 1, units: 1 } })
          yield* Fixture.asBrandServer("POST", `/queues/${id}/admit`, { count: 1 })
          yield* first.sees("It is your turn")
          yield* clock.putForward(laterMillis)
          const mayEnter = (page: Answer) => formsOf(page).some(({ action }) => action.includes("/enter"))
          for (const language of Object.keys(languages) as ReadonlyArray<Language>) {
            const { soldOutForNow } = wordsIn(language)
            for (const visitor of [second, outside]) {
              const page = yield* visitor.get(`place?lang=${language}`)
              assert.include(textOf(page), soldOutForNow, language)
              assert.strictEqual(mayEnter(page), visitor === outside)
            }
          }
          yield* first.submit(yield* first.submit(yield* first.get("place"), "Give up my place"), "Give up my place")
          const { consumerIds } = yield* Fixture.asBrandServer("POST", `/queues/${id}/admit`, { count: 1 })
          yield* second.sees("It is your turn")
          yield* settle({ mayReturn: false })
          const [consumerId] = consumerIds
          yield* Fixture.asBrandServer("POST", `/queues/${id}/complete`, { consumerId })
          yield* clock.putForward(laterMillis)
          const page = yield* outside.get("place")
          assert.include(textOf(page), "Sold out")
          assert.isFalse(mayEnter(page))
        })
    )
  })
})
