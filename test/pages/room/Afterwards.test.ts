/** Where a room leads those that got nothing, and whether it tells how many units are left. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { movableClock } from "../../support/movableClock.ts"
import * as Fixture from "../support/roomFixture.ts"

const { textOf } = Fixture
const clock = movableClock()
const at = (seconds: number) => new Date(clock.now() + seconds * 1_000).toISOString()

/** Longer than public facts are reused. */
const factsPass = clock.putForward(3_000)

const admissionExpirationSeconds = 600

/** A room whose only unit is taken. */
const soldOut = Effect.fnUntraced(function* (more: object = {}) {
  const timedReleases = [{ name: "Sale", capacity: 1, closeAt: at(7_200), admissionExpirationSeconds }]
  const room = yield* Fixture.room({ timedReleases, ...more })
  yield* room.submit(yield* room.get(""), "Get access")
  yield* factsPass
  return yield* Fixture.visitor(room.experienceId)
})

describe("A visitor that got nothing", () => {
  layer(Fixture.layer.pipe(Layer.provide(clock.layer)), { excludeTestServices: true })((it) => {
    it.effect("is led to the brand's next drop, once that is announced by a page", () =>
      Effect.gen(function* () {
        const late = yield* soldOut()
        const next = yield* Fixture.room(
          { queues: [{ name: "Queue", admitRate: 0, openAt: at(86_400) }] },
          { name: "Autumn drop" }
        )
        yield* factsPass
        assert.notInclude(textOf(yield* late.get("")), "Autumn drop")
        yield* Fixture.publish(next.experienceId, "autumn", { body: { blocks: [{ type: "place" }] } })
        yield* factsPass
        for (const path of ["", "place", "now"]) {
          const page = yield* late.get(path)
          assert.match(textOf(page), /Sold out .*The next drop Autumn drop Opens /)
          assert.include(page.text, `href="/e/${next.experienceId}"`)
        }
        assert.include((yield* late.get("?lang=ar")).text, `href="/e/${next.experienceId}?lang=ar"`)
        // The room of the next drop itself leads nowhere.
        assert.notInclude(textOf(yield* next.get("")), "The next drop")
      })
    )

    it.effect("is led to the waitlist of the same room before any other drop", () =>
      Effect.gen(function* () {
        const late = yield* soldOut({ waitlist: { name: "List" } })
        const page = yield* late.get("place")
        const [, anchor] = /href="#(join-[^"]+)">Join the waitlist</.exec(page.text) ?? []
        assert.include(page.text, `id="${anchor}"`)
        assert.isBelow(page.text.indexOf("Sold out"), page.text.indexOf(`id="${anchor}"`))
      })
    )

    it.effect("is promised offers by a waitlist that makes them, and no message at the opening", () =>
      Effect.gen(function* () {
        const { id: productId } = yield* Fixture.brand("POST", "/products", { name: "Sneaker" })
        const { id: variantId } = yield* Fixture.brand("POST", "/variants", { productId, inventoryQuantity: 0 })
        const { id: stockId } = yield* Fixture.brand("POST", "/stocks", { name: "Pairs", variantIds: [variantId] })
        const room = yield* Fixture.room({ waitlist: { name: "List", offers: true, stockId } })
        const text = textOf(yield* room.get("place"))
        assert.include(text, "is offered to the next person on the list")
        assert.notInclude(text, "when it opens")
      })
    )

    it.effect("stays in a room that has more to offer", () =>
      Effect.gen(function* () {
        const late = yield* soldOut({ queues: [{ name: "Queue", admitRate: 0 }] })
        assert.notInclude(textOf(yield* late.get("place")), "The next drop")
      })
    )
  })
})

describe("The number of units that are left", () => {
  layer(Fixture.layer.pipe(Layer.provide(clock.layer)), { excludeTestServices: true })((it) => {
    it.effect("is shown where the brand wants it, and nowhere else", () =>
      Effect.gen(function* () {
        const sequence = {
          queues: [{ name: "Queue", admitRate: 0, maxAdmissions: 30 }],
          timedReleases: [{ name: "Sale", capacity: 7, closeAt: at(7_200) }]
        }
        const silent = yield* Fixture.room(sequence)
        const open = yield* Fixture.room(sequence, { theme: { showsUnitsLeft: true } })
        for (const [room, isShown] of [
          [silent, false],
          [open, true]
        ] as const) {
          const text = textOf(yield* room.submit(yield* room.get("place"), "Join the queue"))
          assert.strictEqual(text.includes("30 of 30 left"), isShown, text)
          assert.strictEqual(text.includes("Units left: 7"), isShown, text)
        }
      })
    )
  })
})
