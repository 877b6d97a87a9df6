import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Admin, anExperience, aQueue, aSequence, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const unknown = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

describe("Experiences on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("are created with a name alone, in UTC and USD, and return every field", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const { status, body, headers } = yield* call("POST", "/experiences", { name: "Drop" })
        assert.strictEqual(status, 201)
        assert.match(headers.get("content-type")!, /^application\/json/)
        const { id, createdAt, createdBy, updatedAt, updatedBy, ...rest } = body
        assert.deepStrictEqual(rest, {
          organizationId: brand.tenant.organizationId,
          name: "Drop",
          openAt: null,
          closeAt: null,
          window: { openAt: null, closeAt: null },
          timeZone: "UTC",
          currencyCode: "USD",
          theme: null,
          i18n: null,
          challenge: null,
          hasAccessCode: false,
          products: [],
          sequences: [],
          archived: false
        })
        assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
        assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        assert.deepStrictEqual([updatedAt, updatedBy], [createdAt, createdBy])
        assert.isNotEmpty(createdBy)
        assert.notInclude(createdBy, brand.key)
        assert.deepStrictEqual((yield* call("GET", `/experiences/${id}`)).body, body)
      })
    )

    it.effect("inherit time zone and currency from the organization", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const as = yield* organization({ timeZone: "Asia/Tokyo", currencyCode: "JPY" })
        const { body } = yield* call("POST", "/experiences", { name: "Drop" }, as)
        assert.deepInclude(body, { timeZone: "Asia/Tokyo", currencyCode: "JPY" })
        const changed = yield* call("PUT", `/experiences/${body.id}`, { timeZone: "Europe/Rome" }, as)
        assert.strictEqual(changed.body.timeZone, "Europe/Rome")
        const reset = yield* call("PUT", `/experiences/${body.id}`, { timeZone: null }, as)
        assert.strictEqual(reset.body.timeZone, "Asia/Tokyo")
      })
    )

    it.effect("accept every setting and times with any offset, and ignore unknown fields", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const body = {
          name: "Drop",
          openAt: "2027-01-01T10:00:00+02:00",
          closeAt: "2027-01-02T10:00:00.5Z",
          timeZone: "Europe/Berlin",
          currencyCode: "EUR",
          theme: { primary: "#112233", logoUrl: "https://example.com/l.png", variant: "clean" },
          i18n: { de: { title: "Los" } },
          unheardOf: true,
          archived: true,
          id: "mine"
        }
        const created = yield* call("POST", "/experiences", body)
        assert.strictEqual(created.status, 201)
        assert.deepInclude(created.body, {
          openAt: "2027-01-01T08:00:00.000Z",
          closeAt: "2027-01-02T10:00:00.500Z",
          theme: body.theme,
          i18n: body.i18n,
          archived: false
        })
        assert.notProperty(created.body, "unheardOf")
        // A record can be sent back unchanged.
        const echoed = yield* call("PUT", `/experiences/${created.body.id}`, created.body)
        assert.strictEqual(echoed.status, 200)
        const { updatedAt: _, sequences: __, ...unchanged } = created.body
        assert.deepInclude(echoed.body, unchanged)
      })
    )

    it.effect("change the fields that are sent: absent fields stay, and null clears", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* anExperience({
          openAt: "2027-01-01T00:00:00Z",
          theme: { primary: "red" },
          i18n: { a: 1 }
        })
        const renamed = yield* call("PUT", `/experiences/${id}`, { name: "Renamed", i18n: null })
        assert.strictEqual(renamed.status, 200)
        assert.deepInclude(renamed.body, {
          name: "Renamed",
          i18n: null,
          theme: { primary: "red" },
          openAt: "2027-01-01T00:00:00.000Z"
        })
        const nothing = yield* call("PUT", `/experiences/${id}`, {})
        assert.deepInclude(nothing.body, { name: "Renamed", theme: { primary: "red" } })
      })
    )

    it.effect("refuse malformed fields, name every mistake, and change nothing", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* anExperience({ openAt: "2027-01-01T00:00:00Z" })
        const before = (yield* call("GET", `/experiences/${id}`)).text
        const count = (yield* call("GET", "/experiences?first=100")).body.data.length
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ name: "" }, ["name: min_length"]],
          [{ name: 5 }, ["name: string"]],
          [{ name: null }, ["name: string"]],
          [{ name: "x".repeat(201) }, ["name: max_length"]],
          [{ name: "a\u0000b" }, ["name: string"]],
          [{ name: "a\ud800b" }, ["name: string"]],
          [{ openAt: "soon" }, ["openAt: date_time"]],
          [{ openAt: "2027-01-01" }, ["openAt: date_time"]],
          [{ openAt: "2027-01-01T00:00:00" }, ["openAt: date_time"]],
          [{ openAt: "2027-13-41T00:00:00Z" }, ["openAt: date_time"]],
          [{ openAt: 1_800_000_000 }, ["openAt: string"]],
          [{ closeAt: "2026-12-31T00:00:00Z", openAt: "2027-01-01T00:00:00Z" }, ["closeAt: date_time"]],
          [{ closeAt: "2027-01-01T00:00:00Z", openAt: "2027-01-01T01:00:00+01:00" }, ["closeAt: date_time"]],
          [{ timeZone: "Mars/Olympus" }, ["timeZone: picklist"]],
          [{ timeZone: "+01:00" }, ["timeZone: picklist"]],
          [{ timeZone: "" }, ["timeZone: picklist"]],
          [{ currencyCode: "euro" }, ["currencyCode: picklist"]],
          [{ currencyCode: "eur" }, ["currencyCode: picklist"]],
          [{ theme: "red" }, ["theme: object"]],
          [
            { theme: { primary: 1, variant: "loud", logoUrl: "not a url" } },
            ["theme.logoUrl: string", "theme.primary: string", "theme.variant: picklist"]
          ],
          [{ i18n: [] }, ["i18n: object"]],
          [{ i18n: "de" }, ["i18n: object"]],
          [{ i18n: { de: "a\u0000" } }, ["i18n: json"]],
          [{ i18n: { "a\u0000": 1 } }, ["i18n: json"]],
          [{ accessCode: "" }, ["accessCode: min_length"]],
          [{ accessCode: "x".repeat(201) }, ["accessCode: max_length"]],
          [{ products: {} }, ["products: array"]],
          [{ products: [{}] }, ["products.0.productId: string"]],
          [
            { products: [{ productId: "x", position: -1 }] },
            ["products.0.position: min_value", "products.0.productId: uuid"]
          ],
          [{ products: [{ productId: unknown }] }, ["products.0.productId: picklist"]],
          [{ products: Array.from({ length: 201 }, () => ({ productId: unknown })) }, ["products: max_length"]],
          [
            { products: [{ productId: unknown }], openAt: "2027-01-01T00:00:00Z", closeAt: "2026-12-31T00:00:00Z" },
            ["closeAt: date_time", "products.0.productId: picklist"]
          ]
        ]
        for (const [mistake, expected] of mistakes) {
          const shown = JSON.stringify(mistake)
          const creation = yield* call("POST", "/experiences", { name: "Drop", ...mistake })
          assert.deepStrictEqual(issuesOf(creation), expected, `POST ${shown}`)
          assert.deepStrictEqual(issuesOf(yield* call("PUT", `/experiences/${id}`, mistake)), expected, `PUT ${shown}`)
        }
        assert.deepStrictEqual(issuesOf(yield* call("POST", "/experiences", {})), ["name: string"])
        for (const body of ["", "[]", "null", "5", "{", '"x"']) {
          assert.strictEqual((yield* call("POST", "/experiences", body)).status, 400, `POST ${body}`)
          assert.strictEqual((yield* call("PUT", `/experiences/${id}`, body)).status, 400, `PUT ${body}`)
        }
        assert.strictEqual((yield* call("GET", `/experiences/${id}`)).text, before)
        assert.lengthOf((yield* call("GET", "/experiences?first=100")).body.data, count)
      })
    )

    it.effect("refuse a changed bound that would end the window before it begins", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* anExperience({ openAt: "2027-01-01T00:00:00Z", closeAt: "2027-01-02T00:00:00Z" })
        const refused = yield* call("PUT", `/experiences/${id}`, { openAt: "2027-01-03T00:00:00Z" })
        assert.deepStrictEqual(issuesOf(refused), ["closeAt: date_time"])
        assert.strictEqual(refused.body.issues[0].received, '"2027-01-02T00:00:00.000Z"')
        const moved = { openAt: "2027-01-03T00:00:00Z", closeAt: "2027-01-04T00:00:00Z" }
        assert.strictEqual((yield* call("PUT", `/experiences/${id}`, moved)).status, 200)
      })
    )

    it.effect("survive JSON that is nested deeper than any stack", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const deep = "[".repeat(200_000) + "]".repeat(200_000)
        const refused = yield* call("POST", "/experiences", `{"name":"Drop","i18n":{"a":${deep}}}`)
        assert.deepStrictEqual(issuesOf(refused), [": json"])
        assert.strictEqual((yield* call("POST", "/experiences", `{"name":"Drop","other":${deep}}`)).status, 400)
        assert.strictEqual((yield* call("POST", "/experiences", { name: "Drop" })).status, 201)
      })
    )

    it.effect("show the window of their mechanisms where they have no window", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const sequence = yield* aSequence()
        const window = { openAt: "2031-01-01T00:00:00Z", closeAt: "2031-01-03T00:00:00Z" }
        yield* aQueue({ sequenceId: sequence.id, ...window })
        yield* aQueue({ sequenceId: sequence.id, openAt: "2031-01-02T00:00:00Z", closeAt: "2031-01-04T00:00:00Z" })
        const { body } = yield* call("GET", `/experiences/${sequence.experienceId}`)
        assert.deepInclude(body, { openAt: "2031-01-01T00:00:00.000Z", closeAt: "2031-01-04T00:00:00.000Z" })
      })
    )

    it.effect("are checked: what looks wrong is named with the record in which it is mended", () =>
      Effect.gen(function* () {
        const { call, stranger } = yield* Admin
        const day = 86_400_000
        const inDays = (days: number) => new Date(Math.floor(Date.now() / day + days) * day + day / 2).toISOString()
        const size = { sku: "M", price: "90", inventoryQuantity: 3, inventoryPolicy: "deny" }
        const grants = { admissionExpirationSeconds: 600 }
        const late = {
          name: "Late",
          admitRate: 60,
          maxAdmissions: 10,
          recycleExpiredAdmissions: true,
          ...grants,
          openAt: inDays(4),
          closeAt: inDays(5)
        }
        const raffle = { name: "Raffle", openAt: inDays(2), drawAt: inDays(3), winnerCount: 1, ...grants }
        const { body } = yield* call("POST", "/experiences", {
          name: "Drop",
          openAt: inDays(2),
          closeAt: inDays(3),
          newProducts: [{ name: "Coat", variants: [size] }],
          i18n: { en: { enterQueue: "In" }, german: { enterQueue: "Rein" } },
          sequences: [{ name: "All", queues: [late, { name: "Ended", admitRate: 0 }], draws: [raffle] }]
        })
        const [sequence] = body.sequences
        const [queue, ended] = sequence.queues
        assert.strictEqual((yield* call("POST", `/queues/${ended.id}/end`)).status, 200)
        const path = `/experiences/${body.id}/check`
        const checked = yield* call("GET", path)
        assert.strictEqual(checked.status, 200)
        const found = checked.body.findings.map(({ code, severity, record, recordId, field }: any) => [
          code,
          severity,
          record,
          recordId,
          field
        ])
        assert.includeDeepMembers(found, [
          ["OPENS_AFTER_EXPERIENCE_CLOSES", "error", "distribution", queue.id, "openAt"],
          ["MORE_UNITS_THAN_STOCK", "error", "distribution", queue.id, null],
          ["DRAW_WITHOUT_BEACON", "warning", "distribution", sequence.draws[0].id, "beacon"],
          ["LANGUAGE_UNKNOWN", "warning", "experience", body.id, "i18n"],
          ["NO_WEBHOOK", "warning", "webhook", null, "events"],
          ["WINNERS_NOT_TOLD", "warning", "organization", null, "grantMessages"]
        ])
        const codes = found.map(([code]: ReadonlyArray<string>) => code)
        assert.notInclude(codes, "RATE_ZERO")
        assert.notInclude(codes, "VARIANT_WITHOUT_PRICE")
        assert.strictEqual((yield* call("GET", path, undefined, stranger)).status, 404)
        // Mended: the queue opens with the drop, and gives away what is there.
        yield* call("PUT", `/queues/${queue.id}`, { openAt: inDays(2), closeAt: inDays(3), maxAdmissions: 2 })
        const mended = (yield* call("GET", path)).body.findings.map(({ code }: any) => code)
        assert.notInclude(mended, "OPENS_AFTER_EXPERIENCE_CLOSES")
        assert.notInclude(mended, "MORE_UNITS_THAN_STOCK")
      })
    )

    it.effect("are checked with their audiences and messages, and as of another instant", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        yield* call("PUT", "/organizations/me", { grantMessages: "email" })
        const audience = (yield* call("POST", "/audiences", { name: "Members", type: "STATIC" })).body
        const queue = { name: "Line", admitRate: 60, maxAdmissions: 2, admissionExpirationSeconds: 600 }
        const { body } = yield* call("POST", "/experiences", {
          name: "Drop",
          openAt: "2031-01-01T12:00:00Z",
          closeAt: "2031-01-02T12:00:00Z",
          sequences: [{ name: "Members", audienceId: audience.id, queues: [queue] }]
        })
        const document = (content: string) => ({
          schemaVersion: 1,
          editor: "email-components-v1",
          kind: "transactional-email",
          body: { subjectTemplate: "Your turn", nodes: [{ type: "p", content }] }
        })
        const made = { experienceId: body.id, status: "PUBLISHED" }
        const old = { ...made, slug: "old", title: "Old", creativeDocument: document("{{ nobody }}") }
        yield* call("POST", "/experience-pages", old)
        const page = { ...made, slug: "new", title: "New", creativeDocument: document("{{ consumerNmae }}") }
        const { id } = (yield* call("POST", "/experience-pages", page)).body
        const checked = (query = "") =>
          Effect.map(call("GET", `/experiences/${body.id}/check${query}`), (answer) =>
            answer.body.findings.map(({ code, recordId }: any) => [code, recordId])
          )
        assert.includeDeepMembers(yield* checked(), [
          ["AUDIENCE_EMPTY", body.sequences[0].id],
          ["PLACEHOLDER_UNKNOWN", id],
          ["PLACEHOLDER_MISSING", id]
        ])
        const codesOf = (found: ReadonlyArray<ReadonlyArray<string>>) => found.map(([code]) => code)
        assert.include(codesOf(yield* checked("?at=2031-02-01T00:00:00Z")), "EXPERIENCE_OVER")
        yield* call("POST", `/queues/${body.sequences[0].queues[0].id}/end`)
        assert.deepStrictEqual(yield* checked(), [])
        assert.include(codesOf(yield* checked("?at=2030-12-31T00:00:00Z")), "AUDIENCE_EMPTY")
      })
    )

    it.effect("archive everything below them, even records that are created at the same time", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const sequence = yield* aSequence()
        yield* aQueue({ sequenceId: sequence.id })
        const create = call("POST", "/queues", { sequenceId: sequence.id, name: "Line", admitRate: 0 })
        const [archived, ...created] = yield* Effect.all(
          [call("DELETE", `/experiences/${sequence.experienceId}`), ...Array.from({ length: 12 }, () => create)],
          { concurrency: "unbounded" }
        )
        assert.strictEqual(archived.status, 200)
        for (const { status, body } of created) {
          assert.include([201, 404], status)
          if (status === 201) assert.strictEqual((yield* call("GET", `/queues/${body.id}`)).status, 404)
        }
      })
    )

    it.effect("are archived with all records below them, which are not found or accepted afterwards", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const sequence = yield* aSequence()
        const queues = [yield* aQueue({ sequenceId: sequence.id }), yield* aQueue({ sequenceId: sequence.id })]
        const path = `/experiences/${sequence.experienceId}`
        const archived = yield* call("DELETE", path)
        assert.deepInclude(archived.body, { id: sequence.experienceId, archived: true })
        assert.strictEqual(archived.status, 200)
        const gone = [
          ...(yield* Effect.forEach(["GET", "DELETE"], (method) => call(method, path))),
          yield* call("PUT", path, { name: "x" }),
          yield* call("POST", "/sequences", { name: "Late", experienceId: sequence.experienceId })
        ]
        for (const { status, body } of gone) {
          assert.deepStrictEqual([status, body], [404, { error: "Experience not found" }])
        }
        for (const { status, body } of [
          yield* call("GET", `/sequences/${sequence.id}`),
          yield* call("POST", "/queues", { name: "Late", admitRate: 1, sequenceId: sequence.id })
        ]) {
          assert.deepStrictEqual([status, body], [404, { error: "Sequence not found" }])
        }
        for (const { id } of queues) {
          assert.deepStrictEqual((yield* call("GET", `/queues/${id}`)).body, { error: "Queue not found" })
          assert.deepStrictEqual((yield* call("GET", `/distributions/${id}`)).body, { error: "Distribution not found" })
        }
        const listed = (yield* call("GET", "/experiences?first=100")).body.data
        assert.notInclude(
          listed.map(({ id }: { id: string }) => id),
          sequence.experienceId
        )
      })
    )
  })
})
