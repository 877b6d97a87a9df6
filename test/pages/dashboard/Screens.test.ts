/** The screens of the dashboard that show and change records, used as a person uses them. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { asConsumer, Usher } from "../../http/support/usherFixture.ts"
import { eventually, operator } from "../support/operatorFixture.ts"
import { asBrandServer, brand, layer as usher, textOf, unescaped } from "../support/roomFixture.ts"

/** A browser of an admin of the brand. */
const admin = Effect.gen(function* () {
  const { brand } = yield* Usher
  const browser = yield* operator
  yield* browser.signIn(brand.secretKey)
  return browser
})

/** A guest in a queue of the brand. */
const entered = Effect.gen(function* () {
  const { brand, consumer, guest, queue } = yield* Usher
  const queueId = yield* queue()
  const { accessToken, consumerId } = yield* guest()
  const headers = asConsumer(brand.publishableKey, accessToken)
  yield* consumer({ method: "POST", path: `/api/queues/${queueId}/enter`, headers })
  return { queueId, consumerId }
})

layer(usher, { excludeTestServices: true })("The screens of the dashboard", (it) => {
  it.effect("show the next step when they are empty, and page through longer lists", () =>
    Effect.gen(function* () {
      const { stranger } = yield* Usher
      const nobody = yield* operator
      yield* nobody.signIn(stranger.secretKey)
      for (const [path, next] of [
        ["", "Create one"],
        ["/consumers", "Create a drop"],
        ["/orders", "Your shop reports them"],
        ["/analytics", "Create a drop"],
        ["/pages", "Create a drop"],
        ["/webhooks", "Add the address of your server"],
        ["/people", "Invite a colleague"]
      ]) {
        assert.include(textOf(yield* nobody.get(`/dashboard${path}`)), next!)
      }

      const { get } = yield* admin
      const consumers = Array.from({ length: 60 }, (_, n) => ({ email: `paged-${n}@example.com` }))
      yield* brand("POST", "/consumers/batch", { consumers })
      const first = yield* get("/dashboard/consumers?search=paged-")
      assert.include(first.text, "<caption> Consumers, newest first </caption>")
      assert.lengthOf(first.text.match(/<tr /g)!, 51)
      const next = /href="([^"]*)" rel="next"/.exec(first.text)![1]!.replaceAll("&amp;", "&")
      assert.include(next, "search=paged-")
      const second = yield* get(next)
      assert.lengthOf(second.text.match(/<tr /g)!, 11)
      assert.notInclude(second.text, 'rel="next"')
      assert.include(second.text, "First page")
      assert.include(textOf(yield* get("/dashboard/consumers?search=nobody-like-that")), "No matching consumers")
    })
  )

  it.effect("show a consumer with its places, orders and sessions, export it and erase it", () =>
    Effect.gen(function* () {
      const { get, submit } = yield* admin
      const { queueId, consumerId } = yield* entered
      const order = yield* brand("POST", "/orders", { consumerId, number: "N-1", total: "12.50", items: [] })
      yield* brand("PUT", `/consumers/${consumerId}`, { fullName: "Iris <b>" })
      const path = `/dashboard/consumers/${consumerId}`
      const shown = yield* eventually(get(path), (page) => textOf(page).includes("QUEUED"))
      for (const text of ["Iris &lt;b&gt;", "Line", "N-1", "guest"]) assert.include(shown.text, text)
      const exported = yield* get(`${path}/export`)
      assert.match(exported.headers["content-disposition"]!, /^attachment; filename="consumer-[0-9a-f-]{36}.json"$/)
      assert.strictEqual(exported.body.consumer.id, consumerId)
      assert.match(exported.body.consumer.createdAt, /^20\d\d-/)

      const shownOrder = yield* get(`/dashboard/orders/${order.id}`)
      assert.include(textOf(shownOrder), "12.50")
      assert.include(textOf(shownOrder), "Iris <b>")
      assert.notInclude(textOf(shownOrder), consumerId)
      assert.include(textOf(yield* get("/dashboard/orders?status=CREATED&search=N-1")), "N-1")
      assert.include(textOf(yield* get("/dashboard/orders?status=PAID&search=N-1")), "No matching orders")

      const ending = yield* submit(shown, "End all sessions")
      assert.include(textOf(ending), "signed out on every device")
      assert.include(textOf(yield* get(path)), "End all sessions")
      assert.include(textOf(yield* submit(ending, "End all sessions")), "1 sessions were ended")
      const unconfirmed = yield* submit(shown, "Erase this consumer", { confirmation: "yes" })
      assert.strictEqual(unconfirmed.status, 400)
      assert.include(textOf(yield* submit(shown, "Erase this consumer", { confirmation: "ERASE" })), "was erased")
      assert.strictEqual((yield* get(path)).status, 404)
      const history = yield* eventually(get(`/dashboard/mechanisms/${queueId}/history`), (page) =>
        textOf(page).includes("Left")
      )
      assert.match(textOf(history), /Entered/)
      const log = yield* get(`/dashboard/audit-log?subjectId=${consumerId}`)
      assert.include(textOf(log), "consumer.erased")
      assert.notInclude(log.text, "Iris")
    })
  )

  it.effect("create a webhook, show its secret once, and test, disable, enable and replay it", () =>
    Effect.gen(function* () {
      const { get, submit } = yield* admin
      const { brand: organization } = yield* Usher
      const sql = yield* SqlClient.SqlClient
      const all = yield* get("/dashboard/webhooks")
      const wrong = yield* submit(all, "Create webhook", { url: "http://plain.example", events: "order.created" })
      assert.strictEqual(wrong.status, 400)
      assert.include(wrong.text, 'value="http://plain.example"')
      const url = "https://shop.example/hooks"
      const created = yield* submit(all, "Create webhook", { url, events: "order.created" })
      const secret = /<code class="secret">([^<]+)</.exec(created.text)![1]!
      assert.match(secret, /^whsec_/)
      const path = /href="(\/dashboard\/webhooks\/[0-9a-f-]+)"/.exec(created.text)![1]!
      const page = yield* get(path)
      assert.notInclude(page.text, secret)
      assert.include(textOf(page), "Nothing was delivered yet")

      assert.include(textOf(yield* submit(page, "Send a test event")), "The test event was answered with nothing")
      const disabling = yield* submit(page, "Disable")
      assert.include(textOf(yield* get(path)), "ENABLED")
      const disabled = yield* submit(disabling, "Disable")
      assert.include(textOf(disabled), "DISABLED (ADMIN_ACTION)")
      assert.include(textOf(yield* submit(disabled, "Enable")), "It gets what it missed")

      const [id, now] = [path.split("/").at(-1)!, new Date()]
      yield* sql`
        insert into webhook_deliveries ${sql.insert({
          webhook_id: id,
          event_id: `evt_${id}`,
          id: randomUUID(),
          type: "order.created",
          status: "FAILED",
          attempts: JSON.stringify([{ at: now.toISOString(), durationMillis: 5, statusCode: 500, body: "no <room>" }]),
          body: JSON.stringify({ organization_id: organization.organizationId, sequence: 1 }),
          created_at: now,
          updated_at: now
        })}`
      const failed = yield* get(`${path}?status=FAILED`)
      assert.include(failed.text, "500 no &lt;room&gt;")
      assert.include(textOf(yield* get(`${path}?status=DELIVERED`)), "Nothing was delivered yet")
      const told = "rejected events in every attempt"
      assert.include(textOf(yield* get("/dashboard")), told)
      const replayed = yield* submit(failed, "Send failed deliveries again")
      assert.include(textOf(replayed), "The failed deliveries are being sent again")
      assert.lengthOf(yield* sql`select from webhook_held where webhook_id = ${id} and event_id = ${`evt_${id}`}`, 1)

      // One that is over for a week is not shown, and neither is one that an admin has disabled.
      yield* sql`update webhook_deliveries set updated_at = now() - interval '8 days' where webhook_id = ${id}`
      assert.notInclude(textOf(yield* get("/dashboard")), told)
      for (const [reason, isShown] of [
        ["GONE", true],
        ["FAILING", true],
        ["ADMIN_ACTION", false]
      ] as const) {
        yield* sql`update webhooks set disabled_reason = ${reason} where id = ${id}`
        assert.strictEqual(
          textOf(yield* get("/dashboard")).includes("was disabled, because its endpoint fails"),
          isShown
        )
      }
    })
  )

  it.effect("replace a key only with the present secret key, and show the new one once", () =>
    Effect.gen(function* () {
      const { admin: request, brand: own, stranger } = yield* Usher
      const browser = yield* operator
      yield* browser.signIn(own.testSecretKey)
      const keys = yield* browser.get("/dashboard/keys")
      assert.include(textOf(keys), "Keys of test mode")
      for (const key of ["", "sk_test_wrong", own.testPublishableKey, own.secretKey, stranger.testSecretKey]) {
        const refused = yield* browser.submit(keys, "Replace the publishable key", { key })
        assert.strictEqual(refused.status, 403)
        assert.include(textOf(refused), "Nothing was replaced")
      }
      const typed = { key: own.testSecretKey }
      const replaced = yield* browser.submit(keys, "Replace the publishable key", typed)
      assert.match(replaced.text, /<code class="secret">pk_test_/)
      const secret = yield* browser.submit(keys, "Replace the secret key", typed)
      const key = /<code class="secret">(sk_test_[^<]+)</.exec(secret.text)![1]!
      const headers = { authorization: `Bearer ${key}` }
      assert.strictEqual((yield* request({ path: "/api/api-keys", headers })).status, 200)
      // The session began with the old key.
      assert.strictEqual((yield* browser.get("/dashboard/keys")).status, 303)
      yield* browser.signIn(key)
      assert.notInclude((yield* browser.get("/dashboard/keys")).text, key)
    })
  )

  it.effect("preview, save and publish a page, and name the nodes that it does not know", () =>
    Effect.gen(function* () {
      const { consumer } = yield* Usher
      const { get, send, submit } = yield* admin
      const { id: experienceId } = yield* brand("POST", "/experiences", { name: "Paged" })
      const all = yield* get("/dashboard/pages")
      const typed = { experienceId, title: "Our drop", slug: "ours" }
      const editor = yield* submit(all, "Create page", typed)
      assert.strictEqual((yield* submit(yield* get("/dashboard/pages"), "Create page", typed)).status, 400)
      const path = /action="(\/dashboard\/pages\/[0-9a-f-]+)"/.exec(editor.text)![1]!
      const blocks = [
        { type: "heading", level: 2, content: "<i>Soon</i>" },
        { type: "carousel" },
        { type: "link", href: "javascript:alert(1)", content: "x" }
      ]
      const document = JSON.stringify({
        schemaVersion: 1,
        editor: "rich-content-v0",
        kind: "experience-page",
        body: { blocks }
      })
      const form = { title: "Our drop", slug: "ours", document }
      const preview = yield* send("POST", path, { ...form, do: "preview" })
      assert.include(textOf(preview), "Nothing was saved")
      assert.include(textOf(preview), "not shown: carousel")
      const shown = unescaped(/<iframe [^>]* sandbox srcdoc="([^"]*)">/.exec(preview.text)![1]!)
      assert.include(shown, "<h3>&lt;i&gt;Soon&lt;/i&gt;</h3>")
      assert.include(shown, "Nothing is open at the moment.")
      assert.notMatch(shown, /href="javascript|<script|http-equiv/)
      assert.notInclude((yield* get(path)).text, "carousel")

      const save = Effect.flatMap(send("POST", path, { ...form, do: "save" }), ({ headers }) =>
        get(headers["location"]!)
      )
      const broken = yield* send("POST", path, { ...form, document: "{", do: "save" })
      assert.strictEqual(broken.status, 400)
      assert.include(textOf(broken), "not valid JSON")
      const unfit = yield* send("POST", path, { ...form, document: '{"editor":"none"}', do: "save" })
      assert.strictEqual(unfit.status, 400)
      assert.include(unfit.text, "&quot;editor&quot;:&quot;none&quot;")
      assert.include(textOf(yield* save), "The page was saved")
      assert.notInclude(textOf(yield* get(path)), "The page was saved")
      const published = yield* submit(yield* get(path), "Publish")
      assert.include(textOf(published), "The page is published")
      const room = yield* consumer({ path: `/e/${experienceId}/ours` })
      assert.include(room.text, "&lt;i&gt;Soon&lt;/i&gt;")
      const asked = yield* submit(published, "Unpublish")
      assert.include(textOf(asked), "Consumers no longer see this page.")
      assert.include(textOf(yield* get(path)), "PUBLISHED")
      assert.include(textOf(yield* submit(asked, "Unpublish")), "The page is draft")
    })
  )

  it.effect("draw the events over time, with a table behind the chart", () =>
    Effect.gen(function* () {
      const { get } = yield* admin
      const { queueId, consumerId } = yield* entered
      const { experienceId } = yield* brand("GET", `/queues/${queueId}`)
      yield* asBrandServer("POST", `/queues/${queueId}/admit`, { count: 1 })
      const path = `/dashboard/analytics?experience=${experienceId}&range=1h`
      const page = yield* eventually(get(path), ({ text }) => text.includes("Entries: 1, Grants: 1, Completions: 0"))
      assert.lengthOf(page.text.match(/<polyline class="(?:waiting|entries|grants)"/g)!, 3)
      assert.match(textOf(page), /Periods with activity/)
      assert.notInclude(page.text, consumerId)
      assert.include(textOf(yield* get(`/dashboard/analytics?range=7d`)), "The last week")
    })
  )

  it.effect("tell the version, whether this process is ready, and its nodes", () =>
    Effect.gen(function* () {
      const { get } = yield* admin
      const page = yield* eventually(get("/dashboard/system"), (found) => /Ready yes/.test(textOf(found)))
      assert.match(textOf(page), /Version [\d.]+ Node.js v\d+/)
      assert.include(textOf(page), "No mechanism is parked")
    })
  )
})
