// oxlint-disable unicorn/no-thenable -- the rules of gates have this field
/** Rooms to which a gate in front of a site leads its visitors. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../support/roomFixture.ts"

/** A room whose queue is by hand, so that every visitor waits, and a gate of its organization. */
const aGatedRoom = Effect.gen(function* () {
  const made = yield* Fixture.room({ queues: [{ name: "Shop", admitRate: 0 }] })
  const queueId: string = made.sequence.queues[0].id
  yield* Fixture.brand("POST", "/gates", {
    name: "Shop",
    hosts: ["shop.example"],
    rules: [{ when: { pathPrefix: "/" }, then: { queueId } }]
  })
  /** Passes, and returns where the room takes over. */
  const passed = Effect.gen(function* () {
    const { consumerId, roomUrl } = yield* Fixture.asBrandServer("POST", `/queues/${queueId}/pass`, {})
    const { pathname, search } = new URL(roomUrl)
    const back = "https://shop.example/.usher/return?to=%2Fcheckout"
    return { consumerId, path: `${pathname}${search}&return=${encodeURIComponent(back)}` }
  })
  const live = Fixture.brand("GET", `/distributions/${queueId}/live`)
  return { ...made, queueId, passed, live }
})

describe("A room behind a gate", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("shows the place that the visitor has already, and leads back to the gate", () =>
      Effect.gen(function* () {
        const { experienceId, queueId, passed, live } = yield* aGatedRoom
        const { consumerId, path } = yield* passed
        const { get } = yield* Fixture.visitor(experienceId)
        const redirect = yield* get(path)
        assert.strictEqual(redirect.status, 303)
        assert.strictEqual(redirect.headers["cache-control"], "no-store")
        const location = redirect.headers["location"]!
        assert.notInclude(location, "token")
        const place = yield* get(location)
        assert.include(Fixture.textOf(place), "Your place in line 1")
        assert.strictEqual((yield* live).waiting, 1)
        yield* Fixture.asBrandServer("POST", `/queues/${queueId}/admit`, { consumerId })
        const onward = Fixture.formOf(yield* get(location), "Continue to the shop")
        assert.strictEqual(onward.action, "https://shop.example/.usher/return?to=%2Fcheckout")
        assert.isDefined(onward.fields["usher_grant"])
      })
    )

    it.effect("takes a visitor over once: a browser that finds the address later is a stranger", () =>
      Effect.gen(function* () {
        const { experienceId, passed } = yield* aGatedRoom
        const { path } = yield* passed
        const { get, cookies } = yield* Fixture.visitor(experienceId)
        yield* get(path)
        const kept = [...cookies]
        assert.isNotEmpty(kept)
        const other = yield* Fixture.visitor(experienceId)
        assert.strictEqual((yield* other.get(path)).status, 303)
        assert.strictEqual(other.cookies.size, 0)
        // The visitor itself may go back in its history.
        assert.strictEqual((yield* get(path)).status, 303)
        assert.deepStrictEqual([...cookies], kept)
      })
    )

    it.effect("takes a visitor over once, although two browsers ask at the same time", () =>
      Effect.gen(function* () {
        const { experienceId, passed } = yield* aGatedRoom
        const { path } = yield* passed
        const visitors = yield* Effect.all(Array.from({ length: 4 }, () => Fixture.visitor(experienceId)))
        yield* Effect.forEach(visitors, ({ get }) => get(path), { concurrency: "unbounded" })
        assert.lengthOf(
          visitors.filter(({ cookies }) => cookies.size > 0),
          1
        )
      })
    )

    it.effect("keeps the session of a visitor who has one, and gives up the place that it does not need", () =>
      Effect.gen(function* () {
        const { experienceId, passed, live } = yield* aGatedRoom
        const { get, cookies } = yield* Fixture.visitor(experienceId)
        yield* get((yield* passed).path)
        const kept = [...cookies]
        const again = yield* get((yield* passed).path)
        assert.strictEqual(again.status, 303)
        assert.deepStrictEqual([...cookies], kept)
        assert.strictEqual((yield* live).waiting, 1)
      })
    )

    it.effect("starts no session for a token that is none, or another organization's", () =>
      Effect.gen(function* () {
        const { experienceId, passed } = yield* aGatedRoom
        const { path } = yield* passed
        const { get, cookies } = yield* Fixture.visitor(experienceId)
        for (const other of [path.replace(/token=[^&]*/, "token=a.b.c"), path.replace(/token=[^&]*&/, "")]) {
          assert.strictEqual((yield* get(other)).status, 303)
          assert.strictEqual(cookies.size, 0)
        }
      })
    )
  })
})
