/** Whose requests a room takes, and what its session is good for. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { IpNetwork } from "effect/net"
import { asConsumer, asServer, layerWith, Usher } from "../../http/support/usherFixture.ts"
import { openStream } from "../../http/support/eventStream.ts"
import { movableClock } from "../../support/movableClock.ts"
import * as Fixture from "../support/roomFixture.ts"

const { formOf, textOf } = Fixture
const clock = movableClock()
const queues = [{ name: "Front door", admitRate: 0 }]
const proxied = layerWith({ trustedProxies: [IpNetwork.fromStringUnsafe("127.0.0.0/8")] })

/** Headers as a proxy adds them to a request over TLS. */
const overTls = { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" }

describe("A room", () => {
  layer(proxied.pipe(Layer.provide(clock.layer)), { excludeTestServices: true })((it) => {
    it.effect("takes forms of its own pages alone", () =>
      Effect.gen(function* () {
        const room = yield* Fixture.room({ queues })
        const { action, fields } = formOf(yield* room.get(""), "Join the queue")
        const host = new URL((yield* Usher).consumerUrl).host
        const foreign = [
          {},
          { "sec-fetch-site": "cross-site" },
          { "sec-fetch-site": "same-site" },
          { "sec-fetch-site": "none" },
          { "sec-fetch-site": "cross-site", origin: `http://${host}` },
          { origin: "null" },
          { origin: `https://${host}` },
          { origin: "http://127.0.0.1:1" },
          { origin: "https://evil.example" }
        ]
        for (const headers of foreign) {
          const answer = yield* room.post(action, fields, headers)
          assert.strictEqual(answer.status, 403, JSON.stringify(headers))
          assert.include(textOf(answer), "This request came from another site.")
          assert.isUndefined(answer.headers["set-cookie"])
        }
        assert.strictEqual((yield* room.post(action, fields, { origin: `http://${host}` })).status, 303)
        assert.strictEqual((yield* room.post(action, fields, { "sec-fetch-site": "same-origin" })).status, 303)
        assert.strictEqual((yield* room.post("steal", fields)).status, 404)
        const json = { "sec-fetch-site": "same-origin", "content-type": "application/json" }
        assert.strictEqual((yield* room.post(action, fields, json)).status, 400)
      })
    )

    it.effect("keeps its session where no script can read it, and only over TLS where there is TLS", () =>
      Effect.gen(function* () {
        const { brand } = yield* Usher
        const room = yield* Fixture.room({ queues })
        const { action, fields } = formOf(yield* room.get(""), "Join the queue")
        const plain = yield* room.post(action, fields)
        const lines = (answer: typeof plain) => (answer.headers["set-cookie"] ?? []) as unknown as ReadonlyArray<string>
        const [session, here] = lines(plain)
        assert.match(
          session!,
          new RegExp(`^usher-${brand.organizationId}=[\\w.-]+; Max-Age=86400; Path=/; HttpOnly; SameSite=Lax$`)
        )
        assert.strictEqual(here, "usher-here=1; Max-Age=86400; Path=/; SameSite=Lax")
        const secure = yield* (yield* Fixture.visitor(room.experienceId)).post(action, fields, {
          ...overTls,
          "sec-fetch-site": "same-origin"
        })
        assert.match(
          lines(secure)[0]!,
          new RegExp(`^__Host-usher-${brand.organizationId}=.*; Path=/; HttpOnly; Secure; SameSite=Lax$`)
        )
        assert.match(lines(secure)[1]!, /^usher-here=1; .*; Secure; SameSite=Lax$/)
        const place = yield* room.get("place")
        assert.strictEqual(place.headers["cache-control"], "no-store")
        assert.strictEqual(place.headers["referrer-policy"], "same-origin")
        assert.isUndefined(place.headers["access-control-allow-origin"])
      })
    )

    it.effect("has a token that the API never takes, and that ends with its session", () =>
      Effect.gen(function* () {
        const { brand, consumer, admin } = yield* Usher
        const room = yield* Fixture.room({ queues })
        yield* room.submit(yield* room.get(""), "Join the queue")
        const token = room.cookies.get(`usher-${brand.organizationId}`)!
        const asApi = yield* consumer({ path: "/api/consumers/me", headers: asConsumer(brand.publishableKey, token) })
        assert.strictEqual(asApi.status, 401)
        const { consumerId } = JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString())
        const asServerOf = asServer(brand.secretKey, consumerId)
        yield* consumer({ method: "DELETE", path: "/api/consumers/me/sessions", headers: asServerOf })
        assert.notInclude(textOf(yield* room.get("place")), "You are in line")
        // The memory of an ended session must last as long as the token.
        yield* clock.putForward(2 * 3_600_000)
        assert.notInclude(textOf(yield* room.get("place")), "You are in line")
        assert.isTrue(
          (yield* admin({ path: `/api/consumers/${consumerId}`, headers: asServer(brand.secretKey) })).status === 200
        )
      })
    )

    it.effect("renews the session while it is used, and lets it end after a day without use", () =>
      Effect.gen(function* () {
        const { brand } = yield* Usher
        const room = yield* Fixture.room({ queues })
        yield* room.submit(yield* room.get(""), "Join the queue")
        const name = `usher-${brand.organizationId}`
        const first = room.cookies.get(name)
        assert.isUndefined((yield* room.get("place")).headers["set-cookie"])
        for (let hours = 0; hours < 30; hours += 5) {
          yield* clock.putForward(5 * 3_600_000)
          assert.include(textOf(yield* room.get("place")), "You are in line")
        }
        assert.notStrictEqual(room.cookies.get(name), first)
        yield* clock.putForward(25 * 3_600_000)
        assert.notInclude(textOf(yield* room.get("place")), "You are in line")
      })
    )

    it.effect("takes no session of another organization, and no token of another kind", () =>
      Effect.gen(function* () {
        const { brand, guest } = yield* Usher
        const room = yield* Fixture.room({ queues })
        yield* room.submit(yield* room.get(""), "Join the queue")
        const other = yield* Fixture.room({ queues })
        const { accessToken, refreshToken } = yield* guest()
        for (const token of [accessToken, refreshToken, "x", "a.b.c"]) {
          other.cookies.set(`usher-${brand.organizationId}`, token)
          assert.include(textOf(yield* other.get("place")), "Join the queue")
          assert.deepStrictEqual((yield* other.get("state")).body.places, [])
        }
      })
    )

    it.effect("leads to allowed shops only, and keeps the way back through every step", () =>
      Effect.gen(function* () {
        yield* Fixture.brand("PUT", "/organizations/me", { allowedOrigins: ["https://shop.example"] })
        yield* clock.putForward(6_000)
        const room = yield* Fixture.room({ queues: [{ name: "Front door", admitRate: 60 }] })
        const back = "https://shop.example/checkout?a=1"
        yield* room.submit(yield* room.get(`?return=${encodeURIComponent(back)}`), "Join the queue")
        yield* clock.putForward(2_000)
        yield* room.sees("It is your turn")
        const place = yield* room.get(`place?return=${encodeURIComponent(back)}`)
        assert.strictEqual(formOf(place, "Continue to the shop").action, back)
        assert.include(formOf(place, "Give up my place").action, encodeURIComponent(back))
        for (const target of [
          "https://evil.example/",
          "https://shop.example.evil.example",
          "javascript:alert(1)",
          "//evil.example"
        ]) {
          const refused = yield* room.get(`place?return=${encodeURIComponent(target)}`)
          assert.include(textOf(refused), "Go back to the shop to complete your purchase.")
          assert.notInclude(refused.text, "evil")
          assert.notInclude(refused.headers["content-security-policy"], "evil")
        }
        yield* Fixture.brand("PUT", "/organizations/me", { allowedOrigins: [] })
      })
    )

    it.effect("tells a script the visitor's places without a grant, and streams their changes", () =>
      Effect.gen(function* () {
        const { consumerUrl } = yield* Usher
        const room = yield* Fixture.room({ queues })
        yield* room.submit(yield* room.get(""), "Join the queue")
        const [queue] = room.sequence.queues
        const state = yield* room.get("state")
        assert.deepInclude(state.body.places[0], { id: queue.id, kind: "queue", status: "QUEUED", position: 1 })
        assert.approximately(Date.parse(state.body.now), clock.now(), 60_000)
        const cookie = [...room.cookies].map(([key, value]) => `${key}=${value}`).join("; ")
        const path = `/e/${room.experienceId}/live?of=queue.${queue.id}`
        const stream = yield* openStream(consumerUrl, path, { cookie })
        assert.deepInclude((yield* stream.next).data, { status: "QUEUED", position: 1 })
        yield* Fixture.asBrandServer("POST", `/queues/${queue.id}/admit`, { count: 1 })
        assert.strictEqual((yield* stream.next).data.status, "GRANTED")
        yield* stream.leave
        const granted = yield* room.get("state")
        assert.strictEqual(granted.body.places[0].status, "GRANTED")
        assert.notProperty(granted.body.places[0], "admissionGrant")
        assert.strictEqual((yield* openStream(consumerUrl, path, {})).status, 401)
      })
    )

    it.effect("shows protected sequences after their access code, and refuses a wrong one", () =>
      Effect.gen(function* () {
        const room = yield* Fixture.room({ queues }, { accessCode: "sesame-open" })
        const closed = yield* room.get("place")
        assert.include(textOf(closed), "Some parts are only for invited guests.")
        const screen = yield* room.get("place?show=access-code")
        const wrong = yield* room.submit(screen, "Unlock", { code: "sesame-shut" })
        assert.strictEqual(wrong.status, 403)
        assert.include(textOf(wrong), "This access code is not valid here.")
        const open = yield* room.submit(wrong, "Unlock", { code: "sesame-open" })
        assert.include(textOf(yield* room.submit(open, "Join the queue")), "You are in line")
      })
    )

    it.effect("leads a guest that the mechanism refuses to the sign-in", () =>
      Effect.gen(function* () {
        const room = yield* Fixture.room({ queues: [{ ...queues[0], supportsGuest: false }] })
        const page = yield* room.get("")
        assert.include(textOf(page), "Please sign in to take part.")
        const refused = yield* room.post("enter", { at: room.sequence.queues[0].id })
        assert.strictEqual(refused.status, 403)
        assert.include(textOf(refused), "Please sign in to take part.")
        const sent = yield* room.submit(yield* room.get("place?show=sign-in"), "Send a code", {
          email: "eve@example.com"
        })
        const signedIn = yield* room.submit(sent, "Sign in", { code: yield* Fixture.mailedCode("eve@example.com") })
        assert.include(textOf(yield* room.submit(signedIn, "Join the queue")), "You are in line")
      })
    )

    it.effect("answers a lost action again, and the address of an action with the place", () =>
      Effect.gen(function* () {
        const room = yield* Fixture.room({ queues })
        const { action, fields } = formOf(yield* room.get(""), "Join the queue")
        yield* room.post(action, fields)
        const again = yield* room.post(action, fields, {
          "sec-fetch-site": "same-origin",
          accept: "text/html;part=room"
        })
        assert.include(textOf(again), "You are in line")
        assert.isTrue(again.text.startsWith("<div data-statuses"))
        const reloaded = yield* room.get("enter")
        assert.deepStrictEqual([reloaded.status, reloaded.headers["location"]], [303, `/e/${room.experienceId}/place`])
        assert.strictEqual((yield* room.post("enter", { at: room.experienceId })).status, 404)
      })
    )
  })
})
