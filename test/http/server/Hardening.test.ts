/** The headers of every answer of both listeners for browsers and caches, and the methods that no listener has. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../support/usherFixture.ts"
import { asConsumer, asServer, Usher } from "../support/usherFixture.ts"

layer(Fixture.layer, { excludeTestServices: true })("An answer of either API", (it) => {
  it.effect("is JSON that browsers must not guess about and caches must not keep, whether it succeeds or not", () =>
    Effect.gen(function* () {
      const { admin, brand, consumer, guest, queue } = yield* Usher
      const { accessToken } = yield* guest()
      const id = yield* queue()
      const known = asConsumer(brand.publishableKey, accessToken)
      const answers = [
        [200, yield* consumer({ method: "POST", path: `/api/queues/${id}/enter`, headers: known })],
        [200, yield* consumer({ path: `/api/queues/${id}/status`, headers: known })],
        [401, yield* consumer({ path: `/api/queues/${id}/status` })],
        [404, yield* consumer({ path: "/api/nothing" })],
        [200, yield* admin({ path: `/api/queues/${id}`, headers: asServer(brand.secretKey) })],
        [401, yield* admin({ path: `/api/queues/${id}` })],
        [400, yield* admin({ path: "/api/queues?first=0", headers: asServer(brand.secretKey) })]
      ] as const
      for (const [status, answer] of answers) {
        assert.strictEqual(answer.status, status)
        assert.match(answer.headers["content-type"]!, /^application\/json/)
        assert.strictEqual(answer.headers["x-content-type-options"], "nosniff")
        assert.strictEqual(answer.headers["cache-control"], "no-store")
        assert.notProperty(answer.headers, "set-cookie")
        assert.notProperty(answer.headers, "server")
        assert.notProperty(answer.headers, "x-powered-by")
      }
    })
  )

  it.effect("to TRACE is a 405, and repeats nothing of the request", () =>
    Effect.gen(function* () {
      const { admin, brand, consumer, queue } = yield* Usher
      const path = `/api/queues/${yield* queue()}`
      for (const send of [consumer, admin]) {
        const answer = yield* send({ method: "TRACE", path, headers: asServer(brand.secretKey) })
        assert.strictEqual(answer.status, 405)
        assert.notInclude(answer.text, brand.secretKey)
      }
    })
  )
})
