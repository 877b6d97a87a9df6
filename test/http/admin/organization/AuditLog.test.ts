/** The audit log: what it shows of each kind of record, its filters, its tenants, and what it never shows. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Admin, aQueue, anExperience, layer as adminLayer, type Organization } from "../adminFixture.ts"

const list = Effect.fnUntraced(function* (query = "", as?: Organization) {
  const { call } = yield* Admin
  const { status, body, text } = yield* call("GET", `/audit-log?first=100&${query}`, undefined, as)
  assert.strictEqual(status, 200, text)
  return body.data as ReadonlyArray<any>
})

const send = Effect.fnUntraced(function* (method: string, path: string, body?: object, as?: Organization) {
  const { call } = yield* Admin
  const answer = yield* call(method, path, body, as)
  assert.isBelow(answer.status, 300, `${method} ${path}: ${answer.text}`)
  return answer.body
})

const keyOf = Effect.fnUntraced(function* ({ tenant }: Organization) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ id: string; organization_id: string; mode: string }>`select * from api_keys`
  const own = rows.find((row) => row.organization_id === tenant.organizationId && row.mode === tenant.mode)
  return `api_key:${own!.id}`
})

const secret = "canary-in-a-secret"

describe("The audit log", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("names the author of a change, and the record's values before and after", () =>
      Effect.gen(function* () {
        const { organization } = yield* Admin
        const as = yield* organization()
        const actor = yield* keyOf(as)
        const { id } = yield* anExperience({ name: "Drop" }, as)
        yield* send("PUT", `/experiences/${id}`, { name: "Late drop", timeZone: "Europe/Paris" }, as)
        // The offered products of an experience are stored below it.
        yield* send("PUT", `/experiences/${id}`, { products: [] }, as)
        yield* send("DELETE", `/experiences/${id}`, undefined, as)
        yield* send("POST", `/experiences/${id}/restore`, undefined, as)
        const found = yield* list(`subjectId=${id}`, as)
        assert.deepStrictEqual(
          found.map(({ type, changed, before, after }) => [type, changed, before, after]),
          [
            [
              "experience.created",
              ["currencyCode", "name", "timeZone"],
              {},
              { name: "Drop", timeZone: "UTC", currencyCode: "USD" }
            ],
            [
              "experience.updated",
              ["name", "timeZone"],
              { name: "Drop", timeZone: "UTC" },
              { name: "Late drop", timeZone: "Europe/Paris" }
            ],
            ["experience.updated", [], {}, {}],
            ["experience.archived", [], {}, {}],
            ["experience.restored", [], {}, {}]
          ]
        )
        for (const event of found) assert.deepInclude(event, { actor, subjectId: id })
      })
    )

    it.effect("names one author for all that a request writes", () =>
      Effect.gen(function* () {
        const { organization } = yield* Admin
        const as = yield* organization()
        const product = { name: "Sneaker", variants: [{ sku: "S-42", price: "120.00" }] }
        const { id, variants } = yield* send("POST", "/products", product, as)
        const found = yield* list(`actor=${yield* keyOf(as)}`, as)
        assert.deepStrictEqual(
          found.map(({ type, subjectId }) => [type, subjectId]),
          [
            ["product.created", id],
            ["variant.created", variants[0].id],
            ["product.updated", id]
          ]
        )
        assert.deepInclude(found[1].after, { productId: id, sku: "S-42", price: "120.00" })
      })
    )

    it.effect("has the settings of mechanisms, and no changes of places", () =>
      Effect.gen(function* () {
        const { organization } = yield* Admin
        const as = yield* organization()
        const { id } = yield* aQueue({ name: "Line", admitRate: 5 }, as)
        yield* send("PUT", `/queues/${id}`, { admitRate: 60 }, as)
        yield* send("POST", `/queues/${id}/end`, undefined, as)
        const found = yield* list(`subjectId=${id}`, as)
        assert.deepStrictEqual(
          found.map(({ type }) => type),
          ["distribution.created", "distribution.updated", "distribution.updated"]
        )
        assert.deepInclude(found[0].after, { kind: "queue", name: "Line", admitRate: 5 })
        assert.deepStrictEqual([found[1].before, found[1].after], [{ admitRate: 5 }, { admitRate: 60 }])
        assert.strictEqual(found[2].after.statusOverride, "ended")
        for (const { actor } of found) assert.strictEqual(actor, yield* keyOf(as))
      })
    )

    it.effect("has changes of the organization in both modes, and those of keys and webhooks", () =>
      Effect.gen(function* () {
        const { brand, rehearsal } = yield* Admin
        yield* send("PUT", "/organizations/me", { timeZone: "Europe/Paris" })
        for (const as of [brand, rehearsal]) {
          const [event] = yield* list("type=organization.updated", as)
          assert.deepInclude(event, { actor: yield* keyOf(brand), after: { timeZone: "Europe/Paris" } })
        }
        yield* send("POST", "/api-keys/publishable/rotate", undefined)
        const [created] = yield* list("type=api_key.created&sortDir=desc")
        assert.deepInclude(created, { actor: yield* keyOf(brand), after: { kind: "publishable" } })
        const { id } = yield* send("POST", "/webhooks", {
          url: `https://shop.example/${secret}`,
          events: ["distribution.joined"],
          secret
        })
        yield* send("POST", `/webhooks/${id}/secret/rotate`, {})
        yield* send("POST", `/webhooks/${id}/disable`)
        yield* send("POST", `/webhooks/${id}/enable`, {})
        yield* send("DELETE", `/webhooks/${id}`)
        assert.deepStrictEqual(
          (yield* list(`subjectId=${id}`)).map(({ type }) => type),
          ["webhook.created", "webhook.secret_rotated", "webhook.disabled", "webhook.enabled", "webhook.archived"]
        )
      })
    )

    it.effect("has the changes of receivers and of their secrets", () =>
      Effect.gen(function* () {
        const given = { adapter: "stripe", description: "Shop", url: `https://shop.example/${secret}`, secret }
        const { id } = yield* send("POST", "/receivers", given)
        yield* send("PUT", `/receivers/${id}`, { description: "Shop in Paris" })
        yield* send("PUT", `/receivers/${id}`, { secret: `${secret}-2` })
        yield* send("PUT", `/receivers/${id}`, { description: "Shop in Lyon", secret: `${secret}-3` })
        yield* send("DELETE", `/receivers/${id}`)
        yield* send("POST", `/receivers/${id}/restore`)
        assert.deepStrictEqual(
          (yield* list(`subjectId=${id}`)).map(({ type, changed, after }) => [type, changed, after]),
          [
            ["receiver.created", ["adapter", "description", "url"], { adapter: "stripe", description: "Shop" }],
            ["receiver.updated", ["description"], { description: "Shop in Paris" }],
            ["receiver.secret_rotated", ["secret"], {}],
            ["receiver.updated", ["description"], { description: "Shop in Lyon" }],
            ["receiver.secret_rotated", ["secret"], {}],
            ["receiver.archived", [], {}],
            ["receiver.restored", [], {}]
          ]
        )
      })
    )

    it.effect("has the changes of people, without their addresses", () =>
      Effect.gen(function* () {
        const { id } = yield* send("POST", "/people", { email: "audited@example.com", name: "Ann", role: "viewer" })
        yield* send("PUT", `/people/${id}`, { role: "admin" })
        yield* send("DELETE", `/people/${id}`)
        yield* send("POST", `/people/${id}/restore`)
        assert.deepStrictEqual(
          (yield* list(`subjectId=${id}`)).map(({ type, changed, after }) => [type, changed, after]),
          [
            ["person.created", ["email", "name", "role"], { role: "viewer" }],
            ["person.updated", ["role"], { role: "admin" }],
            ["person.archived", [], {}],
            ["person.restored", [], {}]
          ]
        )
      })
    )

    it.effect("is filtered by type, actor, record and time, and shows nothing of another tenant", () =>
      Effect.gen(function* () {
        const { organization, stranger, rehearsal } = yield* Admin
        const as = yield* organization()
        const actor = yield* keyOf(as)
        const { id } = yield* anExperience({}, as)
        yield* send("POST", "/products", { name: "Sneaker" }, as)
        const types = (query: string, by = as) =>
          Effect.map(list(query, by), (found) =>
            found.map(({ type }) => type).filter((type) => !/^(org|api)/.test(type))
          )
        assert.deepStrictEqual(yield* types(""), ["experience.created", "product.created"])
        assert.deepStrictEqual(yield* types("type=product.created"), ["product.created"])
        assert.deepStrictEqual(yield* types(`actor=${actor}`), ["experience.created", "product.created"])
        assert.deepStrictEqual(yield* types("actor=system"), [])
        assert.deepStrictEqual(yield* types(`subjectId=${id}`), ["experience.created"])
        assert.deepStrictEqual(yield* types("from=2999-01-01T00:00:00Z"), [])
        assert.deepStrictEqual(yield* types("until=2020-01-01T00:00:00Z"), [])
        assert.lengthOf(yield* types("from=2020-01-01T00:00:00Z&until=2999-01-01T00:00:00Z"), 2)
        for (const other of [stranger, rehearsal]) assert.deepStrictEqual(yield* list(`subjectId=${id}`, other), [])
      })
    )

    it.effect("never contains secrets, addresses or descriptions of a consumer", () =>
      Effect.gen(function* () {
        const { organization } = yield* Admin
        const as = yield* organization()
        const note = { note: secret }
        const challenge = { provider: "turnstile", siteKey: "site", secretKey: secret }
        yield* send("PUT", "/organizations/me", { challenge }, as)
        const experience = yield* anExperience({ accessCode: secret, i18n: note }, as)
        yield* send("PUT", `/experiences/${experience.id}`, { accessCode: `${secret}-2` }, as)
        const below = { experienceId: experience.id, name: "Sale", accessCode: secret }
        yield* send("POST", "/sequences", below, as)
        const consumer = yield* send(
          "POST",
          "/consumers",
          {
            email: `${secret}@example.com`,
            phone: "+4915112345678",
            fullName: secret,
            externalId: secret,
            attributes: note,
            metadata: note
          },
          as
        )
        yield* send("PUT", `/consumers/${consumer.id}`, { fullName: `${secret}-2`, name: secret }, as)
        yield* send("POST", "/products", { name: "Sneaker", metadata: note }, as)
        yield* send("POST", "/sync-sources", { syncSource: "shop", syncSourceId: "1", sourceData: note }, as)
        yield* send("POST", "/media-assets", { name: "Box", uploadUrl: `https://cdn.example/${secret}` }, as)
        const order = { consumerId: consumer.id, items: [], currencyCode: "USD", externalId: secret, number: secret }
        yield* send("POST", "/orders", { ...order, metadata: note }, as)
        const url = `https://shop.example/${secret}`
        const webhook = yield* send("POST", "/webhooks", { url, events: ["distribution.joined"], secret }, as)
        yield* send("POST", `/webhooks/${webhook.id}/secret/rotate`, {}, as)
        yield* send("POST", "/audiences", { name: "Friends" }, as)
        yield* send("POST", "/receivers", { adapter: "stripe", url, secret }, as)

        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql<{ type: string; text: string }>`select type, t::text as text from tenant_events t`
        const digits = Buffer.from(secret).toString("hex")
        for (const { type, text } of rows) {
          for (const leaked of [secret, "4915112345678", "whsec_", "sk_live", digits])
            assert.notInclude(text, leaked, type)
        }
        const named = (yield* list("", as)).flatMap(({ type, changed }) =>
          changed.map((field: string) => `${type} ${field}`)
        )
        assert.includeMembers(named, [
          "organization.updated challenge",
          "organization.secret_rotated challengeSecret",
          "experience.updated accessCode",
          "consumer.created email",
          "consumer.updated fullName",
          "order.created metadata",
          "webhook.secret_rotated secret"
        ])
      })
    )
  })
})
