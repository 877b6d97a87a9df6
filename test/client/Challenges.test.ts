/** The gate for bots before a client, which solves the challenge without an action. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layer as services } from "../http/challenge/challengeFixture.ts"
import { room } from "../pages/support/roomFixture.ts"
import { client, memoryStorage } from "./support/clientFixture.ts"
import { proxied } from "./support/proxy.ts"
import { Usher } from "../http/support/usherFixture.ts"

describe("A client that is asked for a challenge", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("solves it, and enters", () =>
      Effect.gen(function* () {
        const { consumerUrl } = yield* Usher
        const proxy = yield* proxied(consumerUrl)
        const { experienceId, sequence } = yield* room(
          { queues: [{ name: "Front door", admitRate: 0 }] },
          { challenge: { mode: "always" } }
        )
        const store = (yield* client(memoryStorage(), proxy.url)).experience(experienceId)
        assert.strictEqual((yield* Effect.promise(() => store.act("enter"))).state, "waiting")
        const entries = proxy.seen.filter((line) => line === `POST /api/queues/${sequence.queues[0].id}/enter`)
        assert.strictEqual(entries.length, 2)
      })
    )
  })
})
