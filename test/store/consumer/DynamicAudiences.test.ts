import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AudienceRules, Rule } from "../../../src/domain/consumer/AudienceRules.ts"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { AudienceMembers } from "../../../src/store/consumer/AudienceMembers.ts"
import { Audiences } from "../../../src/store/consumer/Audiences.ts"
import { Experiences } from "../../../src/store/experience/Experiences.ts"
import { ExperienceViews } from "../../../src/store/experience/ExperienceViews.ts"
import type { PageQuery } from "../../../src/store/records/Pagination.ts"
import { SequenceAccess } from "../../../src/store/experience/SequenceAccess.ts"
import { Sequences } from "../../../src/store/experience/Sequences.ts"
import { aConsumer, aTenant, inTestMode, isAdmitted, layer as records, walk } from "../support/recordsFixture.ts"

const rule = (field: string, op: Rule["op"], value: Rule["value"]): Rule => ({ field, op, value })

const all = (...rules: ReadonlyArray<Rule>): AudienceRules => ({ match: "all", rules })

/** Creates three consumers: one with all fields, one with few, and a guest with none. */
const trio = Effect.fnUntraced(function* (tenant: Tenant) {
  const sql = yield* SqlClient.SqlClient
  const ann = yield* aConsumer(tenant, {
    type: "authenticated",
    created_at: new Date("2026-03-01T12:00:00Z"),
    email: "ann@example.com",
    phone: "+4915112345678",
    full_name: "Ann O'Neil",
    external_id: "CRM-1",
    loyalty_balance: "99.5",
    order_count: 3,
    total_order_value: "120.25",
    last_order_at: new Date("2026-05-01T00:00:00Z")
  })
  const attributes = { tier: "gold", visits: 7, vip: true, gone: null, list: ["gold"], "a.b": "dot" }
  yield* sql`update consumers set attributes = ${JSON.stringify(attributes)}::text::jsonb where id = ${ann}`
  const bob = yield* aConsumer(tenant, {
    type: "authenticated",
    created_at: new Date("2026-01-01T00:00:00Z"),
    email: "bob@example.org"
  })
  yield* sql`update consumers set attributes = '{"tier": 7, "visits": "many"}' where id = ${bob}`
  const guest = yield* aConsumer(tenant, { created_at: new Date("2025-01-01T00:00:00Z") })
  return { ann, bob, guest }
})

describe("Dynamic audiences in Postgres", () => {
  layer(records, { excludeTestServices: true })((it) => {
    it.effect("contain the consumers that match the rules, for every field and comparison", () =>
      Effect.gen(function* () {
        const audiences = yield* Audiences
        const members = yield* AudienceMembers
        const tenant = yield* aTenant()
        const people = yield* trio(tenant)
        const cases: ReadonlyArray<readonly [Rule, ReadonlyArray<keyof typeof people>]> = [
          [rule("type", "eq", "guest"), ["guest"]],
          [rule("type", "ne", "guest"), ["bob", "ann"]],
          [rule("type", "in", ["guest", "authenticated"]), ["guest", "bob", "ann"]],
          [rule("email", "eq", "ANN@example.com"), ["ann"]],
          [rule("email", "ne", "ann@example.com"), ["guest", "bob"]],
          [rule("email", "endsWith", "@EXAMPLE.org"), ["bob"]],
          [rule("email", "startsWith", "a"), ["ann"]],
          [rule("email", "contains", "example"), ["bob", "ann"]],
          [rule("email", "contains", "%"), []],
          [rule("email", "in", ["BOB@example.org", "x"]), ["bob"]],
          [rule("email", "exists", false), ["guest"]],
          [rule("phone", "exists", true), ["ann"]],
          [rule("phone", "startsWith", "+49"), ["ann"]],
          [rule("fullName", "eq", "ann o'neil"), ["ann"]],
          [rule("fullName", "contains", "' or true --"), []],
          [rule("externalId", "eq", "CRM-1"), ["ann"]],
          [rule("externalId", "eq", "crm-1"), []],
          [rule("createdAt", "gte", "2026-01-01T01:00:00+01:00"), ["bob", "ann"]],
          [rule("createdAt", "gt", "2026-01-01T00:00:00Z"), ["ann"]],
          [rule("createdAt", "eq", "2026-01-01T00:00:00Z"), ["bob"]],
          [rule("lastOrderAt", "lt", "2027-01-01T00:00:00Z"), ["ann"]],
          [rule("lastOrderAt", "exists", false), ["guest", "bob"]],
          [rule("loyaltyBalance", "gte", "99.50"), ["ann"]],
          [rule("loyaltyBalance", "lt", "99.50000001"), ["guest", "bob", "ann"]],
          [rule("totalOrderValue", "in", ["120.25"]), ["ann"]],
          [rule("orderCount", "lte", 0), ["guest", "bob"]],
          [rule("orderCount", "ne", 3), ["guest", "bob"]],
          [rule("attributes.tier", "eq", "gold"), ["ann"]],
          [rule("attributes.tier", "ne", "gold"), ["guest", "bob"]],
          [rule("attributes.tier", "eq", 7), ["bob"]],
          [rule("attributes.tier", "eq", "7"), []],
          [rule("attributes.tier", "in", ["gold", 7]), ["bob", "ann"]],
          [rule("attributes.tier", "contains", "ol"), ["ann"]],
          [rule("attributes.tier", "contains", "7"), []],
          [rule("attributes.visits", "gt", 6.5), ["ann"]],
          [rule("attributes.visits", "gt", 7), []],
          [rule("attributes.vip", "eq", true), ["ann"]],
          [rule("attributes.gone", "exists", true), []],
          [rule("attributes.gone", "exists", false), ["guest", "bob", "ann"]],
          [rule("attributes.list", "contains", "gold"), []],
          [rule("attributes.a.b", "endsWith", "ot"), ["ann"]],
          [rule("attributes.it's", "exists", true), []]
        ]
        const { id } = yield* audiences.create(tenant, "x", { name: "Fitting", rules: all(cases[0]![0]) })
        for (const [rules, expected] of cases) {
          const { memberCount } = yield* audiences.change(tenant, id, "x", { rules: all(rules) })
          const { data } = yield* members.list(tenant, id, {})
          assert.deepStrictEqual(
            data.map(({ consumerId }) => consumerId),
            expected.map((name) => people[name]),
            JSON.stringify(rules)
          )
          assert.strictEqual(memberCount, expected.length)
        }
      })
    )

    it.effect("compare text by the rules of Unicode, and an email in any spelling", () =>
      Effect.gen(function* () {
        const audiences = yield* Audiences
        const members = yield* AudienceMembers
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const id = yield* aConsumer(tenant, {
          type: "authenticated",
          email: "anna@bücher.example",
          full_name: "Νίκος Straße Chloe\u0301",
          external_id: "é-1"
        })
        yield* sql`update consumers set attributes = ${JSON.stringify({ city: "Que\u0301bec" })}::text::jsonb where id = ${id}`
        const decomposed = "Québec".normalize("NFD")
        const fitting: ReadonlyArray<Rule> = [
          rule("email", "eq", "ANNA@xn--bcher-kva.example"),
          rule("email", "in", ["anna@ｂüｃｈｅｒ.example"]),
          rule("email", "endsWith", "@xn--bcher-kva.example"),
          rule("email", "contains", "BU\u0308CHER"),
          rule("fullName", "startsWith", "ΝΊΚΟΣ"),
          rule("fullName", "contains", "νίκοσ STRASSE"),
          rule("fullName", "endsWith", "CHLOÉ"),
          rule("externalId", "eq", "e\u0301-1"),
          rule("attributes.city", "eq", "Québec"),
          rule("attributes.city", "in", [decomposed]),
          rule("attributes.city", "startsWith", "Qué")
        ]
        for (const each of fitting) {
          const { id: audienceId } = yield* audiences.create(tenant, "x", { name: "Fitting", rules: all(each) })
          const { data } = yield* members.list(tenant, audienceId, {})
          assert.deepStrictEqual(
            data.map(({ consumerId }) => consumerId),
            [id],
            JSON.stringify(each)
          )
        }
        for (const other of [
          rule("email", "ne", "anna@xn--bcher-kva.example"),
          rule("attributes.city", "ne", decomposed)
        ]) {
          const { memberCount } = yield* audiences.create(tenant, "x", { name: "Other", rules: all(other) })
          assert.strictEqual(memberCount, 0, JSON.stringify(other))
        }
      })
    )

    it.effect("require all rules or any, and never include another tenant's or archived consumers", () =>
      Effect.gen(function* () {
        const audiences = yield* Audiences
        const members = yield* AudienceMembers
        const tenant = yield* aTenant()
        const { ann, bob, guest } = yield* trio(tenant)
        yield* trio(inTestMode(tenant))
        yield* aConsumer(tenant, { archived: true, email: "archived@example.com" })
        const rules = [rule("email", "endsWith", ".com"), rule("createdAt", "lt", "2025-06-01T00:00:00Z")]
        const any = yield* audiences.create(tenant, "x", { name: "Any", rules: { match: "any", rules } })
        assert.deepInclude(any, { type: "DYNAMIC", memberCount: 2, rules: { match: "any", rules } })
        const none = yield* audiences.create(tenant, "x", { name: "All", rules: all(...rules) })
        assert.strictEqual(none.memberCount, 0)
        const both = all(rule("email", "contains", "example"), rule("email", "contains", "@"))
        const { id } = yield* audiences.create(tenant, "x", { name: "Both", rules: both })
        const walked = yield* walk(1, (query: PageQuery<never>) => members.list(tenant, id, query), { backward: true })
        assert.deepStrictEqual(
          walked.map(({ consumerId, email, addedAt }) => [consumerId, email, addedAt]),
          [
            [bob, "bob@example.org", null],
            [ann, "ann@example.com", null]
          ]
        )
        const { data } = yield* members.list(tenant, id, { search: "ANN@" })
        assert.deepStrictEqual(
          data.map(({ consumerId }) => consumerId),
          [ann]
        )
        const sorted = yield* Effect.flip(members.list(tenant, id, { sortBy: "consumerId" }))
        assert.deepInclude(sorted, { _tag: "PageRefused", parameter: "sortBy" })
        for (const change of [members.add(tenant, id, "x", [guest]), members.remove(tenant, id, "x", [ann])]) {
          assert.deepInclude(yield* Effect.flip(change), { _tag: "AudienceIsDynamic" })
        }
      })
    )

    it.effect("are counted on a read, once a minute at most, and when their rules change", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const audiences = yield* Audiences
        const tenant = yield* aTenant()
        const created = yield* audiences.create(tenant, "x", {
          name: "Guests",
          rules: all(rule("type", "eq", "guest"))
        })
        assert.deepInclude(created, { memberCount: 0 })
        const countedAt = created.lastRefreshedAt ?? 0
        assert.isAbove(countedAt, 0)
        yield* aConsumer(tenant)
        assert.deepStrictEqual(yield* audiences.find(tenant, created.id), created)
        const aMinuteAgo = new Date(countedAt - 60_000)
        yield* sql`update audiences set last_refreshed_at = ${aMinuteAgo} where id = ${created.id}`
        const stale = { ...created, lastRefreshedAt: aMinuteAgo.getTime() }
        assert.deepStrictEqual((yield* audiences.list(tenant, {})).data, [stale])
        const counted = yield* audiences.find(tenant, created.id)
        assert.deepInclude(counted, { memberCount: 1, updatedAt: created.updatedAt })
        assert.isAtLeast(counted.lastRefreshedAt ?? 0, countedAt)
        yield* aConsumer(tenant)
        assert.strictEqual((yield* audiences.change(tenant, created.id, "x", { name: "All guests" })).memberCount, 1)
        const rules = all(rule("createdAt", "gt", "1970-01-01T00:00:00Z"))
        assert.strictEqual((yield* audiences.change(tenant, created.id, "x", { rules })).memberCount, 2)
      })
    )

    it.effect("stay DYNAMIC, and the others stay STATIC", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const audiences = yield* Audiences
        const tenant = yield* aTenant()
        const rules = all(rule("type", "eq", "guest"))
        const dynamic = yield* audiences.create(tenant, "x", { name: "Guests", rules })
        const other = yield* audiences.create(tenant, "x", { name: "Friends" })
        const attempts = [
          audiences.change(tenant, dynamic.id, "x", { type: "STATIC" }),
          audiences.change(tenant, other.id, "x", { type: "DYNAMIC", rules })
        ]
        for (const attempt of attempts) assert.deepInclude(yield* Effect.flip(attempt), { _tag: "AudienceTypeFixed" })
        assert.deepStrictEqual(yield* audiences.find(tenant, other.id), other)
        const broken = [
          sql`update audiences set rules = null where id = ${dynamic.id}`,
          sql`update audiences set rules = '{}' where id = ${other.id}`
        ]
        for (const statement of broken) {
          const { reason } = yield* Effect.flip(statement)
          assert.strictEqual(reason._tag, "ConstraintError")
        }
      })
    )

    it.effect("admit to a sequence the consumers that match at that time and have sent its access code, if any", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const access = yield* SequenceAccess
        const audiences = yield* Audiences
        const experiences = yield* Experiences
        const sequences = yield* Sequences
        const views = yield* ExperienceViews
        const tenant = yield* aTenant()
        const { ann, bob, guest } = yield* trio(tenant)
        const place = { name: "Drop", timeZone: "UTC", currencyCode: "USD" }
        const { id: experienceId } = yield* experiences.create(tenant, "x", place)
        const aSequence = Effect.fnUntraced(function* (name: string, rules: AudienceRules, code?: string) {
          const { id: audienceId } = yield* audiences.create(tenant, "x", { name, rules })
          return yield* sequences.create(tenant, "x", experienceId, { name, priority: 0, audienceId }, code)
        })
        const buyers = yield* aSequence("Buyers", all(rule("orderCount", "gt", 0)))
        const known = yield* aSequence("Known", all(rule("email", "exists", true)), "open")
        const who = (sequenceId: string) =>
          Effect.forEach([ann, bob, guest], (consumerId) => isAdmitted(tenant, sequenceId, consumerId))
        const shown = (consumerId?: string) =>
          Effect.map(views.find(tenant, experienceId, consumerId), (view) => view.sequences.map(({ name }) => name))
        assert.deepStrictEqual(yield* who(buyers.id), [true, false, false])
        assert.deepStrictEqual(yield* who(known.id), [false, false, false])
        assert.deepStrictEqual(yield* shown(ann), ["Buyers"])
        yield* access.show(tenant, { experienceId, consumerId: ann, accessCode: "open" })
        yield* access.show(tenant, { experienceId, consumerId: guest, accessCode: "open" })
        assert.deepStrictEqual(yield* who(known.id), [true, false, false])
        assert.deepStrictEqual(yield* shown(ann), ["Buyers", "Known"])
        assert.deepStrictEqual([yield* shown(bob), yield* shown(guest), yield* shown()], [[], [], []])
        yield* sql`update consumers set order_count = order_count + 1 where id in ${sql.in([bob, guest])}`
        assert.deepStrictEqual(yield* who(buyers.id), [true, true, true])
        yield* sql`update consumers set archived = true where id = ${ann}`
        assert.deepStrictEqual(yield* who(buyers.id), [false, true, true])
        assert.isFalse(yield* isAdmitted(inTestMode(tenant), buyers.id, bob))
      })
    )
  })
})
