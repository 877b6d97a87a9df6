/** Emails that a consumer asks for, on the Consumer API. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { asConsumer, asServer, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"

const aBrand = Effect.gen(function* () {
  const { admin, consumer, brand } = yield* Usher
  const create = (path: string, body: object) =>
    Effect.map(
      admin({ method: "POST", path: `/api${path}`, headers: asServer(brand.secretKey), body }),
      ({ body }) => body
    )
  const experience = yield* create("/experiences", {
    name: "Drop",
    sequences: [
      { name: "Everyone", auctions: [{ name: "Lot", startPrice: "1", settleAt: new Date(Date.now() + 3_600_000) }] }
    ]
  })
  const call = (consumerId: string, method: string, path: string, body?: object) =>
    consumer({ method, path: `/api${path}`, headers: asServer(brand.secretKey, consumerId), body })
  return { create, call, experience, auctionId: experience.sequences[0].auctions[0].id as string }
})

describe("A consumer with an email address", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("asks for the emails of an experience and of an auction, each for itself, and ends them", () =>
      Effect.gen(function* () {
        const { create, call, experience, auctionId } = yield* aBrand
        const { id } = yield* create("/consumers", { email: "ada@example.com" })
        const paths = [`/experiences/${experience.id}/reminder`, `/auctions/${auctionId}/outbid-alert`]
        for (const path of paths) {
          const before = (yield* call(id, "GET", path)).body
          assert.deepStrictEqual(before, { isPossible: true, isWanted: false, since: null })
          const asked = yield* call(id, "PUT", path, { language: "de" })
          assert.strictEqual(asked.status, 200)
          assert.isTrue(asked.body.isWanted)
          assert.deepStrictEqual((yield* call(id, "PUT", path)).body, asked.body)
          assert.deepStrictEqual((yield* call(id, "GET", path)).body, asked.body)
        }
        assert.deepStrictEqual((yield* call(id, "DELETE", paths[0]!)).body, {
          isPossible: true,
          isWanted: false,
          since: null
        })
        assert.isTrue((yield* call(id, "GET", paths[1]!)).body.isWanted)
      })
    )

    it.effect("is told of nothing that does not exist, and without an address gets no email", () =>
      Effect.gen(function* () {
        const { create, call, experience, auctionId } = yield* aBrand
        const { consumer, guest, brand } = yield* Usher
        const { id } = yield* create("/consumers", { phone: "+33612345678" })
        const path = `/experiences/${experience.id}/reminder`
        assert.strictEqual((yield* call(id, "PUT", path)).status, 403)
        assert.isFalse((yield* call(id, "GET", path)).body.isPossible)
        assert.strictEqual((yield* call(id, "PUT", `/experiences/${randomUUID()}/reminder`)).status, 404)
        assert.strictEqual((yield* call(id, "PUT", `/auctions/${experience.id}/outbid-alert`)).status, 404)
        assert.strictEqual((yield* call(id, "PUT", `/experiences/${auctionId}/reminder`)).status, 404)
        const { accessToken } = yield* guest()
        const headers = asConsumer(brand.publishableKey, accessToken)
        assert.strictEqual((yield* consumer({ method: "PUT", path: `/api${path}`, headers })).status, 403)
      })
    )

    it.effect("has them in its export, and none after its erasure", () =>
      Effect.gen(function* () {
        const { create, call, experience } = yield* aBrand
        const { admin, brand } = yield* Usher
        const { id } = yield* create("/consumers", { email: "mia@example.com" })
        yield* call(id, "PUT", `/experiences/${experience.id}/reminder`, { language: "fr" })
        const headers = asServer(brand.secretKey)
        const { body } = yield* admin({ path: `/api/consumers/${id}/export`, headers })
        assert.strictEqual(body.alerts.length, 1)
        assert.deepInclude(body.alerts[0], { topic: "REMINDER", subjectId: experience.id, language: "fr" })
      })
    )
  })
})
