/** What attackers send to `usher gate` and through it, over real sockets. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { serve } from "../../../src/cli/gate/GateServer.ts"
import { hostile } from "../../client/gates/returnCases.ts"
import { aGate } from "../../http/support/gateFixture.ts"
import { layer as usherLayer, Usher } from "../../http/support/usherFixture.ts"

/** `usher gate` in front of a real Usher, and what reaches its socket. */
const aGateInTheField = Effect.fnUntraced(function* (
  options: { readonly clientAddressHeader?: string } = {},
  queueSettings: object = {}
) {
  const gate = yield* aGate({}, queueSettings)
  const { consumerUrl } = yield* Usher
  const { id: gateId, key } = gate
  const address = { url: consumerUrl, gateId, key: Redacted.make(key), host: "127.0.0.1", port: 0 }
  const { url } = yield* serve({ ...address, patienceMillis: 10_000, ...options })
  const port = Number(new URL(url).port)
  /** Sends these bytes, and returns the answers. */
  const sent = (request: string) =>
    Effect.promise(() => {
      const socket = connect(port, "127.0.0.1")
      socket.write(request, "latin1")
      return text(socket)
    })
  const inside = Effect.map(gate.byBrand("GET", `/distributions/${gate.queueId}/live`), ({ body }) => body.inside)
  return { ...gate, sent, inside }
})

const named = [
  "X-Original-URI: /checkout",
  "X-Original-Method: GET",
  "X-Forwarded-Host: shop.example",
  "Accept: text/html"
]

const asked = (headers: ReadonlyArray<string>, target = "/auth-request", more = "") =>
  [`GET ${target} HTTP/1.1`, "Host: gate", "Connection: close", ...headers, "", more].join("\r\n")

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)

const locationsIn = (answer: string) => [...answer.matchAll(/^location: (.*?)\r?$/gim)].map(([, location]) => location!)

const replaced = (header: string) => named.map((one) => (one.startsWith(header.split(":")[0]!) ? header : one))

describe("usher gate under attack", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    it.effect("refuses requests in which what names the request is missing, there twice, or none", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { sent, inside } = yield* aGateInTheField()
          assert.strictEqual(statusOf(yield* sent(asked(named))), 204)
          const spoofed = [
            ...[0, 1, 2].map((missing) => named.filter((_, index) => index !== missing)),
            [...named, "X-Original-URI: /assets/a.css"],
            ["x-original-uri: /assets/a.css", ...named],
            [...named, "X-ORIGINAL-METHOD: GET"],
            [...named, "X-Forwarded-Host: evil.example"],
            replaced("X-Original-URI: "),
            replaced("X-Original-URI: *"),
            replaced("X-Original-URI: /a /checkout"),
            replaced("X-Original-URI: javascript:alert(1)"),
            replaced("X-Original-Method: GET, POST"),
            // An origin may take it for the header with hyphens.
            [...named.slice(1), "X_Original_URI: /assets/a.css"]
          ]
          for (const headers of spoofed) {
            assert.strictEqual(statusOf(yield* sent(asked(headers))), 400, headers.join(" | "))
          }
          assert.strictEqual(statusOf(yield* sent(asked(["Host: shop.example"], "/ext-authz/checkout"))), 400)
          assert.strictEqual(yield* inside, 1)
        })
      )
    )

    it.effect("lets no second request through inside of a first one", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { sent } = yield* aGateInTheField()
          const hidden = "GET /health HTTP/1.1\r\nHost: gate\r\n\r\n"
          const lengths = (...headers: ReadonlyArray<string>) =>
            asked([...named, ...headers], "/auth-request", `0\r\n\r\n${hidden}`)
          const smuggled = [
            lengths("Content-Length: 4", "Transfer-Encoding: chunked"),
            lengths("Content-Length: 4", "Content-Length: 5"),
            lengths("Content-Length: 4, 5"),
            lengths("Content-Length: +4"),
            lengths("Content-Length: 0x4"),
            lengths("Transfer-Encoding: xchunked"),
            lengths("Transfer-Encoding: chunked, identity"),
            lengths("Transfer-Encoding : chunked"),
            lengths("Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
            asked(replaced("X-Original-URI: /checkout\rX: y")),
            asked(replaced("X-Original-URI: /checkout\0")),
            asked([...named, "Bad Header: x"]),
            asked([...named, ": x"])
          ]
          for (const request of smuggled) {
            const answer = yield* sent(request)
            assert.strictEqual(statusOf(answer), 400, JSON.stringify(request))
            assert.lengthOf(answer.match(/^HTTP\/1\.1 /gm)!, 1, JSON.stringify(request))
          }
        })
      )
    )

    it.effect("leads nobody to another site, whatever page it is asked to return to", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { sent, byGate, queueId } = yield* aGateInTheField({}, { admitRate: 60_000 })
          const { admissionGrant } = (yield* byGate(`/queues/${queueId}/pass`, { method: "POST", body: {} })).body
          const form = `usher_grant=${admissionGrant}`
          const state = "state-of-this-browser"
          assert.isAtLeast(hostile.length, 30)
          for (const to of hostile) {
            const headers = [
              "Host: shop.example",
              "Connection: close",
              `Cookie: __Host-usher-state=${state}`,
              "Content-Type: application/x-www-form-urlencoded",
              `Content-Length: ${form.length}`
            ]
            const target = `/.usher/return?to=${to.replaceAll(/[^!-~]/g, "+")}&state=${state}`
            const answer = yield* sent([`POST ${target} HTTP/1.1`, ...headers, "", form].join("\r\n"))
            assert.deepStrictEqual(locationsIn(answer), ["/"], to)
          }
        })
      )
    )

    it.effect("leads nobody back to another site, whatever page and host it is asked about", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { sent, id, queueId, byGate } = yield* aGateInTheField({}, { insideLimit: 1 })
          yield* sent(asked(named))
          const room = new URL((yield* byGate(`/gates/${id}`)).body.queues[queueId].roomUrl).origin
          const backOf = (headers: ReadonlyArray<string>) =>
            Effect.map(sent(asked(headers)), (answer) => {
              const { origin, searchParams } = new URL(locationsIn(answer)[0]!)
              assert.strictEqual(origin, room, headers.join(" | "))
              return new URL(searchParams.get("return")!)
            })
          const hosts = [
            "evil.example",
            "shop.example.evil.example",
            "shop.example@evil.example",
            "shop.example:80@evil.example",
            "shop.example/evil",
            "shop.example#evil",
            "shop.example?evil",
            "evil.example:443",
            "shop.example:port",
            "shop.example\\evil.example",
            "[::1]",
            "localhost",
            "127.0.0.1",
            "xn--80ak6aa92e.com"
          ]
          for (const host of hosts) {
            assert.strictEqual(
              (yield* backOf(replaced(`X-Forwarded-Host: ${host}`))).origin,
              "https://shop.example",
              host
            )
          }
          for (const to of hostile) {
            const back = yield* backOf(replaced(`X-Original-URI: /checkout/${to.replaceAll(/[^!-~]/g, "")}`))
            assert.strictEqual(back.origin, "https://shop.example", to)
            assert.strictEqual(new URL(back.searchParams.get("to")!, "https://shop.example").host, "shop.example", to)
          }
        })
      )
    )

    it.effect("counts visitors by the address in the header of its operator, and believes no other one", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { sent } = yield* aGateInTheField({ clientAddressHeader: "X-Real-IP" }, { admitRate: 60_000 })
          const status = (...headers: ReadonlyArray<string>) =>
            Effect.map(sent(asked([...named, ...headers])), statusOf)
          for (const wrong of [[], ["X-Real-IP: 203.0.113.7", "X-Real-IP: 198.51.100.1"], ["X-Real-IP: evil"]]) {
            assert.strictEqual(yield* status(...wrong), 400)
          }
          let answer = 204
          for (let visitor = 0; visitor < 200 && answer === 204; visitor++) {
            answer = yield* status("X-Real-IP: 203.0.113.7", `X-Forwarded-For: 10.0.0.${visitor}`)
          }
          assert.strictEqual(answer, 401)
          assert.strictEqual(yield* status("X-Real-IP: 198.51.100.1", "X-Forwarded-For: 203.0.113.7"), 204)
        })
      )
    )
  })
})
