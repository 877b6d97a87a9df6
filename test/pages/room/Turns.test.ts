/** What a room offers at a visitor's turn, and before it. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { asBrandServer, brand, layer as usher, room, textOf, visitor } from "../support/roomFixture.ts"

layer(usher, { excludeTestServices: true })("The turn of a guest", (it) => {
  it.effect("is no time to offer a message at the turn, which the line offers", () =>
    Effect.gen(function* () {
      yield* brand("PUT", "/organizations/me", { grantMessages: "email" })
      const { experienceId, sequence } = yield* room({ queues: [{ name: "Line", admitRate: 0 }] })
      const guest = yield* visitor(experienceId)
      const waiting = yield* guest.submit(yield* guest.get("place"), "Join the queue")
      assert.include(textOf(waiting), "Send me a message at my turn")
      yield* asBrandServer("POST", `/queues/${sequence.queues[0].id}/admit`, { count: 1 })
      const turn = textOf(yield* guest.sees("Give up my place"))
      assert.notInclude(turn, "at my turn")
      assert.include(turn, "Keep my place on another device")
    })
  )
})
