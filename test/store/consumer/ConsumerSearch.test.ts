/** Search among more consumers than are scanned one by one. Each strategy returns the same result. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { ConsumerRecords } from "../../../src/store/consumer/ConsumerRecords.ts"
import type { PageQuery } from "../../../src/store/records/Pagination.ts"
import * as Search from "../../../src/store/records/Search.ts"
import { aTenant, inTestMode, layer as records, walk } from "../support/recordsFixture.ts"
import { withoutBounds } from "../../../src/store/postgres/BoundedClient.ts"

describe("A search among many consumers", () => {
  layer(records, { excludeTestServices: true })((it) => {
    it.effect("finds common and rare texts, in order, at every position of the list", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const consumers = yield* ConsumerRecords
        const tenant = yield* aTenant()
        yield* withoutBounds(sql`
          insert into consumers (id, organization_id, mode, type, created_at, full_name)
          select gen_random_uuid(), ${tenant.organizationId}, 'live', 'authenticated', to_timestamp(n),
            case when n % 2 = 0 then 'a' || n when n in (1, 3001, 5101, 5999) then 'zoe' || n else 'b' end
          from generate_series(1, 6000) as n`)
        const names = (query: object) =>
          Effect.map(consumers.list(tenant, query), ({ data }) => data.map(({ fullName }) => fullName))
        const all = ["zoe1", "zoe3001", "zoe5101", "zoe5999"]
        assert.deepStrictEqual(yield* names({ search: "zoe" }), all)
        assert.deepStrictEqual(yield* names({ search: "ZOE", sortDir: "desc", first: 3 }), all.toReversed().slice(0, 3))
        assert.deepStrictEqual(yield* names({ search: "zoe", sortBy: "fullName", last: 2 }), all.slice(2))
        assert.deepStrictEqual(yield* names({ search: "zoe", type: "guest" }), [])
        const walked = yield* walk(1, (query: PageQuery<never>) => consumers.list(tenant, { ...query, search: "zoe" }))
        assert.deepStrictEqual(
          walked.map(({ fullName }) => fullName),
          all
        )
        assert.deepStrictEqual(yield* names({ search: "a59", first: 2 }), ["a590", "a592"])
        const common = yield* walk(100, (query: PageQuery<never>) => consumers.list(tenant, { ...query, search: "a5" }))
        const expected = Array.from({ length: 3_000 }, (_, n) => `a${2 * n + 2}`).filter((name) =>
          name.startsWith("a5")
        )
        assert.deepStrictEqual(
          common.map(({ fullName }) => fullName),
          expected
        )
      })
    )

    it.effect("compares by the rules of Unicode, near the beginning of the list and beyond it", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const consumers = yield* ConsumerRecords
        const tenant = yield* aTenant()
        const names = [
          "ΝΙΚΟΣ Παππάς",
          "Anna Straße",
          "I\u0307pek Yıldız",
          "Chloe\u0301 Dupont",
          "Ёлкин Жора",
          "Gift 🦄🦄",
          "𐐀𐐁 Deseret",
          "山田太郎",
          "Ǆemal"
        ]
        yield* withoutBounds(sql`
          insert into consumers (id, organization_id, mode, type, created_at, full_name, email)
          select gen_random_uuid(), ${tenant.organizationId}, 'live', 'authenticated', to_timestamp(n),
            coalesce((${names}::text[])[n], 'Filler'), case when n = 1 then 'nikos@bücher.example' end
          from generate_series(1, 4000) as n`)
        const found = (search: string, sortDir: "asc" | "desc") =>
          Effect.map(consumers.list(tenant, { search, sortDir }), ({ data }) =>
            data.flatMap(({ fullName }) => (fullName === null ? [] : [names.indexOf(fullName)]))
          )
        const expected: ReadonlyArray<readonly [search: string, row: number | undefined]> = [
          ["νικος", 0],
          ["νικοσ", 0],
          ["ΠΑΠΠΆΣ", 0],
          ["νικος παππάσ", 0],
          ["xn--bcher-kva", 0],
          ["STRASSE", 1],
          ["strasse", 1],
          ["straẞe", 1],
          ["i\u0307pek", 2],
          ["İpek", 2],
          ["ipek", undefined],
          ["yıldız", 2],
          ["yildiz", undefined],
          ["CHLOÉ", 3],
          ["chloe\u0301", 3],
          ["ёлкин жора", 4],
          ["🦄🦄", 5],
          ["t 🦄", 5],
          ["𐐨𐐩", 6],
          ["山田", 7],
          ["ǆemal", 8],
          ["J\u030c", undefined]
        ]
        for (const [search, row] of expected) {
          const rows = row === undefined ? [] : [row]
          // From the end of the list only the index reaches these rows.
          for (const sortDir of ["asc", "desc"] as const)
            assert.deepStrictEqual(yield* found(search, sortDir), rows, `${search} ${sortDir}`)
        }
      })
    )

    it.effect("returns the same pages from a nearby scan, from the index, farther on, and at the end", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const consumers = yield* ConsumerRecords
        const tenant = yield* aTenant()
        const count = 14_000
        const fits: { readonly [search: string]: (n: number) => boolean } = {
          everywhere: (n) => n % 3 === 0,
          seldom: (n) => n % 1_999 === 0,
          middle: (n) => n > 2_000 && n <= 5_000,
          late: (n) => n > 11_000,
          nowhere: () => false
        }
        const numbers = Array.from({ length: count }, (_, n) => n + 1)
        const words = numbers.map((n) =>
          Object.keys(fits)
            .filter((word) => fits[word]!(n))
            .join(" ")
        )
        yield* withoutBounds(sql`
          insert into consumers (id, organization_id, mode, type, created_at, full_name, total_order_value)
          select gen_random_uuid(), ${tenant.organizationId}, 'live', 'authenticated', to_timestamp(n), word || ' ' || n, n % 7
          from unnest(${words}::text[]) with ordinality as named (word, n)`)
        yield* sql`analyze consumers`
        const numberOf = ({ fullName }: { readonly fullName: string | null }) => Number(fullName!.split(" ").at(-1))
        const orders: { readonly [sortBy: string]: (a: number, b: number) => number } = {
          createdAt: (a, b) => a - b,
          totalOrderValue: (a, b) => (a % 7) - (b % 7) || a - b
        }
        for (const [search, isFit] of Object.entries(fits)) {
          for (const [sortBy, order] of Object.entries(orders)) {
            const expected = numbers.filter(isFit).toSorted(order)
            for (const backward of [false, true]) {
              const list = (query: PageQuery<never>) =>
                consumers.list(tenant, { ...query, search, sortBy: sortBy as "createdAt" })
              assert.deepStrictEqual(
                (yield* walk(100, list, { backward })).map(numberOf),
                expected,
                `${search}, ${sortBy}`
              )
            }
          }
        }
      })
    )

    it.effect("queries the index for pieces that every match contains, and never for another tenant's text", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const text = "Zoe.名前+O'Neil@example-of-a-very-long-name.com +4915112345678 %_\\"
        const parts = Array.from(text).flatMap((_, start, characters) =>
          Array.from({ length: characters.length - start - 1 }, (_, more) =>
            characters.slice(start, start + more + 2).join("")
          )
        )
        const found = (search: string, { organizationId, mode }: Tenant = tenant) =>
          Effect.map(
            sql<{ readonly search: string }>`
              select ${search}::text as search
              from (select ${organizationId}::uuid as organization_id, ${mode}::text as mode, ${text}::text as text) c
              where ${Search.indexed(sql, { tenant, row: "c", text: "c.text" }, search)}`,
            (rows) => rows.map(({ search }) => search)
          )
        for (const part of parts) {
          assert.deepStrictEqual(yield* found(part), [part])
          assert.deepStrictEqual(yield* found(part.toUpperCase()), [part.toUpperCase()])
        }
        assert.deepStrictEqual(yield* found("example@"), [])
        for (const other of [yield* aTenant(), inTestMode(tenant)]) {
          assert.deepStrictEqual(yield* found("example", other), [])
        }
      })
    )
  })
})
