/** The issue of a malformed header shows no other header: they hold cookies, keys and addresses. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { asServer, type Call, layer as usher, Usher } from "../support/usherFixture.ts"

/** Headers of a request that nobody but its reader may see. */
const hidden = {
  cookie: "shop-session=canary-cookie",
  "x-challenge-solution": "canary-solution",
  "x-forwarded-client-cert": "canary-certificate",
  "x-shop-login": "canary-login",
  "user-agent": "canary-browser",
  referer: "https://shop.example/canary-referrer"
}

/** Values that are no idempotency key. */
const malformed = ["short", "not-a-uuid-canary-key", "{}", "a b", "0".repeat(400), "\u00e9"]

describe("A malformed Idempotency-Key", () => {
  layer(usher, { excludeTestServices: true })((it) => {
    const operations: ReadonlyArray<readonly [name: string, api: "consumer" | "admin", call: Call]> = [
      ["a guest", "consumer", { method: "POST", path: "/api/auth/guest" }],
      ["a refresh", "consumer", { method: "POST", path: "/api/auth/refresh", body: { refreshToken: "canary-token" } }],
      ["a change of the Admin API", "admin", { method: "POST", path: "/api/products", body: { name: "Sneaker" } }]
    ]
    for (const [name, api, call] of operations) {
      it.effect(`of ${name} answers with no header's value`, () =>
        Effect.gen(function* () {
          const usher = yield* Usher
          const { publishableKey, secretKey } = usher.brand
          const credential = api === "admin" ? asServer(secretKey) : { "x-publishable-key": publishableKey }
          let refused = 0
          for (const key of malformed) {
            const headers = { ...credential, ...hidden, "idempotency-key": key }
            const { status, text, body } = yield* usher[api]({ ...call, headers })
            if (status !== 400) continue
            refused++
            assert.notInclude(text, "canary", key)
            assert.notInclude(text, publishableKey)
            assert.notInclude(text, secretKey)
            for (const { path } of body.issues)
              for (const { input } of path) assert.deepStrictEqual(Object.keys(input), ["idempotency-key"], key)
          }
          assert.isAtLeast(refused, api === "admin" ? 2 : 4)
        })
      )
    }
  })
})
