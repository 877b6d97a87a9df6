/** People at the dashboard: how they come in, what their role allows, and how they lose it. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Delivery } from "../../../src/delivery/Delivery.ts"
import { asServer, otherListeners, send, Usher } from "../../http/support/usherFixture.ts"
import { acted, operator, person, signInAs } from "../support/operatorFixture.ts"
import { brand, formsOf, layer as usher, mailedCode, textOf } from "../support/roomFixture.ts"

/** A browser with the session of the brand's secret key. */
const key = Effect.gen(function* () {
  const { brand } = yield* Usher
  const browser = yield* operator
  yield* browser.signIn(brand.secretKey)
  return browser
})

layer(usher, { excludeTestServices: true })("People at the dashboard", (it) => {
  it.effect("are invited with the key, and come in with a mailed code", () =>
    Effect.gen(function* () {
      const { get, submit } = yield* key
      const email = "ada@example.com"
      const empty = yield* get("/dashboard/people")
      assert.include(textOf(empty), "Invite a colleague")
      const typed = { email: "Ada@Example.com", name: "Ada", role: "admin" }
      const people = yield* submit(empty, "Invite", typed)
      assert.include(textOf(people), `${email} was invited`)
      assert.strictEqual((yield* submit(people, "Invite", typed)).status, 400)

      const ada = yield* operator
      const home = yield* signInAs(ada, email)
      assert.strictEqual(home.status, 200, home.text)
      assert.match(textOf(home), /content Brand .* Live admin Switch organization/)
      assert.notInclude(textOf(yield* ada.get("/dashboard/people")), "Last sign-in –")
    })
  )

  it.effect(
    "get the same answer whether or not they are invited, and no session by a wrong, used or foreign code",
    () =>
      Effect.gen(function* () {
        const email = "bea@example.com"
        yield* person(email, "viewer")
        const browser = yield* operator
        const start = yield* browser.get("/dashboard/sign-in")
        const known = yield* browser.submit(start, "Send me a code", { email })
        const unknown = yield* browser.submit(start, "Send me a code", { email: "eve@example.com" })
        assert.strictEqual(textOf(known).replace(email, "X"), textOf(unknown).replace("eve@example.com", "X"))
        assert.strictEqual(known.status, unknown.status)

        const code = yield* mailedCode(email)
        const wrong = code === "000000" ? "000001" : "000000"
        const isIn = Effect.map(browser.get("/dashboard"), ({ status }) => status === 200)
        assert.strictEqual((yield* browser.submit(known, "Sign in", { code: wrong })).status, 403)
        assert.strictEqual((yield* browser.submit(unknown, "Sign in", { code })).status, 403)
        // The code belongs to its request.
        const later = yield* browser.submit(start, "Send me a code", { email })
        yield* mailedCode(email)
        assert.strictEqual((yield* browser.submit(later, "Sign in", { code })).status, 403)
        assert.isFalse(yield* isIn)
        assert.strictEqual((yield* browser.submit(known, "Sign in", { code })).status, 200)
        assert.isTrue(yield* isIn)
        const second = yield* operator
        assert.strictEqual((yield* second.submit(known, "Sign in", { code })).status, 403)
      })
  )

  it.effect("have codes that no consumer gets, and never use a consumer's", () =>
    Effect.gen(function* () {
      const { consumer, brand: organization } = yield* Usher
      const email = "cleo@example.com"
      yield* brand("POST", "/people", { email, role: "admin" })
      const headers = { "x-publishable-key": organization.publishableKey }
      const post = (path: string, body: object) =>
        consumer({ method: "POST", path: `/api/auth/otp/${path}`, headers, body })
      const requested = yield* post("request", { email })
      assert.strictEqual(requested.status, 200, requested.text)
      const code = yield* mailedCode(email)
      const browser = yield* operator
      const refused = yield* browser.send("POST", "/dashboard/sign-in/verify", {
        email,
        code,
        requestId: requested.body.requestId
      })
      assert.strictEqual(refused.status, 403)
      const asked = yield* browser.submit(yield* browser.get("/dashboard/sign-in"), "Send me a code", { email })
      const { requestId } = formsOf(asked).find(({ label }) => label === "Sign in")!.fields
      const answer = yield* post("verify", { email, code: yield* mailedCode(email), requestId })
      assert.strictEqual(answer.status, 401, answer.text)
    })
  )

  it.effect("are the authors of their actions", () =>
    Effect.gen(function* () {
      const { admin, brand: organization, queue } = yield* Usher
      const id = yield* queue()
      const dora = yield* person("dora@example.com", "operator")
      const { experienceId } = yield* brand("GET", `/queues/${id}`)
      const room = yield* dora.get(`/dashboard/experiences/${experienceId}`)
      yield* acted(dora.submit, room, "Pause", { reason: "HIGH_LOAD" })
      const history = yield* dora.get(`/dashboard/mechanisms/${id}/history?type=Paused`)
      assert.match(textOf(history), new RegExp(`Paused .* dora@example.com operator:${dora.personId} .*HIGH_LOAD`))
      yield* dora.submit(yield* dora.get("/dashboard/new?part=draw"), "Create the drop", { name: "By Dora" })
      const log = yield* admin({
        path: `/api/audit-log?actor=operator:${dora.personId}&first=100`,
        headers: asServer(organization.secretKey)
      })
      assert.includeMembers(
        log.body.data.map(({ type }: { readonly type: string }) => type),
        ["experience.created", "distribution.created"]
      )
    })
  )

  it.effect("do only the actions of their role, which changes from the next request on", () =>
    Effect.gen(function* () {
      const admin = yield* key
      const eli = yield* person("eli@example.com", "viewer")
      const drop = { part: "draw", name: "Eli's", "draw.units": "1", "draw.openFor": "5" }
      const create = eli.send("POST", "/dashboard/new", drop)
      const refused = yield* create
      assert.strictEqual(refused.status, 403)
      assert.include(textOf(refused), "This needs the role operator. Yours is viewer")
      assert.notInclude((yield* eli.get("/dashboard/people")).text, "Invite a person")
      const toRole = (role: string) =>
        admin.send("POST", `/dashboard/people/${eli.personId}/role`, { role, confirmed: "yes" })
      assert.strictEqual((yield* toRole("root")).status, 400)
      assert.strictEqual((yield* toRole("operator")).status, 303)
      assert.strictEqual((yield* create).status, 303)
      assert.strictEqual(
        (yield* eli.send("POST", "/dashboard/people", { email: "f@example.com", role: "admin" })).status,
        403
      )
      yield* toRole("admin")
      const invited = yield* eli.send("POST", "/dashboard/people", { email: "f@example.com", role: "viewer" })
      assert.strictEqual(invited.status, 303)
    })
  )

  it.effect("keep their role until a change is confirmed", () =>
    Effect.gen(function* () {
      const admin = yield* key
      const { personId, get } = yield* person("ivo@example.com", "viewer")
      const roleIn = Effect.map(get("/dashboard"), (page) => /Live (\w+)/.exec(textOf(page))![1])
      const path = `/dashboard/people/${personId}/role`
      const asked = yield* admin.send("POST", path, { role: "admin" })
      assert.include(textOf(asked), "ivo@example.com is viewer now. As admin this person also manages keys")
      assert.strictEqual(yield* roleIn, "viewer")
      assert.include(textOf(yield* admin.submit(asked, "Make admin")), "ivo@example.com is admin now.")
      assert.strictEqual(yield* roleIn, "admin")
    })
  )

  it.effect("are out at once when they are removed, also after they are restored", () =>
    Effect.gen(function* () {
      const admin = yield* key
      const fay = yield* person("fay@example.com", "admin")
      const isIn = Effect.map(fay.get("/dashboard"), ({ status }) => status === 200)
      assert.isTrue(yield* isIn)
      const asked = yield* admin.submit(yield* admin.get("/dashboard/people"), "Remove fay@example.com")
      assert.include(textOf(asked), "Remove fay@example.com? fay@example.com is signed out at once.")
      assert.isTrue(yield* isIn)
      assert.include(textOf(yield* admin.submit(asked, "Remove")), "fay@example.com was removed.")
      assert.isFalse(yield* isIn)
      yield* brand("POST", `/people/${fay.personId}/restore`)
      assert.isFalse(yield* isIn)
      yield* signInAs(fay, "fay@example.com")
      assert.isTrue(yield* isIn)
    })
  )

  it.effect("switch between live and test where they are invited to both", () =>
    Effect.gen(function* () {
      const { admin, brand } = yield* Usher
      const email = "lea@example.com"
      const lea = yield* person(email, "operator")
      const live = yield* lea.get("/dashboard")
      assert.notInclude(
        formsOf(live).map(({ action }) => action),
        "/dashboard/switch"
      )
      const headers = asServer(brand.testSecretKey)
      yield* admin({ method: "POST", path: "/api/people", headers, body: { email, role: "viewer" } })
      const test = yield* lea.submit(yield* lea.get("/dashboard"), "Test mode")
      assert.include(test.text, '<body class="test">')
      assert.match(textOf(test), /Test mode Live viewer/)
      const back = yield* lea.submit(test, "Live")
      assert.include(back.text, '<body class="live">')
    })
  )

  it.effect("choose between organizations that invited the same address, and get into no other", () =>
    Effect.gen(function* () {
      const { admin, stranger } = yield* Usher
      const email = "gil@example.com"
      const gil = yield* person(email, "admin")
      const inviteAs = (secretKey: string, to: string) =>
        admin({
          method: "POST",
          path: "/api/people",
          headers: asServer(secretKey),
          body: { email: to, role: "viewer" }
        })
      yield* inviteAs(stranger.testSecretKey, email)
      const other = yield* inviteAs(stranger.secretKey, "other@example.com")
      const choice = yield* gil.get("/dashboard/switch")
      assert.notInclude(choice.text, other.body.id)
      assert.strictEqual((yield* gil.send("POST", "/dashboard/switch", { person: other.body.id })).status, 404)
      const there = yield* gil.submit(choice, "Go to Stranger, test")
      assert.match(textOf(there), /content Stranger .* Test mode viewer/)
      assert.include(there.text, '<body class="test">')
      assert.include(there.text, "(test) · Usher</title>")
      const back = yield* gil.submit(yield* gil.get("/dashboard/switch"), "Go to Brand, live")
      assert.match(textOf(back), /content Brand .* Live .*admin/)
      assert.notInclude(back.text, 'class="test"')
      assert.notInclude(back.text, "(test)")
      const own = yield* key
      assert.include(textOf(yield* own.get("/dashboard/switch")), "began with a secret key")
      assert.strictEqual((yield* own.send("POST", "/dashboard/switch", { person: gil.personId })).status, 404)
    })
  )

  it.effect("are told to use the key where no mail can be sent", () =>
    Effect.gen(function* () {
      const delivery = { ...(yield* Delivery), canSend: () => false }
      const { adminUrl } = yield* Effect.provideService(otherListeners({}), Delivery, delivery)
      const refused = yield* send(adminUrl, {
        method: "POST",
        path: "/dashboard/sign-in/code",
        headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
        body: "email=ada%40example.com"
      })
      assert.strictEqual(refused.status, 403)
      assert.include(textOf(refused), "sends no mail")
    })
  )

  it.effect("wait after too many wrong codes", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const email = "hal@example.com"
      yield* brand("POST", "/people", { email, role: "viewer" })
      const browser = yield* operator
      const asked = yield* browser.submit(yield* browser.get("/dashboard/sign-in"), "Send me a code", { email })
      const code = yield* mailedCode(email)
      const wrong = code === "000000" ? "000001" : "000000"
      for (let n = 0; n < 5; n++) yield* browser.submit(asked, "Sign in", { code: wrong })
      assert.strictEqual((yield* browser.submit(asked, "Sign in", { code })).status, 403)
      const later = yield* browser.submit(yield* browser.get("/dashboard/sign-in"), "Send me a code", { email })
      const right = { code: yield* mailedCode(email) }
      yield* sql`update attempts set count = 50`
      const refused = yield* browser.submit(later, "Sign in", right)
      assert.strictEqual(refused.status, 403)
      assert.strictEqual(textOf(refused), textOf(yield* browser.submit(later, "Sign in", { code: wrong })))
      yield* sql`delete from attempts`
      assert.strictEqual((yield* browser.submit(later, "Sign in", right)).status, 200)
    })
  )
})
