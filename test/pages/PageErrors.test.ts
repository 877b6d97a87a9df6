/** What a browser gets where a listener has no page for it. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type Answer, Usher } from "../http/support/usherFixture.ts"
import { operator } from "./support/operatorFixture.ts"
import { layer as usher, room, textOf } from "./support/roomFixture.ts"

const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

/** A form that is larger than any that a page has. */
const tooLarge = `name=${"x".repeat(1_100_000)}`

/** Fails unless the answer is a page with this text, which no other site can read. */
const isPage = (answer: Answer, status: number, text: string, what: string) => {
  assert.strictEqual(answer.status, status, what)
  assert.strictEqual(answer.headers["content-type"], "text/html; charset=utf-8", `${what}: ${answer.text}`)
  assert.include(answer.headers["content-security-policy"], "default-src 'none'", what)
  assert.isUndefined(answer.headers["access-control-allow-origin"], what)
  assert.include(textOf(answer), text, what)
  assert.match(answer.headers["x-request-id"] ?? "", /./, what)
}

layer(usher, { excludeTestServices: true })("A browser", (it) => {
  it.effect("is told in words of an address that is unknown, or that takes another method", () =>
    Effect.gen(function* () {
      const { admin, consumer } = yield* Usher
      const { experienceId } = yield* room({ queues: [{ name: "Line", admitRate: 0 }] })
      for (const path of ["/nothing", "/e", `/e/${experienceId}/a/b`]) {
        isPage(yield* consumer({ path, headers: { accept } }), 404, "Page not found", path)
      }
      const german = { accept, "accept-language": "de" }
      isPage(yield* consumer({ path: "/nothing", headers: german }), 404, "Seite nicht gefunden", "in German")
      const put = yield* consumer({ method: "PUT", path: `/e/${experienceId}`, headers: { accept } })
      isPage(put, 405, "Page not found", "PUT of a room")
      assert.strictEqual(put.headers["allow"], "HEAD, GET")
      for (const path of ["/nothing", "/dashboard/nothing", "/dashboard/consumers/a/b/c"]) {
        isPage(yield* admin({ path, headers: { accept } }), 404, "Back to the dashboard", path)
      }
      for (const [method, path] of [
        ["POST", "/dashboard/audit-log"],
        ["PUT", "/dashboard"]
      ] as const) {
        const answer = yield* admin({ method, path, headers: { accept } })
        isPage(answer, 405, "part of another screen", `${method} ${path}`)
        assert.match(answer.headers["allow"]!, /GET|POST/)
      }
    })
  )

  it.effect("is told in words of a failure and of a form that is too large, and programs are told in JSON", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { admin, brand, consumer } = yield* Usher
      const staff = yield* operator
      yield* staff.signIn(brand.secretKey)
      const { experienceId } = yield* room({ queues: [{ name: "Line", admitRate: 0 }] })
      const page = { "sec-fetch-site": "same-origin", accept }
      const form = { ...page, "content-type": "application/x-www-form-urlencoded" }
      for (const { path, call } of [
        { path: "/dashboard/sign-in", call: admin },
        { path: `/e/${experienceId}/enter`, call: consumer }
      ]) {
        const answer = yield* call({ method: "POST", path, headers: form, body: tooLarge })
        assert.include([400, 413], answer.status, path)
        assert.include(answer.headers["content-type"], "text/html", path)
      }
      yield* sql`alter table orders rename to orders_moved`
      yield* sql`alter table experience_pages rename to pages_moved`
      isPage(yield* staff.send("GET", "/dashboard/orders", undefined, page), 500, "Something went wrong", "orders")
      assert.deepStrictEqual((yield* staff.send("GET", "/dashboard/orders")).body, { error: "Internal server error" })
      const shown = yield* consumer({ path: `/e/${experienceId}/a-page`, headers: { accept, "accept-language": "fr" } })
      isPage(shown, 500, "Réessayez dans 20 secondes", "room")
      yield* sql`alter table pages_moved rename to experience_pages`
      yield* sql`alter table orders_moved rename to orders`
    })
  )

  it.effect("is led to the sign-in by a form whose session has ended, and told that nothing was changed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { brand } = yield* Usher
      const { get, send, signIn } = yield* operator
      yield* signIn(brand.secretKey)
      yield* sql`update operator_sessions set expires_at = now() - interval '1 second'`
      const answer = yield* send("POST", "/dashboard/new", { name: "Boots" })
      assert.strictEqual(answer.status, 303)
      assert.include(textOf(yield* get(answer.headers["location"]!)), "Your session has ended, so nothing was changed.")
    })
  )

  it.effect("finds the dashboard at the address of the Admin API, and at that of rooms what this is", () =>
    Effect.gen(function* () {
      const { admin, consumer } = yield* Usher
      const led = yield* admin({ path: "/", headers: { accept } })
      assert.deepStrictEqual([led.status, led.headers["location"]], [303, "/dashboard"])
      const shown = yield* consumer({ path: "/", headers: { accept } })
      isPage(shown, 200, "open the link from its organizer", "/")
      for (const call of [admin, consumer]) {
        for (const method of ["GET", "POST"]) {
          const answer = yield* call({ method, path: "/", headers: { accept: "*/*" } })
          assert.deepStrictEqual([answer.status, answer.body], [404, { error: "Not found" }])
        }
      }
    })
  )

  it.effect("is told in words that it asks too often", () =>
    Effect.gen(function* () {
      const { admin } = yield* Usher
      const ask = admin({ path: "/dashboard/sign-in", headers: { accept } })
      yield* Effect.all(
        Array.from({ length: 600 }, () => ask),
        { concurrency: 20, discard: true }
      )
      const answer = yield* ask
      isPage(answer, 429, "Too many requests came from your address.", "sign-in")
      assert.isAtLeast(Number(answer.headers["retry-after"]), 1)
      assert.strictEqual((yield* admin({ path: "/dashboard/sign-in" })).body.error, "Rate limit exceeded")
    })
  )
})
