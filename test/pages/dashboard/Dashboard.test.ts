/** The dashboard, used as a person uses it: cookies and forms, without a script, over real HTTP. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { type Answer, asConsumer, asServer, Usher } from "../../http/support/usherFixture.ts"
import { acted, eventually, operator } from "../support/operatorFixture.ts"
import { layer as usher, room, textOf } from "../support/roomFixture.ts"

layer(usher, { excludeTestServices: true })("The dashboard", (it) => {
  it.effect("requires a secret key, and keeps the key out of the browser", () =>
    Effect.gen(function* () {
      const { brand } = yield* Usher
      const { get, signIn } = yield* operator
      assert.strictEqual((yield* get("/dashboard")).headers["location"], "/dashboard/sign-in")
      for (const key of ["", "sk_live_wrong", brand.publishableKey]) {
        const refused = yield* signIn(key)
        assert.strictEqual(refused.status, 403)
        assert.isUndefined(refused.cookie)
      }
      const entered = yield* signIn(brand.secretKey)
      assert.strictEqual(entered.status, 303)
      assert.match(entered.cookie!, /^usher-operator=[\w-]{43}; /)
      assert.match(entered.cookie!, /HttpOnly/i)
      assert.match(entered.cookie!, /SameSite=Strict/i)
      assert.notInclude(entered.cookie, brand.secretKey)
      const page = yield* get("/dashboard")
      assert.strictEqual(page.status, 200)
      assert.strictEqual(page.headers["cache-control"], "no-store")
      assert.include(page.headers["content-security-policy"], "default-src 'none'")
      assert.isUndefined(page.headers["access-control-allow-origin"])
    })
  )

  it.effect("creates a drop from a template, shows its figures and its room, and steers it", () =>
    Effect.gen(function* () {
      const usher = yield* Usher
      const { get, submit, signIn } = yield* operator
      yield* signIn(usher.brand.secretKey)
      const form = yield* get("/dashboard/new?part=queue")
      const typed = { name: "Moon <boots>", when: "now", "queue.units": "50", "queue.rate": "1" }
      const room = yield* submit(form, "Create the drop", typed)
      assert.strictEqual(room.status, 200, room.text)
      assert.include(room.text, "Moon &lt;boots&gt;")
      const experienceId = /\/e\/([0-9a-f-]{36})/.exec(room.text)![1]!
      assert.strictEqual((yield* usher.consumer({ path: `/e/${experienceId}` })).status, 200)

      const path = `/dashboard/experiences/${experienceId}`
      const queueId = /data-mechanism="([0-9a-f-]{36})"/.exec(room.text)![1]!
      yield* eventually(get(path), (page) => page.text.includes("badge ok"))
      const guests = yield* Effect.replicateEffect(usher.guest(), 3)
      yield* Effect.forEach(guests, ({ accessToken }) =>
        usher.consumer({
          method: "POST",
          path: `/api/queues/${queueId}/enter`,
          headers: asConsumer(usher.brand.publishableKey, accessToken)
        })
      )
      const figures = yield* eventually(get(`${path}/figures`), (page) => /Waiting\s*[1-3]\b/.test(textOf(page)))
      assert.include(textOf(figures), "Pause admission")

      const paused = yield* acted(submit, yield* get(path), "Pause", { reason: "HIGH_LOAD" })
      assert.include(textOf(paused), "Moon <boots> is paused")
      const admitted = yield* submit(yield* get(path), "Admit", { count: "2" })
      assert.match(textOf(admitted), /\d consumers were admitted/)
      const changed = { admitRate: "120", reason: "SCHEDULE_CHANGED" }
      yield* acted(submit, yield* get(path), "Set the rate", changed)
      const resumed = yield* acted(submit, yield* get(path), "Resume at 120/min")
      assert.match(textOf(resumed), /Rate\s*120\s*\/min/)
      const ended = yield* acted(submit, yield* get(path), "End", { reason: "STOCK_CHANGED" })
      assert.include(textOf(ended), "has ended")

      const headers = asServer(usher.brand.secretKey)
      const history = yield* usher.admin({ path: `/api/distributions/${queueId}/history?first=100`, headers })
      const staff = history.body.data.filter(({ data }: any) => data.reason !== undefined)
      assert.includeDeepMembers(
        staff.map(({ type, data }: any) => [type, data.reason]),
        [
          ["Paused", "HIGH_LOAD"],
          ["Configured", "SCHEDULE_CHANGED"],
          ["Ended", "STOCK_CHANGED"]
        ]
      )
      for (const { data } of staff) assert.match(data.by, /^api_key:/)
    })
  )

  it.effect("admits a consumer by name out of order, once it is confirmed with a reason", () =>
    Effect.gen(function* () {
      const { brand, consumer, guest, queue } = yield* Usher
      const { get, submit, signIn } = yield* operator
      yield* signIn(brand.secretKey)
      const queueId = yield* queue()
      const guests = yield* Effect.replicateEffect(guest(), 2)
      for (const { accessToken } of guests) {
        const headers = asConsumer(brand.publishableKey, accessToken)
        yield* consumer({ method: "POST", path: `/api/queues/${queueId}/enter`, headers })
      }
      const { accessToken, consumerId } = guests[1]!
      const path = `/dashboard/consumers/${consumerId}`
      const waiting = yield* eventually(get(path), ({ text }) => text.includes("Admit…"))
      // Without a reason the screen asks for one.
      const asked = yield* submit(waiting, "Admit…", { reason: "" })
      assert.include(textOf(asked), "1 consumer is admitted immediately")
      const done = yield* submit(asked, "Admit", { reason: "CUSTOMER_CARE" })
      assert.match(textOf(done), /The consumer was admitted to/)
      assert.match(done.text, /role="status" tabindex="-1" autofocus/)
      const again = yield* submit(asked, "Admit", { reason: "CUSTOMER_CARE" })
      assert.match(textOf(again), /This consumer was already admitted to /)
      const admitted = yield* eventually(get(path), ({ text }) => text.includes("GRANTED"))
      assert.notInclude(admitted.text, "Admit…")

      const headers = asConsumer(brand.publishableKey, accessToken)
      assert.strictEqual((yield* consumer({ path: `/api/queues/${queueId}/status`, headers })).body.status, "GRANTED")
      const { line } = (yield* consumer({ path: `/api/queues/${queueId}/line` })).body
      assert.deepInclude(line.acts[0], { act: "admitted", reason: "CUSTOMER_CARE", count: 1, outOfOrder: 1 })
    })
  )

  it.effect("lists what is late, and nothing when nothing is", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { brand, queue } = yield* Usher
      const { get, signIn } = yield* operator
      yield* signIn(brand.secretKey)
      const id = yield* queue()
      const read = Effect.map(get("/dashboard"), textOf)
      assert.notInclude(yield* read, "Late")
      yield* sql`
        insert into parked_mechanisms (mechanism_id, node, parked_at, restarts, cause)
        values (${id}, 'elsewhere', '2025-11-21T18:00:00Z', 5, 'a fault')`
      yield* sql`update mechanism_heads set wake_at = '2025-11-21T17:00:00Z' where mechanism_id = ${id}`
      const late = yield* read
      assert.match(late, /Late A timed step was due 21 Nov 2025, 17:00 UTC and has not happened/)
      assert.include(late, "1 mechanism is parked")
      yield* sql`delete from parked_mechanisms where mechanism_id = ${id}`
      yield* sql`update mechanism_heads set wake_at = null where mechanism_id = ${id}`
      assert.notInclude(yield* read, "Late")
    })
  )

  it.effect("names the values of a theme that the room replaces", () =>
    Effect.gen(function* () {
      const { brand } = yield* Usher
      const { get, signIn } = yield* operator
      yield* signIn(brand.secretKey)
      const noteOf = Effect.fnUntraced(function* (theme: object) {
        const { experienceId } = yield* room({ queues: [{ name: "Line", admitRate: 0 }] }, { theme })
        const page = textOf(yield* get(`/dashboard/experiences/${experienceId}`))
        return /The room replaces these values of the theme[^:]*: (.*?) (?:No shop|Line)/.exec(page)?.[1]
      })
      assert.strictEqual(yield* noteOf({ background: "#ffffff", text: "#000000" }), undefined)
      assert.strictEqual(yield* noteOf({ background: "#ffffff", text: "#eeeeee" }), "text")
      const theme = { logoUrl: "http://shop.example/logo.png", headerImageUrl: "data:image/png;base64,AAAA" }
      const { experienceId } = yield* room({ queues: [{ name: "Line", admitRate: 0 }] }, { theme })
      const page = textOf(yield* get(`/dashboard/experiences/${experienceId}`))
      assert.include(page, "because only https addresses are safe: logoUrl, headerImageUrl")
      const shown = yield* Effect.flatMap(Usher, ({ consumer }) => consumer({ path: `/e/${experienceId}` }))
      assert.notInclude(shown.text, "shop.example")
    })
  )

  it.effect("refuses forms of other sites, and shows nothing of another organization", () =>
    Effect.gen(function* () {
      const { brand, stranger } = yield* Usher
      const own = yield* operator
      yield* own.signIn(brand.secretKey)
      const room = yield* own.submit(yield* own.get("/dashboard/new?part=release"), "Create the drop", { name: "Mine" })
      const experienceId = /\/e\/([0-9a-f-]{36})/.exec(room.text)![1]!
      const path = `/dashboard/experiences/${experienceId}`
      const mechanism = /data-mechanism="([0-9a-f-]{36})"/.exec(room.text)![1]!
      const fields = { mechanism, reason: "OTHER", confirmed: randomUUID() }
      for (const headers of [{ "sec-fetch-site": "same-site" }, { origin: "https://evil.example" }, {}]) {
        assert.strictEqual((yield* own.send("POST", `${path}/end`, fields, headers)).status, 403)
      }
      const foreign = yield* operator
      yield* foreign.signIn(stranger.secretKey)
      assert.strictEqual((yield* foreign.get(path)).status, 404)
      assert.strictEqual((yield* foreign.send("POST", `${path}/end`, fields)).status, 404)
      assert.notInclude((yield* foreign.get(`${path}/figures`)).text, "Mine")
      assert.include((yield* own.get(`${path}/figures`)).text, "Mine")
    })
  )

  it.effect("ends a session by signing out, with its key, and after twelve hours", () =>
    Effect.gen(function* () {
      const { admin, brand, stranger } = yield* Usher
      const sql = yield* SqlClient.SqlClient
      const isIn = (page: Answer) => page.status === 200
      const { get, send, signIn } = yield* operator
      yield* signIn(brand.secretKey)
      assert.isTrue(isIn(yield* get("/dashboard")))
      yield* send("POST", "/dashboard/sign-out", {})
      assert.isFalse(isIn(yield* get("/dashboard")))

      yield* signIn(brand.secretKey)
      yield* sql`update operator_sessions set expires_at = now() - interval '1 second'`
      assert.isFalse(isIn(yield* get("/dashboard")))

      const other = yield* operator
      yield* other.signIn(stranger.secretKey)
      assert.isTrue(isIn(yield* other.get("/dashboard")))
      const path = "/api/api-keys/secret/rotate"
      yield* admin({ method: "POST", path, headers: asServer(stranger.secretKey) })
      assert.isFalse(isIn(yield* other.get("/dashboard")))
    })
  )
})
