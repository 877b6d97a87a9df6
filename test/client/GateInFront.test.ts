/** A gate inside of a site, in front of a real Usher. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createGate } from "../../src/client/fetchGate.ts"
import { aGate } from "../http/support/gateFixture.ts"
import { layer as usherLayer, Usher } from "../http/support/usherFixture.ts"

/** A site behind a gate with these settings of its queue, and a browser's requests to it. */
const aSite = Effect.fnUntraced(function* (queueSettings: object = {}) {
  const gate = yield* aGate({}, queueSettings)
  const { consumerUrl } = yield* Usher
  const address = { url: consumerUrl, gateId: gate.id, key: gate.key }
  const site = createGate({ ...address, patienceMillis: 10_000 })
  const sent = (path: string, init: RequestInit) =>
    Effect.promise(() => site(new Request(`https://shop.example${path}`, init), () => new Response("the site")))
  const visited = (path: string, cookie = "") => sent(path, { headers: { accept: "text/html", cookie } })
  const live = Effect.map(gate.byBrand("GET", `/distributions/${gate.queueId}/live`), ({ body }) => body.inside)
  return { ...gate, sent, visited, live }
})

const cookieIn = ({ headers }: Response): string => headers.getSetCookie().join().split(";")[0]!

layer(usherLayer, { excludeTestServices: true })("a gate inside of a site", (it) => {
  it.effect("lets a new visitor in by one call, and then by the cookie alone", () =>
    Effect.gen(function* () {
      const { visited, live } = yield* aSite()
      const first = yield* visited("/checkout")
      assert.strictEqual(first.status, 200)
      assert.match(cookieIn(first), /^__Host-usher-grant-/)
      const second = yield* visited("/checkout/pay", cookieIn(first))
      assert.deepStrictEqual([second.status, cookieIn(second)], [200, ""])
      assert.strictEqual(yield* live, 1)
    })
  )

  it.effect("leads those who have to wait to the room, and takes their grant at the return path", () =>
    Effect.gen(function* () {
      const { visited, sent, byBrand, byGate, queueId } = yield* aSite({ insideLimit: 1 })
      yield* visited("/checkout")
      const outside = yield* visited("/checkout?a=1")
      assert.strictEqual(outside.status, 303)
      const back = new URL(outside.headers.get("location")!).searchParams.get("return")
      const state = /usher-state=([^;]*)/.exec(outside.headers.getSetCookie().join())![1]!
      assert.strictEqual(back, `https://shop.example/.usher/return?to=%2Fcheckout%3Fa%3D1&state=${state}`)
      yield* byBrand("PUT", `/queues/${queueId}`, { insideLimit: 5 })
      const { admissionGrant } = (yield* byGate(`/queues/${queueId}/pass`, { method: "POST", body: {} })).body
      const body = new URLSearchParams({ usher_grant: admissionGrant })
      const cookie = cookieIn(outside)
      const posted = (as: string) =>
        sent(back!.slice("https://shop.example".length), { method: "POST", body, headers: { cookie: as } })
      assert.deepStrictEqual((yield* posted("")).headers.getSetCookie(), [])
      const returned = yield* posted(cookie)
      assert.deepStrictEqual([returned.status, returned.headers.get("location")], [303, "/checkout?a=1"])
      assert.strictEqual((yield* visited("/checkout", cookieIn(returned))).status, 200)
    })
  )

  it.effect("refuses a grant soon after it has ended", () =>
    Effect.gen(function* () {
      const { brand } = yield* Usher
      const { visited, byBrand, byGate, queueId } = yield* aSite({ insideLimit: 1 })
      const cookie = cookieIn(yield* visited("/checkout"))
      const { data } = (yield* byBrand("GET", `/distributions/${queueId}/consumers?status=GRANTED`)).body
      const body = { consumerId: data[0].consumerId, reason: "BOT_DETECTED" }
      yield* byGate(`/queues/${queueId}/deny`, { method: "POST", body }, brand.secretKey)
      yield* byBrand("POST", `/queues/${queueId}/pause`)
      yield* Effect.sleep(1_500)
      yield* visited("/")
      yield* Effect.sleep(500)
      assert.notStrictEqual((yield* visited("/checkout", cookie)).status, 200)
    })
  )

  it.effect("keeps the grant of a visitor that it sees, and no longer", () =>
    Effect.gen(function* () {
      const { visited, live } = yield* aSite({ admissionRenewal: { idleSeconds: 3, maxSeconds: 600 } })
      const cookie = cookieIn(yield* visited("/checkout"))
      for (let look = 0; look < 12; look++) {
        yield* Effect.sleep(500)
        assert.strictEqual((yield* visited("/checkout", cookie)).status, 200)
      }
      assert.strictEqual(yield* live, 1)
      yield* Effect.sleep(5_000)
      assert.strictEqual(yield* live, 0)
    })
  )
})
