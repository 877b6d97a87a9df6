/** The search of everything, from the rail of each screen. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Usher } from "../../http/support/usherFixture.ts"
import { operator } from "../support/operatorFixture.ts"
import { brand, layer as usher, room, textOf, unescaped } from "../support/roomFixture.ts"

/** Somebody who is signed in. */
const signedIn = Effect.gen(function* () {
  const browser = yield* operator
  yield* browser.signIn((yield* Usher).brand.secretKey)
  return browser
})

layer(usher, { excludeTestServices: true })("The search of the dashboard", (it) => {
  it.effect("is a form of every screen, and finds drops, consumers, products and orders", () =>
    Effect.gen(function* () {
      const { get } = yield* signedIn
      const { experienceId } = yield* room({ queues: [{ name: "Line", admitRate: 0 }] }, { name: "Quasar night" })
      const consumer = yield* brand("POST", "/consumers", { email: "quasar@example.com" })
      const product = yield* brand("POST", "/products", { name: "Quasar boot" })
      const order = yield* brand("POST", "/orders", {
        consumerId: consumer.id,
        number: "QUASAR-1",
        total: "1",
        items: []
      })
      for (const path of ["", "/orders", `/experiences/${experienceId}`]) {
        const { text } = yield* get(`/dashboard${path}`)
        assert.match(text, /<form action="\/dashboard\/search" role="search"[^>]*>\s*<input\s+name="search"/)
      }
      const found = yield* get("/dashboard/search?search=+quasar")
      assert.include(textOf(found), "Results for “quasar”")
      for (const path of [
        `/experiences/${experienceId}`,
        `/consumers/${consumer.id}`,
        `/catalogue/${product.id}`,
        `/orders/${order.id}`
      ]) {
        assert.include(found.text, `href="/dashboard${path}"`)
      }
      assert.notInclude(found.text, "Show all<")
    })
  )

  it.effect("shows the first results of each list, leads to the others, and names a guest by four letters", () =>
    Effect.gen(function* () {
      const { get } = yield* signedIn
      for (let n = 0; n < 11; n++) yield* brand("POST", "/products", { name: `Pulsar ${n}` })
      const found = yield* get("/dashboard/search?search=pulsar")
      assert.lengthOf(found.text.match(/href="\/dashboard\/catalogue\/[0-9a-f]/g)!, 10)
      const more = unescaped(/href="(\/dashboard\/catalogue\?[^"]*)"/.exec(found.text)![1]!)
      assert.lengthOf((yield* get(more)).text.match(/href="\/dashboard\/catalogue\/[0-9a-f]{8}/g)!, 11)

      const { guest } = yield* Usher
      const { consumerId } = yield* guest()
      const named = textOf(yield* get(`/dashboard/search?search=${consumerId}`))
      assert.include(named, `Guest ${consumerId.slice(-4).toUpperCase()}`)
    })
  )

  it.effect("says what to do where nothing is found, and finds nothing of another organization", () =>
    Effect.gen(function* () {
      const { get } = yield* signedIn
      yield* room({ queues: [{ name: "Line", admitRate: 0 }] }, { name: "Nebula" })
      const nothing = textOf(yield* get("/dashboard/search?search=nowhere-at-all"))
      for (const said of [
        "No drop has this name. Show all drops",
        "Show the audience",
        "Show the catalogue",
        "Show all orders"
      ]) {
        assert.include(nothing, said)
      }
      for (const short of ["", "?search=", "?search=%20a", "?search=%F0%9F%8E%9F"]) {
        assert.include(textOf(yield* get(`/dashboard/search${short}`)), "Type at least 2 characters")
      }
      const hostile = yield* get(`/dashboard/search?search=${encodeURIComponent("<b>&%_\\" + "x".repeat(1_000))}`)
      assert.strictEqual(hostile.status, 200)
      assert.notInclude(hostile.text, "<b>")
      const stranger = yield* operator
      yield* stranger.signIn((yield* Usher).stranger.secretKey)
      assert.include(textOf(yield* stranger.get("/dashboard/search?search=nebula")), "No drop has this name.")
      assert.strictEqual((yield* (yield* operator).get("/dashboard/search?search=nebula")).status, 303)
    })
  )
})
