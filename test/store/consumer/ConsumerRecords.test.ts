import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { Consumer, Settings } from "../../../src/domain/consumer/Consumer.ts"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import type { Upsert } from "../../../src/store/consumer/ConsumerMatching.ts"
import { ConsumerRecords } from "../../../src/store/consumer/ConsumerRecords.ts"
import type { PageQuery } from "../../../src/store/records/Pagination.ts"
import { aConsumer, aTenant, inTestMode, layer as records, walk } from "../support/recordsFixture.ts"

const ann = { email: "ann@example.com", phone: "+4915112345678", fullName: "Ann Lee", externalId: "crm-1" }

const settings = (more: Partial<Settings> = {}): Settings => ({ loyaltyBalance: 0n, ...more })

/** Returns a row that sets these fields, and keeps the others. */
const row = (fields: Partial<Settings>): Upsert => ({
  keys: { externalId: fields.externalId, email: fields.email, phone: fields.phone },
  revise: (before) => ({ ...settings(), ...before, ...fields })
})

const idsOf = (consumers: ReadonlyArray<{ readonly id: string }>) => consumers.map(({ id }) => id)

describe("Consumers in Postgres", () => {
  layer(records, { excludeTestServices: true })((it) => {
    it.effect("are created, changed and archived, and record the author", () =>
      Effect.gen(function* () {
        const consumers = yield* ConsumerRecords
        const tenant = yield* aTenant()
        const created = yield* consumers.create(tenant, "someone", settings({ ...ann, attributes: { tier: "gold" } }))
        assert.deepInclude(created, {
          ...ann,
          type: "authenticated",
          name: null,
          attributes: { tier: "gold" },
          metadata: null
        })
        assert.deepInclude(created, { orderCount: 0, totalOrderValue: "0", lastOrderAt: null, loyaltyBalance: 0n })
        assert.deepInclude(created, { createdBy: "someone", updatedBy: "someone", archived: false })
        assert.deepStrictEqual(yield* consumers.find(tenant, created.id), created)
        const changed = yield* consumers.change(tenant, created.id, "another", ({ fullName: _, ...rest }) => ({
          ...rest,
          loyaltyBalance: 150_000_000n
        }))
        const { updatedAt } = changed
        const expected = { ...created, fullName: null, loyaltyBalance: 150_000_000n, updatedBy: "another", updatedAt }
        assert.deepStrictEqual(changed, expected)
        const archived = yield* consumers.archive(tenant, created.id, "keeper")
        assert.deepInclude(archived, { id: created.id, archived: true, updatedBy: "keeper" })
        const attempts: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
          consumers.find(tenant, created.id),
          consumers.change(tenant, created.id, "x", (same) => same),
          consumers.archive(tenant, created.id, "x")
        ]
        for (const attempt of attempts) {
          assert.deepInclude(yield* Effect.flip(attempt), { _tag: "RecordNotFound", record: "Consumer" })
        }
        // Its unique values are available to another consumer.
        assert.deepInclude(yield* consumers.create(tenant, "x", settings(ann)), ann)
      })
    )

    it.effect("record that they came by themselves, and can be changed", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const consumers = yield* ConsumerRecords
        const tenant = yield* aTenant()
        const id = yield* aConsumer(tenant)
        const itself = `consumer:${id}`
        const guest = yield* consumers.find(tenant, id)
        assert.deepInclude(guest, { type: "guest", createdBy: itself, updatedBy: itself, updatedAt: guest.createdAt })
        const changed = yield* consumers.change(tenant, id, "admin", (same) => ({ ...same, email: ann.email }))
        assert.deepInclude(changed, { type: "guest", email: ann.email, createdBy: itself, updatedBy: "admin" })
        yield* sql`
          update consumers set order_count = 2, total_order_value = 1234567890123456.5, last_order_at = ${new Date(5_000)}
          where id = ${id}`
        const ordered = yield* consumers.find(tenant, id)
        assert.deepInclude(ordered, { orderCount: 2, totalOrderValue: "1234567890123456.5", lastOrderAt: 5_000 })
      })
    )

    it.effect("belong to one organization in one mode, and are not found by any other", () =>
      Effect.gen(function* () {
        const consumers = yield* ConsumerRecords
        const tenant = yield* aTenant()
        const created = yield* consumers.create(tenant, "x", settings(ann))
        for (const stranger of [inTestMode(tenant), yield* aTenant()]) {
          const attempts: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
            consumers.find(stranger, created.id),
            consumers.change(stranger, created.id, "x", (same) => same),
            consumers.archive(stranger, created.id, "x")
          ]
          for (const attempt of attempts) assert.deepInclude(yield* Effect.flip(attempt), { _tag: "RecordNotFound" })
          assert.deepStrictEqual((yield* consumers.list(stranger, { search: created.id })).data, [])
          const [own] = yield* consumers.upsert(stranger, "x", [row({ ...ann, fullName: "Another" })])
          assert.notStrictEqual(own!.id, created.id)
        }
        assert.deepStrictEqual(yield* consumers.find(tenant, created.id), created)
      })
    )

    it.effect("have a unique email, phone number and external id; guests have no address", () =>
      Effect.gen(function* () {
        const consumers = yield* ConsumerRecords
        const tenant = yield* aTenant()
        yield* consumers.create(tenant, "x", settings(ann))
        const other = yield* consumers.create(tenant, "x", settings())
        const guest = yield* aConsumer(tenant)
        for (const field of ["email", "phone", "externalId"] as const) {
          const taking = { [field]: ann[field] }
          const attempts = [
            consumers.create(tenant, "x", settings(taking)),
            consumers.change(tenant, other.id, "x", (same) => ({ ...same, ...taking }))
          ]
          for (const attempt of attempts) {
            assert.deepInclude(yield* Effect.flip(attempt), { _tag: "KeyTaken", field })
          }
          const byGuest = yield* Effect.exit(consumers.change(tenant, guest, "x", (same) => ({ ...same, ...taking })))
          assert.strictEqual(byGuest._tag, field === "externalId" ? "Failure" : "Success", field)
        }
        assert.deepInclude(yield* consumers.find(tenant, other.id), { email: null, phone: null, externalId: null })
      })
    )

    it.effect(
      "are created and changed together, in the order given, found by external id, then email, then phone",
      () =>
        Effect.gen(function* () {
          const consumers = yield* ConsumerRecords
          const tenant = yield* aTenant()
          const byExternal = yield* consumers.create(tenant, "x", settings({ externalId: "crm-1", fullName: "One" }))
          const byEmail = yield* consumers.create(tenant, "x", settings({ email: "two@example.com", fullName: "Two" }))
          const byPhone = yield* consumers.create(tenant, "x", settings({ phone: ann.phone, fullName: "Three" }))
          const written = yield* consumers.upsert(tenant, "batch", [
            row({ fullName: "New" }),
            row({ phone: ann.phone, email: "three@example.com" }),
            row({ email: "two@example.com", externalId: "crm-2" }),
            row({ externalId: "crm-1", email: "one@example.com", loyaltyBalance: 5n }),
            row({ externalId: "crm-5" })
          ])
          assert.deepStrictEqual(idsOf(written).slice(1, 4), [byPhone.id, byEmail.id, byExternal.id])
          assert.deepStrictEqual(
            written.map(({ externalId, email, phone, fullName }) => [externalId, email, phone, fullName]),
            [
              [null, null, null, "New"],
              [null, "three@example.com", ann.phone, "Three"],
              ["crm-2", "two@example.com", null, "Two"],
              ["crm-1", "one@example.com", null, "One"],
              ["crm-5", null, null, null]
            ]
          )
          assert.deepInclude(written[3], { createdBy: "x", updatedBy: "batch", loyaltyBalance: 5n })
          assert.deepStrictEqual(yield* consumers.find(tenant, byExternal.id), written[3])
          const again = yield* consumers.upsert(tenant, "batch", [row({ externalId: "crm-5", fullName: "Five" })])
          assert.deepStrictEqual(idsOf(again), [written[4]!.id])
        })
    )

    it.effect("are all refused if one row is ambiguous, and nothing changes", () =>
      Effect.gen(function* () {
        const consumers = yield* ConsumerRecords
        const tenant = yield* aTenant()
        yield* consumers.create(tenant, "x", settings({ externalId: "crm-1", email: "one@example.com" }))
        yield* consumers.create(tenant, "x", settings({ phone: ann.phone, email: "two@example.com" }))
        const before = (yield* consumers.list(tenant, {})).data
        const refused = yield* Effect.flip(
          consumers.upsert(tenant, "x", [
            row({ externalId: "crm-1" }),
            row({ email: "one@example.com" }),
            row({ externalId: "crm-1", phone: ann.phone }),
            row({ externalId: "crm-9", email: "nine@example.com" }),
            row({ externalId: "crm-9" }),
            row({ email: "nine@example.com", phone: "+4915112345679" }),
            row({ fullName: "New" })
          ])
        )
        assert.deepInclude(refused, {
          _tag: "AmbiguousRows",
          rows: [
            { index: 1, sameAs: 0 },
            { index: 2, sameAs: undefined },
            { index: 4, sameAs: 3 },
            { index: 5, sameAs: 3 }
          ]
        })
        assert.deepStrictEqual((yield* consumers.list(tenant, {})).data, before)
      })
    )

    it.effect("are stored once each, however many batches name them at once", () =>
      Effect.gen(function* () {
        const consumers = yield* ConsumerRecords
        const tenant = yield* aTenant()
        const rows = Array.from({ length: 50 }, (_, n) => row({ externalId: `crm-${n}`, email: `n${n}@example.com` }))
        const batches = Array.from({ length: 6 }, (_, n) => (n % 2 === 0 ? rows : rows.toReversed()))
        const written = yield* Effect.forEach(batches, (batch) => consumers.upsert(tenant, "x", batch), {
          concurrency: "unbounded"
        })
        const { data } = yield* consumers.list(tenant, { first: 100 })
        assert.lengthOf(data, 50)
        for (const each of written) assert.sameMembers(idsOf(each), idsOf(data))
      })
    )

    /** Creates anonymous guests among consumers of every other kind, some with equal fields. */
    const crowd = Effect.fnUntraced(function* (tenant: Tenant) {
      for (let n = 0; n < 24; n++) {
        const known = {
          ...(n % 3 === 0 && { email: `n${n % 9}@example.com` }),
          ...(n % 4 === 0 && { full_name: `N ${n % 8}` }),
          ...(n % 5 === 0 && { last_order_at: new Date(1_000 + n), total_order_value: `${n % 10}.5`, order_count: 1 })
        }
        const created_at = new Date(1_700_000_000_000 + (n % 7))
        yield* aConsumer(tenant, { type: n % 3 === 1 ? "authenticated" : "guest", created_at, ...known })
        yield* aConsumer(tenant, { created_at })
      }
      yield* aConsumer(tenant, { archived: true })
      yield* aConsumer(tenant, { archived: true, email: "archived@example.com" })
      yield* aConsumer(inTestMode(tenant))
    })

    const keys: { readonly [sortBy: string]: (consumer: Consumer) => string | number } = {
      createdAt: () => 0,
      email: ({ email }) => email ?? "",
      fullName: ({ fullName }) => fullName ?? "",
      lastOrderAt: ({ lastOrderAt }) => lastOrderAt ?? 0,
      totalOrderValue: ({ totalOrderValue }) => Number(totalOrderValue)
    }

    it.effect("are listed once each in every order, page by page in both directions, whichever fields they have", () =>
      Effect.gen(function* () {
        const consumers = yield* ConsumerRecords
        const tenant = yield* aTenant()
        yield* crowd(tenant)
        const all = (yield* consumers.list(tenant, { first: 100 })).data
        assert.lengthOf(all, 48)
        const inOrder = (key: (consumer: Consumer) => string | number) =>
          all.toSorted((a, b) => {
            const [x, y] = [key(a), key(b)]
            if (x !== y) return x < y ? -1 : 1
            return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)
          })
        for (const [sortBy, key] of Object.entries(keys)) {
          for (const sortDir of ["asc", "desc"] as const) {
            for (const type of [undefined, "guest", "authenticated"] as const) {
              const sorted = inOrder(key).filter((consumer) => type === undefined || consumer.type === type)
              const expected = idsOf(sortDir === "asc" ? sorted : sorted.toReversed())
              for (const backward of [false, true]) {
                const walked = yield* walk(
                  7,
                  (query: PageQuery<never>) =>
                    consumers.list(tenant, { ...query, type, sortDir, sortBy: sortBy as never }),
                  { backward }
                )
                assert.deepStrictEqual(idsOf(walked), expected, `${sortBy} ${sortDir} ${type} ${backward}`)
              }
            }
          }
        }
      })
    )

    it.effect("are found by a part of email, phone and full name, and by a complete id or external id", () =>
      Effect.gen(function* () {
        const consumers = yield* ConsumerRecords
        const tenant = yield* aTenant()
        const { id } = yield* consumers.create(tenant, "x", settings(ann))
        const bob = yield* consumers.create(
          tenant,
          "x",
          settings({ email: "bob@example.org", externalId: "bob@example" })
        )
        const guest = yield* aConsumer(tenant)
        const search = (text: string, more: object = {}) =>
          Effect.map(consumers.list(tenant, { search: text, sortBy: "email", ...more }), ({ data }) => idsOf(data))
        for (const text of ["NN@ex", "5112345", "ann l", "crm-1", id, id.toUpperCase()]) {
          assert.deepStrictEqual(yield* search(text), [id], text)
        }
        assert.deepStrictEqual(yield* search("example"), [id, bob.id])
        assert.deepStrictEqual(yield* search("bob@example"), [bob.id])
        assert.deepStrictEqual(yield* search(guest), [guest])
        assert.deepStrictEqual(yield* search(guest, { type: "authenticated" }), [])
        for (const text of ["crm-", "rm-1", id.slice(1), "%%"]) assert.deepStrictEqual(yield* search(text), [], text)
        assert.deepStrictEqual(yield* search("m +4"), [id])
        const walked = yield* walk(1, (query: PageQuery<never>) =>
          consumers.list(tenant, { ...query, search: "example" })
        )
        assert.sameMembers(idsOf(walked), [id, bob.id])
        assert.deepStrictEqual(yield* search(randomUUID()), [])
      })
    )
  })
})
