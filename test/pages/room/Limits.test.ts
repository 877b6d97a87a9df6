/** What a visitor reads when a room cannot answer for now. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { layerWith } from "../../http/support/usherFixture.ts"
import { movableClock } from "../../support/movableClock.ts"
import * as Fixture from "../support/roomFixture.ts"

const { textOf } = Fixture
const clock = movableClock()

/** Requests of one consumer in a minute, of the 5,000 of its organization. */
const consumerRequestsMax = 3
const limitPerConsumer = consumerRequestsMax / 5_000

describe("A room with too many requests", () => {
  layer(layerWith({ limitPerConsumer }).pipe(Layer.provide(clock.layer)), { excludeTestServices: true })((it) => {
    it.effect("says so in words, reloads automatically, and shows the place again after the wait", () =>
      Effect.gen(function* () {
        const room = yield* Fixture.room({ queues: [{ name: "Front door", admitRate: 0 }] })
        // A new minute, so that no window ends in between.
        yield* clock.putForward(60_000 - (clock.now() % 60_000))
        yield* room.submit(yield* room.get(""), "Join the queue")
        for (let asked = 1; asked < consumerRequestsMax; asked++) {
          assert.strictEqual((yield* room.get("place")).status, 200)
        }
        const refused = yield* room.get("place")
        assert.strictEqual(refused.status, 429)
        assert.match(textOf(refused), /Too many requests\. Please try again in \d+ (second|minute)/)
        assert.match(refused.text, /<meta http-equiv="refresh" content="\d+"/)
        assert.isAbove(Number(refused.headers["retry-after"]), 0)
        assert.strictEqual(refused.headers["cache-control"], "no-store")
        const part = yield* room.get("place", { accept: "text/html;part=room" })
        assert.strictEqual(part.status, 429)
        assert.isTrue(part.text.startsWith("<div data-statuses"))
        // What everybody sees is not the consumer's request.
        assert.strictEqual((yield* room.get("")).status, 200)
        yield* clock.putForward(61_000)
        assert.include(textOf(yield* room.get("place")), "You are in line")
      })
    )
  })
})
