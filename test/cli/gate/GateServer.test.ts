/** `usher gate` beside a proxy, in front of a real Usher. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { createServer, request as httpRequest } from "node:http"
import type { AddressInfo } from "node:net"
import { serve } from "../../../src/cli/gate/GateServer.ts"
import { aGate } from "../../http/support/gateFixture.ts"
import { type Call, layer as usherLayer, send, Usher } from "../../http/support/usherFixture.ts"

/** A road to Usher that can be closed. */
const aRoad = Effect.acquireRelease(
  Effect.gen(function* () {
    const { consumerUrl } = yield* Usher
    const state = { isOpen: true }
    const server = createServer((incoming, outgoing) => {
      if (!state.isOpen) return void incoming.socket.destroy()
      const { method, url, headers } = incoming
      const onward = httpRequest(new URL(url!, consumerUrl), { method, headers, agent: false }, (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(outgoing)
      })
      onward.on("error", () => outgoing.destroy())
      incoming.pipe(onward)
    })
    yield* Effect.promise(() => new Promise<void>((listening) => void server.listen(0, "127.0.0.1", () => listening())))
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, state, server }
  }),
  ({ server }) =>
    Effect.sync(() => {
      server.closeAllConnections()
      server.close()
    })
)

const stateIn = ({ headers }: { readonly headers: { readonly [name: string]: unknown } }) =>
  /usher-state=([^;]*)/.exec(String(headers["set-cookie"]))![1]!

/** A gate in the field, and what nginx asks it. */
const aGateInTheField = Effect.fnUntraced(function* (settings: object = {}, queueSettings: object = {}) {
  const gate = yield* aGate(settings, queueSettings)
  const road = yield* aRoad
  const { id: gateId, key } = gate
  const options = { url: road.url, gateId, key: Redacted.make(key), host: "127.0.0.1", port: 0 }
  // A busy machine answers late; a closed road is noticed at once.
  const { url } = yield* serve({ ...options, patienceMillis: 10_000 })
  const checked = (target: string, headers: object = {}) =>
    send(url, {
      path: "/auth-request",
      headers: {
        "x-original-uri": target,
        "x-original-method": "GET",
        "x-forwarded-host": "shop.example",
        accept: "text/html",
        ...headers
      }
    })
  const cookieIn = ({ headers }: { readonly headers: { readonly [name: string]: unknown } }) =>
    [headers["set-cookie"]].flat().join("").split(";")[0]!
  const ask = (call: Call) => send(url, call)
  return { ...gate, road, checked, cookieIn, ask }
})

describe("usher gate", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    it.effect("lets a new visitor pass with a cookie, and then by the cookie alone", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { checked, cookieIn, byBrand, queueId } = yield* aGateInTheField()
          assert.strictEqual((yield* checked("/")).status, 204)
          const first = yield* checked("/checkout")
          assert.strictEqual(first.status, 204)
          const cookie = cookieIn(first)
          assert.match(cookie, /^__Host-usher-grant-/)
          const second = yield* checked("/checkout/pay", { cookie })
          assert.deepStrictEqual([second.status, second.headers["set-cookie"]], [204, undefined])
          assert.strictEqual((yield* byBrand("GET", `/distributions/${queueId}/live`)).body.inside, 1)
        })
      )
    )

    it.effect("leads those who have to wait to the room, and takes their grant at the return path", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { checked, cookieIn, ask, queueId, byGate, byBrand } = yield* aGateInTheField({}, { insideLimit: 1 })
          const inside = yield* checked("/checkout")
          const outside = yield* checked("/checkout?a=1")
          assert.strictEqual(outside.status, 401)
          const room = new URL(outside.headers["location"]!)
          assert.strictEqual(
            room.searchParams.get("return"),
            `https://shop.example/.usher/return?to=%2Fcheckout%3Fa%3D1&state=${stateIn(outside)}`
          )
          assert.match(cookieIn(outside), /^__Host-usher-state=/)
          const program = yield* checked("/checkout", { accept: "application/json" })
          assert.deepStrictEqual([program.status, program.headers["x-usher-status"]], [403, "429"])
          yield* byBrand("PUT", `/queues/${queueId}`, { insideLimit: 5 })
          const { admissionGrant } = (yield* byGate(`/queues/${queueId}/pass`, { method: "POST", body: {} })).body
          const posted = (cookie: string) =>
            ask({
              method: "POST",
              path: `/.usher/return?to=%2Fcheckout&state=${stateIn(outside)}`,
              headers: { host: "shop.example", "content-type": "application/x-www-form-urlencoded", cookie },
              body: `usher_grant=${admissionGrant}`
            })
          const strange = yield* posted("__Host-usher-state=state-of-another-browser")
          assert.deepStrictEqual([strange.status, strange.headers["set-cookie"]], [303, undefined])
          const back = yield* posted(cookieIn(outside))
          assert.deepStrictEqual([back.status, back.headers["location"]], [303, "/checkout"])
          assert.match(String(back.headers["set-cookie"]), /__Host-usher-state=;.*Max-Age=0/)
          const replayed = yield* posted("")
          assert.deepStrictEqual([replayed.status, replayed.headers["set-cookie"]], [303, undefined])
          for (const cookie of [cookieIn(inside), cookieIn(back)]) {
            assert.strictEqual((yield* checked("/checkout", { cookie })).status, 204)
          }
        })
      )
    )

    it.effect("refuses a grant soon after it has ended", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { brand } = yield* Usher
          const { checked, cookieIn, queueId, byBrand, byGate } = yield* aGateInTheField({}, { insideLimit: 1 })
          const cookie = cookieIn(yield* checked("/checkout"))
          const { data } = (yield* byBrand("GET", `/distributions/${queueId}/consumers?status=GRANTED`)).body
          const body = { consumerId: data[0].consumerId, reason: "BOT_DETECTED" }
          yield* byGate(`/queues/${queueId}/deny`, { method: "POST", body }, brand.secretKey)
          yield* byBrand("POST", `/queues/${queueId}/pause`)
          yield* Effect.sleep(2_500)
          assert.strictEqual((yield* checked("/checkout", { cookie })).status, 401)
        })
      )
    )

    it.effect("keeps the grant of a visitor that it sees, and no longer", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const admissionRenewal = { idleSeconds: 3, maxSeconds: 600 }
          const { checked, cookieIn, queueId, byBrand } = yield* aGateInTheField({}, { admissionRenewal })
          const live = Effect.map(byBrand("GET", `/distributions/${queueId}/live`), ({ body }) => body.inside)
          const cookie = cookieIn(yield* checked("/checkout"))
          for (let look = 0; look < 12; look++) {
            yield* Effect.sleep(500)
            assert.strictEqual((yield* checked("/checkout", { cookie })).status, 204)
          }
          assert.strictEqual(yield* live, 1)
          yield* Effect.sleep(5_000)
          assert.strictEqual(yield* live, 0)
        })
      )
    )

    it.effect("closes while Usher is away, but not to those inside, and is itself again soon after", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { road, checked, cookieIn } = yield* aGateInTheField()
          const cookie = cookieIn(yield* checked("/checkout"))
          road.state.isOpen = false
          const began = performance.now()
          const closed = yield* checked("/checkout")
          assert.isBelow(performance.now() - began, 1_500)
          assert.deepStrictEqual([closed.status, closed.headers["x-usher-status"]], [403, "503"])
          assert.strictEqual((yield* checked("/checkout", { cookie })).status, 204)
          road.state.isOpen = true
          yield* Effect.sleep(2_000)
          assert.strictEqual((yield* checked("/checkout")).status, 204)
        })
      )
    )

    it.effect("stays open while Usher is away where its rules say so", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { road, checked } = yield* aGateInTheField({ failMode: "open" })
          road.state.isOpen = false
          assert.strictEqual((yield* checked("/checkout")).status, 204)
        })
      )
    )

    it.effect("tells operators how it is, and serves nothing else", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { ask, checked } = yield* aGateInTheField()
          yield* checked("/")
          assert.deepInclude((yield* ask({ path: "/health" })).body, { status: "ok", isReachable: true })
          assert.include((yield* ask({ path: "/metrics" })).text, 'usher_gate_decisions_total{decision="pass"} 1')
          assert.strictEqual((yield* ask({ path: "/other" })).status, 404)
        })
      )
    )

    it.effect("does not begin with a wrong key", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { consumerUrl } = yield* Usher
          const { id } = yield* aGate()
          const key = Redacted.make(`gk_live_${"x".repeat(32)}`)
          const options = { url: consumerUrl, gateId: id, key, host: "127.0.0.1", port: 0 }
          const { message } = yield* Effect.flip(serve(options))
          assert.include(message, "401")
        })
      )
    )
  })
})
