/** The screens of an organization that has nothing yet: each says the next step. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Organizations } from "../../../src/auth/keys/Organizations.ts"
import { routesOf } from "../../../src/pages/dashboard/Routes.ts"
import { operator } from "../support/operatorFixture.ts"
import { layer as usher, textOf } from "../support/roomFixture.ts"

const routes = routesOf({} as Parameters<typeof routesOf>[0])

/** Screens on which an empty list is as it should be. */
const quiet = new Set(["/system"])

layer(usher, { excludeTestServices: true })("An empty screen of the dashboard", (it) => {
  it.effect("says what to do next, by a second sentence or a link", () =>
    Effect.gen(function* () {
      const { secretKey } = yield* (yield* Organizations).create({ name: "Newcomer", plan: "growth" })
      const { get, signIn } = yield* operator
      yield* signIn(secretKey)
      let empties = 0
      for (const { method, path } of routes) {
        if (method === "POST" || path.includes(":") || quiet.has(path)) continue
        const { text, status } = yield* get(`/dashboard${path}`)
        assert.strictEqual(status, 200, path)
        for (const [, empty] of text.matchAll(/<p class="(?:muted|lead)">([^]*?)<\/p>/g)) {
          const said = textOf({ text: empty! } as never)
          if (!/^(No|Nothing|Nobody|There is no)\b/.test(said)) continue
          empties++
          assert.isTrue(
            /[.?] \S/.test(said) || empty!.includes("<a ") || text.includes('class="button"'),
            `${path}: ${said}`
          )
        }
      }
      assert.isAbove(empties, 6)
    })
  )
})
