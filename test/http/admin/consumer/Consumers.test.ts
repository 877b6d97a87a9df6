import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Engine } from "../../../../src/engine/Engine.ts"
import { aConsumer } from "../../../store/support/recordsFixture.ts"
import { aBrokenQueue, Admin, aQueue, eventually, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const unknown = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

const notFound = [404, { error: "Consumer not found" }]

let counter = 0

/** Returns an email address that no consumer has had. */
const email = () => `n${++counter}@example.com`

describe("Consumers on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("are created with any known fields, return every field, and change the fields that are sent", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const { status, body } = yield* call("POST", "/consumers", {
          email: " Ann.Lee@Example.COM ".trim(),
          phone: "0151 12345678",
          defaultCountry: "DE",
          fullName: "Ann Lee",
          externalId: "crm-1",
          loyaltyBalance: "12.50",
          attributes: { tier: "gold" },
          metadata: { source: ["import", 1, null] },
          type: "guest",
          orderCount: 7
        })
        assert.strictEqual(status, 201, JSON.stringify(body))
        const { id, createdAt, createdBy, updatedAt, updatedBy, ...rest } = body
        assert.deepStrictEqual(rest, {
          organizationId: brand.tenant.organizationId,
          type: "authenticated",
          email: "ann.lee@example.com",
          phone: "+4915112345678",
          fullName: "Ann Lee",
          name: null,
          externalId: "crm-1",
          loyaltyBalance: "12.5",
          attributes: { tier: "gold" },
          metadata: { source: ["import", 1, null] },
          orderCount: 0,
          totalOrderValue: "0",
          totalOrderValues: {},
          lastOrderAt: null,
          archived: false
        })
        assert.match(createdBy, /^api_key:/)
        assert.deepStrictEqual([updatedAt, updatedBy], [createdAt, createdBy])
        assert.deepStrictEqual((yield* call("GET", `/consumers/${id}`)).body, body)
        const changed = yield* call("PUT", `/consumers/${id}`, {
          name: "Ann",
          fullName: null,
          phone: null,
          loyaltyBalance: null,
          attributes: { tier: "silver" }
        })
        assert.deepStrictEqual(
          { ...changed.body, updatedAt },
          { ...body, name: "Ann", fullName: null, phone: null, loyaltyBalance: "0", attributes: { tier: "silver" } }
        )
        const bare = yield* call("POST", "/consumers", {})
        assert.deepInclude(bare.body, { type: "authenticated", email: null, loyaltyBalance: "0" })
      })
    )

    it.effect("are one for all spellings of a mailbox, a number and an external id", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const first = yield* call("POST", "/consumers", {
          email: "Zoë@xn--bcher-kva.example",
          phone: "＋81 90 1234 5670",
          externalId: "Cafe\u0301"
        })
        assert.deepInclude(first.body, { email: "zoë@bücher.example", phone: "+819012345670", externalId: "Café" })
        for (const [body, code] of [
          [{ email: "zoe\u0308@bu\u0308cher.example" }, "EMAIL_TAKEN"],
          [{ email: "zoë@ｂüｃｈｅｒ．ｅｘａｍｐｌｅ" }, "EMAIL_TAKEN"],
          [{ phone: "۰۹۰ ۱۲۳۴ ۵۶۷۰", defaultCountry: "JP" }, "PHONE_TAKEN"],
          [{ externalId: "Café" }, "EXTERNAL_ID_TAKEN"]
        ] as const) {
          assert.deepInclude((yield* call("POST", "/consumers", body)).body, { code }, JSON.stringify(body))
        }
        const consumers = [{ email: "zoë@BÜCHER.example", externalId: "Cafe\u0301", fullName: "Zoë" }]
        const { body } = yield* call("POST", "/consumers/batch", { consumers })
        assert.deepInclude(body.data[0], { id: first.body.id, fullName: "Zoë" })
        const twice = [{ email: "yan@xn--fsqu00a.example" }, { email: "yan@例子.example" }]
        assert.strictEqual((yield* call("POST", "/consumers/batch", { consumers: twice })).status, 400)
        for (const search of ["zoë@xn--bcher-kva.example", "ZOË@", "Cafe\u0301"]) {
          const { data } = (yield* call("GET", `/consumers?search=${encodeURIComponent(search)}`)).body
          assert.deepStrictEqual(
            data.map(({ id }: { readonly id: string }) => id),
            [first.body.id],
            search
          )
        }
        for (const short of ["🦄", "e\u0301", "x"])
          assert.strictEqual((yield* call("GET", `/consumers?search=${encodeURIComponent(short)}`)).status, 400, short)
      })
    )

    it.effect("refuse malformed fields, name each, and change nothing", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const before = (yield* call("POST", "/consumers", { email: email() })).body
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [
            { email: "ann", fullName: "", loyaltyBalance: 5, attributes: [], externalId: "x".repeat(201) },
            [
              "attributes: object",
              "email: email",
              "externalId: max_length",
              "fullName: min_length",
              "loyaltyBalance: amount"
            ]
          ],
          [{ loyaltyBalance: "-1" }, ["loyaltyBalance: amount"]],
          [{ metadata: { text: "x".repeat(10_000) } }, ["metadata: max_length"]],
          [{ defaultCountry: "Germany" }, ["defaultCountry: picklist"]],
          [{ phone: "" }, ["phone: min_length"]],
          [{ phone: "0151 12345678" }, ["phone: phone"]],
          [{ phone: "+49 151 1", defaultCountry: "DE" }, ["phone: phone"]]
        ]
        for (const [mistake, expected] of mistakes) {
          assert.deepStrictEqual(issuesOf(yield* call("POST", "/consumers", mistake)), expected)
          assert.deepStrictEqual(issuesOf(yield* call("PUT", `/consumers/${before.id}`, mistake)), expected)
          const inBatch = yield* call("POST", "/consumers/batch", { consumers: [{}, mistake] })
          assert.deepStrictEqual(
            issuesOf(inBatch),
            expected.map((issue) => `consumers.1.${issue}`)
          )
        }
        assert.deepStrictEqual((yield* call("GET", `/consumers/${before.id}`)).body, before)
      })
    )

    it.effect("refuse values that another consumer has", () =>
      Effect.gen(function* () {
        const { call, rehearsal, stranger } = yield* Admin
        const held = { email: email(), phone: "+4915112345670", externalId: "crm-held" }
        yield* call("POST", "/consumers", held)
        const { id } = (yield* call("POST", "/consumers", {})).body
        const codes = { email: "EMAIL_TAKEN", phone: "PHONE_TAKEN", externalId: "EXTERNAL_ID_TAKEN" }
        for (const [field, code] of Object.entries(codes)) {
          const body = { [field]: held[field as keyof typeof held].toUpperCase().replace("CRM-HELD", "crm-held") }
          for (const answer of [
            yield* call("POST", "/consumers", body),
            yield* call("PUT", `/consumers/${id}`, body)
          ]) {
            assert.deepStrictEqual([answer.status, answer.body.code], [409, code])
          }
        }
        for (const as of [rehearsal, stranger]) {
          assert.strictEqual((yield* call("POST", "/consumers", held, as)).status, 201)
        }
      })
    )

    it.effect("are created and changed up to 500 at once, in the order sent", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const as = yield* organization()
        const consumers = Array.from({ length: 500 }, (_, n) => ({ externalId: `crm-${n}`, fullName: `N ${n}` }))
        const created = yield* call("POST", "/consumers/batch", { consumers }, as)
        assert.strictEqual(created.status, 200, created.text.slice(0, 500))
        const names = ({ body }: { readonly body: any }) =>
          body.data.map((each: any) => `${each.externalId} ${each.fullName}`)
        assert.deepStrictEqual(
          names(created),
          consumers.map(({ externalId, fullName }) => `${externalId} ${fullName}`)
        )
        const reversed = consumers.toReversed().map(({ externalId }) => ({ externalId, phone: null, name: "Again" }))
        const changed = yield* call("POST", "/consumers/batch", { consumers: reversed }, as)
        assert.deepStrictEqual(names(changed), names(created).toReversed())
        assert.deepStrictEqual(changed.body.data[499].id, created.body.data[0].id)
        assert.deepInclude(changed.body.data[499], { name: "Again", fullName: "N 0" })
        const counts: ReadonlyArray<readonly [ReadonlyArray<object>, string]> = [
          [[], "min_length"],
          [[...consumers, {}], "max_length"]
        ]
        for (const [rows, type] of counts) {
          const answer = yield* call("POST", "/consumers/batch", { consumers: rows }, as)
          assert.deepStrictEqual(issuesOf(answer), [`consumers: ${type}`])
        }
      })
    )

    it.effect("are all refused if one row is ambiguous", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const as = yield* organization()
        const [one, two] = [email(), email()]
        yield* call("POST", "/consumers", { email: one, externalId: "crm-1" }, as)
        yield* call("POST", "/consumers", { email: two, phone: "+4915112345678" }, as)
        const before = (yield* call("GET", "/consumers", undefined, as)).body.data
        const consumers = [
          { email: email(), fullName: "New" },
          { externalId: "crm-1", email: two },
          { email: one },
          { externalId: "crm-1", fullName: "Again" },
          { phone: "0151 12345678", defaultCountry: "DE", email: one.toUpperCase() }
        ]
        const refused = yield* call("POST", "/consumers/batch", { consumers }, as)
        assert.deepStrictEqual(issuesOf(refused), [
          "consumers.1: picklist",
          "consumers.2: picklist",
          "consumers.3: picklist",
          "consumers.4: picklist"
        ])
        const expected = refused.body.issues.map((issue: { readonly expected: string }) => issue.expected)
        assert.deepStrictEqual(expected, [
          "externalId, email and phone of one consumer",
          "another consumer than row 1 names",
          "another consumer than row 1 names",
          "externalId, email and phone of one consumer"
        ])
        assert.deepStrictEqual((yield* call("GET", "/consumers", undefined, as)).body.data, before)
      })
    )

    it.effect("are listed with guests, filtered by type, sorted, searched and paged", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const as = yield* organization()
        const guest = yield* Effect.orDie(aConsumer(as.tenant))
        const bob = (yield* call("POST", "/consumers", { email: "bob@example.com", fullName: "Zoe" }, as)).body.id
        const ann = (yield* call("POST", "/consumers", { email: "ann@example.com", externalId: "crm-7" }, as)).body.id
        const list = (query: string) =>
          Effect.map(call("GET", `/consumers?${query}`, undefined, as), ({ body }) =>
            body.data.map(({ id }: { readonly id: string }) => id)
          )
        assert.deepStrictEqual(yield* list(""), [guest, bob, ann])
        assert.deepStrictEqual(yield* list("type=guest"), [guest])
        assert.deepStrictEqual(yield* list("type=authenticated&sortBy=email"), [ann, bob])
        assert.deepStrictEqual(yield* list("sortBy=fullName&sortDir=desc"), [bob, ann, guest])
        assert.deepStrictEqual(yield* list("search=EXAMPLE.com&sortBy=email"), [ann, bob])
        assert.deepStrictEqual(yield* list(`search=${guest}`), [guest])
        assert.deepStrictEqual(yield* list("search=crm-7"), [ann])
        const first = yield* call("GET", "/consumers?first=2&sortBy=email", undefined, as)
        const { endCursor } = first.body.pageInfo
        assert.deepStrictEqual(yield* list(`first=2&sortBy=email&after=${endCursor}`), [bob])
        const other = yield* call("GET", `/consumers?sortBy=email&type=guest&after=${endCursor}`, undefined, as)
        assert.deepStrictEqual(issuesOf(other), ["after: string"])
        for (const [query, issue] of [
          ["type=vip", "type: picklist"],
          ["sortBy=phone", "sortBy: picklist"],
          ["search=x", "search: min_length"],
          ["after=x", "after: string"]
        ] as const) {
          assert.deepStrictEqual(issuesOf(yield* call("GET", `/consumers?${query}`, undefined, as)), [issue])
        }
        const { body } = yield* call("GET", "/consumers?sortBy=phone", undefined, as)
        for (const field of ["createdAt", "email", "fullName", "lastOrderAt", "totalOrderValue"]) {
          assert.include(body.issues[0].expected, field)
        }
      })
    )

    it.effect("lose their other places while one of their mechanisms is parked, and the rest when it resumes", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const engine = yield* Engine
        const sql = yield* SqlClient.SqlClient
        const { id } = (yield* call("POST", "/consumers", {})).body
        const [broken, line] = [yield* aBrokenQueue, yield* aQueue()]
        yield* sql`update places set consumer_id = ${id} where mechanism_id = ${broken.id}`
        const queue = { kind: "queue", id: line.id, tenant: brand.tenant } as const
        yield* engine.send(queue, { _tag: "Enter", consumerId: id, isGuest: true, loyaltyScore: 0 })
        const archive = call("DELETE", `/consumers/${id}`)
        const refused = yield* eventually(archive, ({ headers }) => headers.get("retry-after") === "30", "2 minutes")
        assert.deepStrictEqual([refused.status, refused.headers.get("retry-after")], [503, "30"])
        assert.strictEqual((yield* engine.view(queue, id)).status, "LEFT")
        assert.strictEqual((yield* call("GET", `/consumers/${id}`)).status, 404)
        yield* sql`update mechanisms set teardown_status = 'completed' where id = ${broken.id}`
        assert.strictEqual((yield* archive).status, 404)
      })
    )

    it.effect("are not found when they are archived, unknown or another tenant's", () =>
      Effect.gen(function* () {
        const { call, stranger } = yield* Admin
        const { id } = (yield* call("POST", "/consumers", { email: email() })).body
        const foreign = (yield* call("POST", "/consumers", { email: email() }, stranger)).body.id
        const archived = yield* call("DELETE", `/consumers/${id}`)
        assert.deepInclude(archived.body, { id, archived: true })
        for (const each of [id, foreign, unknown]) {
          for (const [method, body] of [["GET"], ["PUT", { name: "x" }], ["DELETE"]] as const) {
            const answer = yield* call(method, `/consumers/${each}`, body)
            assert.deepStrictEqual([answer.status, answer.body], notFound, `${method} ${each}`)
          }
        }
        assert.deepStrictEqual(issuesOf(yield* call("GET", "/consumers/x")), ["id: uuid"])
      })
    )
  })
})
