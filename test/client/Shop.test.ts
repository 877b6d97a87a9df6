/** A shop on its own origin, from the first visit to the checkout; and the widget's requests to a room. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Usher } from "../http/support/usherFixture.ts"
import { asBrandServer, brand, room } from "../pages/support/roomFixture.ts"
import * as Fixture from "../pages/support/roomFixture.ts"
import { openShop } from "./shop/shop.ts"
import { client, memoryStorage } from "./support/clientFixture.ts"

const sale = { timedReleases: [{ name: "Sale", capacity: 5, admissionExpirationSeconds: 600 }] }
const part = { accept: "text/html;part=room" }
const shopOrigin = "https://shop.example.com"

const opened = (experienceId: string) =>
  Effect.acquireRelease(
    Effect.flatMap(Usher, ({ consumerUrl, brand: { organizationId } }) =>
      Effect.promise(() => openShop({ usherUrl: consumerUrl, organizationId, experienceId }))
    ),
    (shop) => Effect.promise(() => shop.close())
  )

/** Allows these shops until the test ends. */
const allowing = (...allowedOrigins: ReadonlyArray<string>) =>
  Effect.acquireRelease(brand("PUT", "/organizations/me", { allowedOrigins }), () =>
    brand("PUT", "/organizations/me", { allowedOrigins: null })
  )

/** A shop that the organization allows. */
const allowed = (experienceId: string) => Effect.tap(opened(experienceId), ({ url }) => allowing(new URL(url).origin))

const visit = (url: string, init: RequestInit = {}) =>
  Effect.promise(async () => {
    const reply = await fetch(url, { redirect: "manual", ...init })
    return { status: reply.status, headers: reply.headers, text: await reply.text() }
  })

/** The form post with which a room, or `continueTo`, opens the shop. */
const posting = (grant: string): RequestInit => ({ method: "POST", body: new URLSearchParams({ usher_grant: grant }) })

layer(Fixture.layer, { excludeTestServices: true })("a shop", (it) => {
  describe("with the guard", () => {
    it.effect("sends a visitor to the room, and lets it through with the grant that it got there", () =>
      Effect.gen(function* () {
        const { experienceId } = yield* room(sale)
        const shop = yield* allowed(experienceId)
        assert.strictEqual((yield* visit(`${shop.url}/`)).text, "Welcome to the shop")
        const { consumerUrl } = yield* Usher
        const away = yield* visit(`${shop.url}/checkout`)
        const back = encodeURIComponent(`${shop.url}/checkout`)
        assert.strictEqual(away.headers.get("location"), `${consumerUrl}/e/${experienceId}?return=${back}`)
        assert.strictEqual((yield* visit(away.headers.get("location")!)).status, 200)

        const storage = memoryStorage()
        const store = (yield* client(storage)).experience(experienceId)
        const { places } = yield* Effect.promise(() => store.act("enter"))
        const own = places[0]!.own!
        const grant = "admissionGrant" in own ? own.admissionGrant : assert.fail("no grant")
        const taken = yield* visit(`${shop.url}/checkout`, posting(grant))
        assert.deepStrictEqual([taken.status, taken.headers.get("location")], [303, "/checkout"])
        const cookie = taken.headers.get("set-cookie")!
        assert.match(cookie, /; HttpOnly; SameSite=Lax; Max-Age=(59\d|600)$/)
        const paying = yield* visit(`${shop.url}/checkout`, { headers: { cookie: cookie.split(";")[0]! } })
        assert.strictEqual(paying.text, "Pay here")
      })
    )

    it.effect("says that its organization does not allow it, unless it sells the product", () =>
      Effect.gen(function* () {
        yield* allowing("https://another.example")
        const { experienceId } = yield* room(sale)
        const shop = yield* opened(experienceId)
        const refused = yield* visit(`${shop.url}/checkout`)
        assert.strictEqual(refused.status, 500)
        assert.include(refused.text, `does not lead back to ${new URL(shop.url).origin}`)
        const asked = (to: string) =>
          Effect.flatMap(Usher, ({ consumer }) =>
            consumer({ path: `/e/${sold.experienceId}/return?to=${encodeURIComponent(to)}` })
          )
        const { id: productId } = yield* Fixture.product()
        const sold = yield* room(sale, { products: [{ productId }] })
        assert.strictEqual((yield* asked("https://shop.example/checkout")).status, 204)
        assert.strictEqual((yield* asked("https://another.example")).status, 204)
        for (const to of ["https://evil.example", "nonsense", ""])
          assert.strictEqual((yield* asked(to)).status, 403, to)
      })
    )

    it.effect("refuses the grant of another experience", () =>
      Effect.gen(function* () {
        const shop = yield* allowed((yield* room(sale)).experienceId)
        const other = (yield* client()).experience((yield* room(sale)).experienceId)
        const { places } = yield* Effect.promise(() => other.act("enter"))
        const own = places[0]!.own!
        const grant = "admissionGrant" in own ? own.admissionGrant : assert.fail("no grant")
        const refused = yield* visit(`${shop.url}/checkout`, posting(grant))
        assert.include(refused.headers.get("location")!, "/e/")
      })
    )
  })

  describe("with the widget", () => {
    it.effect("shows public sequences without a session", () =>
      Effect.gen(function* () {
        const { consumer } = yield* Usher
        const { experienceId } = yield* room(sale)
        const headers = { ...part, origin: shopOrigin }
        const shown = yield* consumer({ path: `/e/${experienceId}/now`, headers })
        assert.strictEqual(shown.headers["access-control-allow-origin"], "*")
        assert.include(shown.text, "Get access")
      })
    )

    it.effect("shows the consumer's place, and sends its forms, with its token in place of a cookie", () =>
      Effect.gen(function* () {
        const { consumer, guest } = yield* Usher
        const { experienceId, sequence } = yield* room(sale)
        const { accessToken } = yield* guest()
        const headers = { ...part, origin: shopOrigin, authorization: `Bearer ${accessToken}` }
        const path = `/e/${experienceId}`
        const before = yield* consumer({ path: `${path}/place`, headers })
        assert.strictEqual(before.headers["access-control-allow-origin"], "*")
        const entered = yield* consumer({
          method: "POST",
          path: `${path}/enter`,
          headers: {
            ...headers,
            "sec-fetch-site": "cross-site",
            "content-type": "application/x-www-form-urlencoded"
          },
          body: `at=${sequence.timedReleases[0].id}`
        })
        assert.strictEqual(entered.status, 200)
        assert.isUndefined(entered.headers["set-cookie"])
        assert.include(entered.text, "It is your turn")
      })
    )

    it.effect("cannot use a cookie of the room from another site, nor a token that has ended", () =>
      Effect.gen(function* () {
        const { consumer, guest, stranger: other } = yield* Usher
        const visitor = yield* room(sale)
        yield* visitor.submit(yield* visitor.get(""), "Get access")
        const withCookie = yield* visitor.get("place", { ...part, origin: shopOrigin })
        assert.include(withCookie.text, "It is your turn")
        assert.isUndefined(withCookie.headers["access-control-allow-origin"])
        const cookie = [...visitor.cookies].map(([key, value]) => `${key}=${value}`).join("; ")
        const path = `/e/${visitor.experienceId}/place`
        const both = { ...part, cookie, authorization: "Bearer a.b.c" }
        assert.strictEqual((yield* consumer({ path, headers: both })).status, 401)
        const { accessToken } = yield* guest()
        const bearer = { authorization: `Bearer ${accessToken}` }
        assert.notInclude((yield* consumer({ path, headers: { ...part, cookie, ...bearer } })).text, "It is your turn")
        const stranger = yield* guest(other.publishableKey)
        const foreign = { ...part, authorization: `Bearer ${stranger.accessToken}` }
        assert.strictEqual((yield* consumer({ path, headers: foreign })).status, 401)
        yield* consumer({ method: "POST", path: "/api/auth/logout", headers: bearer })
        assert.strictEqual((yield* consumer({ path, headers: { ...part, ...bearer } })).status, 401)
      })
    )

    it.effect("is read by allowed origins alone, if the organization names some", () =>
      Effect.gen(function* () {
        const { consumer, guest } = yield* Usher
        const { experienceId } = yield* room(sale)
        const { accessToken } = yield* guest()
        yield* brand("PUT", "/organizations/me", { allowedOrigins: [shopOrigin] })
        const seenFrom = (origin: string) =>
          Effect.map(
            consumer({
              path: `/e/${experienceId}/place`,
              headers: { ...part, origin, authorization: `Bearer ${accessToken}` }
            }),
            ({ headers }) => headers["access-control-allow-origin"]
          )
        assert.strictEqual(yield* seenFrom(shopOrigin), shopOrigin)
        assert.isUndefined(yield* seenFrom("https://evil.example.com"))
        yield* brand("PUT", "/organizations/me", { allowedOrigins: [] })
      })
    )
  })

  it.effect("completes the grant once", () =>
    Effect.gen(function* () {
      const { experienceId, sequence } = yield* room(sale)
      const store = (yield* client()).experience(experienceId)
      const { session } = yield* Effect.promise(() => store.act("enter"))
      const path = `/timed-releases/${sequence.timedReleases[0].id}/complete`
      const order = { consumerId: session!.consumerId, redemptionId: "order-1" }
      assert.strictEqual((yield* asBrandServer("POST", path, order)).status, "COMPLETED")
    })
  )
})
