/** The people of the dashboard on the Admin API. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { Admin, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const invite = Effect.fnUntraced(function* (email: string, body: object = {}) {
  const { call } = yield* Admin
  return yield* call("POST", "/people", { email, role: "viewer", ...body })
})

describe("People on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("are invited by a mail without a link, with their address in lower case", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { status, body } = yield* invite("Ann@Example.com", { name: "Ann", role: "admin" })
        assert.strictEqual(status, 201)
        assert.deepInclude(body, { email: "ann@example.com", name: "Ann", role: "admin", lastSignInAt: null })
        const read = Effect.map(call("GET", "/outbox?to=ann@example.com"), ({ body }) => body.data)
        const [mail] = yield* Effect.repeat(read, {
          until: ({ length }) => length > 0,
          schedule: Schedule.spaced("5 millis")
        })
        assert.include(mail.text, "as admin")
        assert.notInclude(mail.text, "http")
      })
    )

    it.effect("have one address each, until they are removed", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { body: first } = yield* invite("ben@example.com")
        const again = yield* invite("BEN@example.com")
        assert.deepInclude(again, { status: 409 })
        assert.strictEqual(again.body.code, "EMAIL_TAKEN")
        assert.strictEqual((yield* call("DELETE", `/people/${first.id}`)).body.archived, true)
        assert.strictEqual((yield* invite("ben@example.com")).status, 201)
        const restored = yield* call("POST", `/people/${first.id}/restore`)
        assert.deepInclude(restored, { status: 409 })
        assert.strictEqual(restored.body.code, "EMAIL_TAKEN")
      })
    )

    it.effect("have one mailbox each, in whatever spelling, and are found by each", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { body } = yield* invite("Emil@xn--bcher-kva.example")
        assert.strictEqual(body.email, "emil@bücher.example")
        for (const spelling of ["emil@bücher.example", "EMIL@BU\u0308CHER.example", "ｅｍｉｌ@bücher。example"])
          assert.deepInclude((yield* invite(spelling)).body, { code: "EMAIL_TAKEN" })
        for (const search of ["xn--bcher-kva", "BÜCHER", "bu\u0308cher"]) {
          const { data } = (yield* call("GET", `/people?search=${encodeURIComponent(search)}`)).body
          assert.deepStrictEqual(
            data.map(({ id }: { readonly id: string }) => id),
            [body.id]
          )
        }
      })
    )

    it.effect("refuse unknown roles and addresses, and never change their address", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        assert.deepStrictEqual(issuesOf(yield* invite("carla")), ["email: email"])
        assert.deepStrictEqual(issuesOf(yield* invite("carla@example.com", { role: "root" })), ["role: picklist"])
        const { body } = yield* invite("carla@example.com", { name: "Carla" })
        const changed = yield* call("PUT", `/people/${body.id}`, {
          email: "d@example.com",
          name: null,
          role: "operator"
        })
        assert.deepInclude(changed.body, { email: "carla@example.com", name: null, role: "operator" })
      })
    )
  })
})
