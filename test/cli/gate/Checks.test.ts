import { assert, describe, it } from "@effect/vitest"
import type { Settled } from "../../../src/client/gate.ts"
import { answerOf, askingOf, requestOf } from "../../../src/cli/gate/Checks.ts"

const sent = (headers: { readonly [name: string]: string }, url = "/auth-request", method = "GET") => ({
  method,
  url,
  headers: { host: "gate.internal:4180", cookie: "a=1", ...headers }
})

describe("A proxy asks", () => {
  it("by its path, and a browser at any other", () => {
    const paths = [
      "/auth-request",
      "/forward-auth?x",
      "/ext-authz",
      "/ext-authz/cart?x",
      "/ext-authzzz",
      "/.usher/return"
    ]
    assert.deepStrictEqual(paths.map(askingOf), [
      "auth-request",
      "forward-auth",
      "ext-authz",
      "ext-authz",
      "direct",
      "direct"
    ])
  })

  it("about the request that nginx names", () => {
    const headers = { "x-original-uri": "/cart?x=1", "x-original-method": "POST", "x-forwarded-host": "shop.example" }
    const { method, target, headers: seen } = requestOf("auth-request", sent(headers))
    assert.deepStrictEqual([method, target, seen["host"], seen["cookie"]], ["POST", "/cart?x=1", "shop.example", "a=1"])
  })

  it("about the request that Caddy and Traefik name", () => {
    const headers = { "x-forwarded-uri": "/cart", "x-forwarded-method": "PUT", "x-forwarded-host": "shop.example" }
    const { method, target, headers: seen } = requestOf("forward-auth", sent(headers, "/forward-auth"))
    assert.deepStrictEqual([method, target, seen["host"]], ["PUT", "/cart", "shop.example"])
  })

  it("about the request itself behind Envoy's prefix", () => {
    const asked = (url: string) => requestOf("ext-authz", sent({ host: "shop.example" }, url, "DELETE"))
    const { method, target, headers } = asked("/ext-authz/cart?x=1")
    assert.deepStrictEqual([method, target, headers["host"]], ["DELETE", "/cart?x=1", "shop.example"])
    assert.strictEqual(asked("/ext-authz").target, "/")
  })
})

describe("A proxy is told", () => {
  it("yes, in the way it understands, with the cookie", () => {
    const pass = { kind: "pass", cookie: "c=1" } as const
    assert.deepInclude(answerOf("auth-request", pass), { status: 204 })
    assert.deepInclude(answerOf("forward-auth", pass), { status: 204 })
    assert.deepInclude(answerOf("ext-authz", pass), { status: 200 })
    assert.strictEqual(answerOf("auth-request", pass).headers["set-cookie"], "c=1")
    assert.notProperty(answerOf("auth-request", { kind: "pass" }).headers, "set-cookie")
  })

  it("where the room is: nginx by a 401, the others by a redirect", () => {
    const room = { kind: "room", location: "https://usher.example/e/1" } as const
    for (const [asking, status] of [
      ["auth-request", 401],
      ["forward-auth", 303],
      ["ext-authz", 303]
    ] as const) {
      const answer = answerOf(asking, room)
      assert.deepStrictEqual([answer.status, answer.headers["location"]], [status, room.location])
    }
  })

  it("that a program has to wait, and that the gate is closed; nginx by a 403 with the status in a header", () => {
    const wait = { kind: "wait", roomUrl: "https://usher.example/e/1", retryAfterSeconds: 10 } as const
    assert.deepInclude(answerOf("forward-auth", wait), { status: 429 })
    assert.deepStrictEqual(JSON.parse(answerOf("forward-auth", wait).body).roomUrl, wait.roomUrl)
    const toNginx = answerOf("auth-request", wait)
    assert.deepStrictEqual([toNginx.status, toNginx.headers["x-usher-status"]], [403, "429"])
    const closed = answerOf("ext-authz", { kind: "closed", retryAfterSeconds: 5 })
    assert.deepStrictEqual([closed.status, closed.headers["retry-after"]], [503, "5"])
    assert.include(closed.body, 'http-equiv="refresh" content="5"')
  })

  it("nothing that a cache may keep", () => {
    const decisions: ReadonlyArray<Settled> = [
      { kind: "pass" },
      { kind: "room", location: "/" },
      { kind: "return", location: "/" },
      { kind: "closed", retryAfterSeconds: 1 }
    ]
    for (const decision of decisions) {
      assert.strictEqual(answerOf("forward-auth", decision).headers["cache-control"], "no-store")
    }
  })
})
