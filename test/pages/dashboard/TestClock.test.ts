/** Pages say that a test clock shows the time. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { asServer, layer as usher, Usher } from "../../http/support/usherFixture.ts"
import { operator } from "../support/operatorFixture.ts"

describe("Pages of test mode with a test clock", () => {
  layer(usher, { excludeTestServices: true })((it) => {
    it.effect("say so with its time: rooms and the dashboard, and none of live mode", () =>
      Effect.gen(function* () {
        const { admin, brand, consumer } = yield* Usher
        const ask = (method: string, path: string, key: string, body?: object) =>
          Effect.map(admin({ method, path: `/api${path}`, headers: asServer(key), body }), (answer) => answer.body)
        const pages = Effect.fnUntraced(function* (key: string) {
          const { id } = yield* ask("POST", "/experiences", key, { name: "Drop" })
          const room = yield* consumer({ path: `/e/${id}` })
          const browser = yield* operator
          yield* browser.signIn(key)
          return [room, yield* browser.get("/dashboard"), yield* browser.get(`/dashboard/experiences/${id}`)]
        })
        const notes = ({ text }: { readonly text: string }) =>
          (/<p class="clock"[^>]*>([^]*?)<\/p>/.exec(text) ?? [])[1]
        for (const page of yield* pages(brand.testSecretKey)) assert.isUndefined(notes(page))
        yield* ask("PUT", "/test-clock", brand.testSecretKey, { frozenAt: "2033-05-06T07:08:09Z" })
        const [room, home, drop] = yield* pages(brand.testSecretKey)
        assert.match(notes(room!)!, /test clock shows .*May 6/)
        for (const page of [home!, drop!]) assert.match(notes(page)!, /2033-05-06 07:08:09 UTC/)
        for (const page of yield* pages(brand.secretKey)) assert.isUndefined(notes(page))
        yield* ask("POST", "/test-clock/advance", brand.testSecretKey, { by: 60 })
        const [, advancing] = yield* pages(brand.testSecretKey)
        assert.match(notes(advancing!)!, /goes on to 2033-05-06 07:09:09 UTC/)
      })
    )
  })
})
