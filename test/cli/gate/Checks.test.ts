import { assert, describe, it } from "@effect/vitest"
import type { Settled } from "../../../src/client/gate.ts"
import { answerOf, askingOf, requestOf } from "../../../src/cli/gate/Checks.ts"

const sent = (own: { readonly [name: string]: string }, url = "/auth-request", method = "GET") => {
  const headers: { readonly [name: string]: string } = { host: "gate.internal:4180", cookie: "a=1", ...own }
  return { method, url, headers, rawHeaders: Object.entries(headers).flat() }
}

/** The request, with these headers a second time. */
const twice = (request: ReturnType<typeof sent>, ...names: ReadonlyArray<string>) => ({
  ...request,
  headers: {
    ...request.headers,
    ...Object.fromEntries(names.map((name) => [name, `${request.headers[name]}, /other`]))
  },
  rawHeaders: [...request.rawHeaders, ...names.flatMap((name) => [name.toUpperCase(), "/other"])]
})

const byNginx = { "x-original-uri": "/cart?x=1", "x-original-method": "POST", "x-forwarded-host": "shop.example" }
const byCaddy = { "x-forwarded-uri": "/cart", "x-forwarded-method": "PUT", "x-forwarded-host": "shop.example" }

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
    const { method, target, headers: seen } = requestOf("auth-request", sent(byNginx))!
    assert.deepStrictEqual([method, target, seen["host"], seen["cookie"]], ["POST", "/cart?x=1", "shop.example", "a=1"])
  })

  it("about the request that Caddy and Traefik name", () => {
    const { method, target, headers: seen } = requestOf("forward-auth", sent(byCaddy, "/forward-auth"))!
    assert.deepStrictEqual([method, target, seen["host"]], ["PUT", "/cart", "shop.example"])
  })

  it("about the request itself behind Envoy's prefix", () => {
    const asked = (url: string) => requestOf("ext-authz", sent({ host: "shop.example" }, url, "DELETE"))!
    const { method, target, headers } = asked("/ext-authz/cart?x=1")
    assert.deepStrictEqual([method, target, headers["host"]], ["DELETE", "/cart?x=1", "shop.example"])
    assert.strictEqual(asked("/ext-authz").target, "/")
  })

  it("about nothing if a header that names the request is missing, or there twice", () => {
    const asks = [
      ["auth-request", sent(byNginx)],
      ["forward-auth", sent(byCaddy, "/forward-auth")],
      ["ext-authz", sent({ host: "shop.example" }, "/ext-authz/cart")]
    ] as const
    for (const [asking, request] of asks) {
      assert.isDefined(requestOf(asking, request))
      const names = asking === "ext-authz" ? ["host"] : Object.keys(asking === "auth-request" ? byNginx : byCaddy)
      for (const name of names) {
        assert.isUndefined(requestOf(asking, twice(request, name)), `${asking} with two of ${name}`)
        const { [name]: _, ...others } = request.headers
        const without = { ...request, headers: others, rawHeaders: Object.entries(others).flat() }
        assert.isUndefined(requestOf(asking, without), `${asking} without ${name}`)
      }
    }
  })

  it("about nothing if what names the request cannot be one", () => {
    const targets = [
      "",
      "cart",
      "*",
      "/a b",
      "/a\tb",
      "/a\r\nX: y",
      "/a\0",
      "javascript:alert(1)",
      "ftp://shop.example/",
      " /cart"
    ]
    for (const target of targets) {
      assert.isUndefined(requestOf("auth-request", sent({ ...byNginx, "x-original-uri": target })), target)
    }
    for (const method of ["", "GET, POST", "GET POST", "G\nET", "x".repeat(31)]) {
      assert.isUndefined(requestOf("auth-request", sent({ ...byNginx, "x-original-method": method })), method)
    }
    assert.isUndefined(requestOf("auth-request", sent({ ...byNginx, "x-forwarded-host": "" })))
  })

  it("without believing the headers of another kind of proxy", () => {
    const { target } = requestOf(
      "auth-request",
      sent({ ...byNginx, "x-forwarded-uri": "/free", "x-rewrite-url": "/free" })
    )!
    assert.strictEqual(target, "/cart?x=1")
    const { headers } = requestOf("ext-authz", sent({ ...byNginx, host: "a.example" }, "/ext-authz/cart"))!
    assert.strictEqual(headers["host"], "a.example")
  })

  it("with the visitor's address in the header that the operator names: the last one, which its own proxy has added", () => {
    const addressIn = (value: string | undefined, clientAddressHeader = "x-real-ip") => {
      const headers = value === undefined ? byNginx : { ...byNginx, "x-real-ip": value }
      return requestOf("auth-request", sent(headers), { clientAddressHeader })?.clientAddress
    }
    assert.strictEqual(addressIn("203.0.113.7"), "203.0.113.7")
    assert.strictEqual(addressIn("10.0.0.1, 203.0.113.7"), "203.0.113.7")
    assert.strictEqual(addressIn("2001:db8::7"), "2001:db8::7")
    for (const wrong of [undefined, "", "unknown", "203.0.113.7:443", "203.0.113.7, ", "203.0.113.7, evil", "[::1]"]) {
      assert.isUndefined(addressIn(wrong), wrong)
    }
    const request = sent({ ...byNginx, "x-real-ip": "203.0.113.7" })
    const reading = { clientAddressHeader: "x-real-ip" }
    assert.isUndefined(requestOf("auth-request", twice(request, "x-real-ip"), reading))
    assert.notProperty(requestOf("auth-request", request)!, "clientAddress")
  })
})

describe("A proxy is told", () => {
  it("yes, in the way it understands, with the cookie", () => {
    const pass = { kind: "pass", cookie: "c=1" } as const
    assert.deepInclude(answerOf("auth-request", pass), { status: 204 })
    assert.deepInclude(answerOf("forward-auth", pass), { status: 204 })
    assert.deepInclude(answerOf("ext-authz", pass), { status: 200 })
    assert.deepStrictEqual(answerOf("auth-request", pass).cookies, ["c=1"])
    assert.deepStrictEqual(answerOf("auth-request", { kind: "pass" }).cookies, [])
  })

  it("where the room is: nginx by a 401, the others by a redirect", () => {
    const room = { kind: "room", location: "https://usher.example/e/1", cookie: "s=1" } as const
    for (const [asking, status] of [
      ["auth-request", 401],
      ["forward-auth", 303],
      ["ext-authz", 303]
    ] as const) {
      const answer = answerOf(asking, room)
      assert.deepStrictEqual(
        [answer.status, answer.headers["location"], answer.cookies],
        [status, room.location, ["s=1"]]
      )
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
      { kind: "room", location: "/", cookie: "s=1" },
      { kind: "return", location: "/" },
      { kind: "closed", retryAfterSeconds: 1 }
    ]
    for (const decision of decisions) {
      assert.strictEqual(answerOf("forward-auth", decision).headers["cache-control"], "no-store")
    }
  })
})
