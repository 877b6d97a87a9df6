import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { type Settings, listedDocumentBytesMax } from "../../../src/domain/experience/ExperiencePage.ts"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { ExperiencePages } from "../../../src/store/experience/ExperiencePages.ts"
import { Experiences } from "../../../src/store/experience/Experiences.ts"
import type { PageQuery } from "../../../src/store/records/Pagination.ts"
import { aTenant, inTestMode, layer as records, walk } from "../support/recordsFixture.ts"
import { withoutBounds } from "../../../src/store/postgres/BoundedClient.ts"

const creativeDocument = {
  schemaVersion: 1,
  editor: "sms-text-v1",
  kind: "announcement-sms",
  body: { textTemplate: "It opens at noon" }
} as const satisfies Settings["creativeDocument"]

const settings = { slug: "opening", title: "The opening", creativeDocument } satisfies Settings

const anExperience = Effect.fnUntraced(function* (tenant: Tenant) {
  const experiences = yield* Experiences
  return (yield* experiences.create(tenant, "x", { name: "Drop", timeZone: "UTC", currencyCode: "USD" })).id
})

describe("Experience pages in Postgres", () => {
  layer(records, { excludeTestServices: true })((it) => {
    it.effect("are created, changed, published and archived, and record the author", () =>
      Effect.gen(function* () {
        const pages = yield* ExperiencePages
        const tenant = yield* aTenant()
        const experienceId = yield* anExperience(tenant)
        const created = yield* pages.create(tenant, "someone", experienceId, settings, "DRAFT")
        assert.deepInclude(created, { ...settings, experienceId, status: "DRAFT", publishedAt: null, metadata: null })
        assert.deepInclude(created, { createdBy: "someone", updatedBy: "someone", archived: false })
        assert.deepStrictEqual(yield* pages.find(tenant, created.id), created)
        const metadata = { a: [1] }
        const changed = yield* pages.change(tenant, created.id, "another", (before) => ({
          ...before,
          title: "Closing",
          metadata
        }))
        assert.deepInclude(changed, { slug: "opening", title: "Closing", metadata, updatedBy: "another" })
        const first = yield* pages.publish(tenant, created.id, "publisher")
        assert.deepInclude(first, { status: "PUBLISHED", updatedBy: "publisher", lastPublishedAt: first.publishedAt })
        assert.isNumber(first.publishedAt)
        yield* Effect.sleep("5 millis")
        const second = yield* pages.publish(tenant, created.id, "publisher")
        assert.strictEqual(second.publishedAt, first.publishedAt)
        assert.isAbove(second.lastPublishedAt!, first.lastPublishedAt!)
        const archived = yield* pages.archive(tenant, created.id, "keeper")
        assert.deepInclude(archived, { archived: true, updatedBy: "keeper", status: "PUBLISHED" })
        const attempts: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
          pages.find(tenant, created.id),
          pages.change(tenant, created.id, "x", (before) => before),
          pages.publish(tenant, created.id, "x"),
          pages.archive(tenant, created.id, "x")
        ]
        for (const attempt of attempts) assert.deepInclude(yield* Effect.flip(attempt), { _tag: "RecordNotFound" })
      })
    )

    it.effect("have a slug that is unique in their experience until they are archived", () =>
      Effect.gen(function* () {
        const pages = yield* ExperiencePages
        const tenant = yield* aTenant()
        const [experienceId, elsewhere] = [yield* anExperience(tenant), yield* anExperience(tenant)]
        const { id } = yield* pages.create(tenant, "x", experienceId, settings, "DRAFT")
        yield* pages.create(tenant, "x", elsewhere, settings, "DRAFT")
        const other = yield* pages.create(tenant, "x", experienceId, { ...settings, slug: "Opening" }, "DRAFT")
        const taken = { _tag: "SlugTaken", slug: "opening" } as const
        const again = pages.create(tenant, "x", experienceId, settings, "DRAFT")
        assert.deepInclude(yield* Effect.flip(again), taken)
        const moved = pages.change(tenant, other.id, "x", (before) => ({ ...before, slug: "opening" }))
        assert.deepInclude(yield* Effect.flip(moved), taken)
        assert.strictEqual((yield* pages.find(tenant, other.id)).slug, "Opening")
        yield* pages.archive(tenant, id, "x")
        assert.strictEqual((yield* moved).slug, "opening")
        assert.deepInclude(yield* Effect.flip(again), taken)
      })
    )

    it.effect("get a slug only once under concurrent requests", () =>
      Effect.gen(function* () {
        const pages = yield* ExperiencePages
        const tenant = yield* aTenant()
        const experienceId = yield* anExperience(tenant)
        const outcomes = yield* Effect.forEach(
          Array.from({ length: 8 }),
          () => Effect.result(pages.create(tenant, "x", experienceId, settings, "DRAFT")),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(
          outcomes.filter(({ _tag }) => _tag === "Success"),
          1
        )
      })
    )

    it.effect("belong to one organization in one mode, and are not found by any other", () =>
      Effect.gen(function* () {
        const pages = yield* ExperiencePages
        const tenant = yield* aTenant()
        const experienceId = yield* anExperience(tenant)
        const created = yield* pages.create(tenant, "x", experienceId, settings, "DRAFT")
        for (const stranger of [inTestMode(tenant), yield* aTenant()]) {
          const attempts: ReadonlyArray<readonly [Effect.Effect<unknown, unknown>, string]> = [
            [pages.find(stranger, created.id), "Experience page"],
            [pages.change(stranger, created.id, "x", (before) => before), "Experience page"],
            [pages.publish(stranger, created.id, "x"), "Experience page"],
            [pages.archive(stranger, created.id, "x"), "Experience page"],
            [pages.create(stranger, "x", experienceId, settings, "DRAFT"), "Experience"]
          ]
          for (const [attempt, record] of attempts) {
            assert.deepInclude(yield* Effect.flip(attempt), { _tag: "RecordNotFound", record })
          }
          assert.deepStrictEqual((yield* pages.list(stranger, {}, { experienceId })).data, [])
        }
        assert.deepStrictEqual(yield* pages.find(tenant, created.id), created)
      })
    )

    it.effect("are archived with their experience, and none is created below it afterwards", () =>
      Effect.gen(function* () {
        const pages = yield* ExperiencePages
        const experiences = yield* Experiences
        const tenant = yield* aTenant()
        const experienceId = yield* anExperience(tenant)
        const { id } = yield* pages.create(tenant, "x", experienceId, settings, "DRAFT")
        yield* experiences.archive(tenant, experienceId, "x")
        for (const attempt of [pages.find(tenant, id), pages.create(tenant, "x", experienceId, settings, "DRAFT")]) {
          assert.deepInclude(yield* Effect.flip(attempt), { _tag: "RecordNotFound" })
        }
      })
    )

    it.effect("are listed in every sort order, page by page, filtered and searched", () =>
      Effect.gen(function* () {
        const pages = yield* ExperiencePages
        const tenant = yield* aTenant()
        const [experienceId, elsewhere] = [yield* anExperience(tenant), yield* anExperience(tenant)]
        const titles = ["Bees", "Ants", "Dogs", "Cats", "Ants"]
        for (const [index, title] of titles.entries()) {
          const status = index % 2 === 0 ? "DRAFT" : "PUBLISHED"
          yield* pages.create(tenant, "x", experienceId, { ...settings, slug: `page-${index}`, title }, status)
        }
        yield* pages.create(tenant, "x", elsewhere, { ...settings, title: "100% new_one" }, "DRAFT")
        const listed = (query: PageQuery<"createdAt" | "title" | "updatedAt">, filter = {}) =>
          Effect.map(
            walk(2, (page) => pages.list(tenant, { ...query, ...page }, filter)),
            (found) => found.map(({ title }) => title)
          )
        assert.deepStrictEqual(yield* listed({}, { experienceId }), titles)
        assert.deepStrictEqual(yield* listed({ sortDir: "desc" }, { experienceId }), titles.toReversed())
        assert.deepStrictEqual(yield* listed({ sortBy: "title" }, { experienceId }), titles.toSorted())
        const [oldest] = (yield* pages.list(tenant, { first: 1 }, { experienceId })).data
        yield* pages.publish(tenant, oldest!.id, "x")
        assert.strictEqual((yield* listed({ sortBy: "updatedAt" }, { experienceId })).at(-1), "Bees")
        assert.deepStrictEqual(yield* listed({}, { status: "DRAFT", experienceId }), ["Dogs", "Ants"])
        assert.lengthOf(yield* listed({}), 6)
        for (const [search, expected] of [
          ["ANT", ["Ants", "Ants"]],
          ["page-3", ["Cats"]],
          ["0%", ["100% new_one"]],
          ["w_o", ["100% new_one"]],
          ["zz", []]
        ] as const) {
          assert.deepStrictEqual<ReadonlyArray<string>>(yield* listed({ search }), expected, search)
        }
      })
    )

    it.effect("are paged with early ends where documents are large, without gaps or repeats in either direction", () =>
      Effect.gen(function* () {
        const pages = yield* ExperiencePages
        const tenant = yield* aTenant()
        const experienceId = yield* anExperience(tenant)
        // The second one alone exceeds the size that a page of the list can read.
        const megabytes = [1, 6, 0, 3, 3, 0, 1, 1, 1, 1, 0]
        const all: Array<string> = []
        for (const [index, size] of megabytes.entries()) {
          const document = { ...creativeDocument, body: { textTemplate: "x".repeat(size * 1_000_000) } }
          const page = { ...settings, slug: `page-${index}`, creativeDocument: document }
          all.push((yield* pages.create(tenant, "x", experienceId, page, "DRAFT")).id)
        }
        const sizes: Array<number> = []
        const list = (query: PageQuery<never>) =>
          Effect.tap(pages.list(tenant, query, {}), ({ data }) => Effect.sync(() => sizes.push(data.length)))
        assert.deepStrictEqual(
          (yield* walk(100, list)).map(({ id }) => id),
          all
        )
        assert.deepStrictEqual(sizes.splice(0), [2, 3, 6, 0])
        assert.deepStrictEqual(
          (yield* walk(100, list, { backward: true })).map(({ id }) => id),
          all
        )
        assert.deepStrictEqual(sizes.splice(0), [7, 3, 1, 0])
        assert.isAbove(6_000_000, listedDocumentBytesMax)
        const searched = (query: PageQuery<never>) => pages.list(tenant, { ...query, search: "page-1" }, {})
        assert.deepStrictEqual(
          (yield* walk(100, searched)).map(({ id }) => id),
          [all[1], all[10]]
        )
      })
    )

    it.effect("are found through an index, for every sort order and search", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const experienceId = yield* anExperience(tenant)
        yield* withoutBounds(sql`
          insert into experience_pages (id, organization_id, mode, experience_id, slug, title, status,
            creative_document, record, created_at, created_by, updated_at, updated_by)
          select gen_random_uuid(), ${tenant.organizationId}, 'live', ${experienceId}, 'page-' || n, 'Title ' || md5(n::text),
            'DRAFT', '{}', '{}', now() + n * interval '1 second', 'x', now(), 'x'
          from generate_series(1, 3000) n`)
        yield* sql`analyze experience_pages`
        const planOf = (condition: string, order: string) =>
          Effect.map(
            sql<{ readonly "QUERY PLAN": string }>`
              explain select * from experience_pages p
              where organization_id = ${tenant.organizationId} and mode = 'live' and not archived
                and ${sql.literal(condition)} ${sql.literal(order)} limit 20`,
            (rows) => rows.map((row) => row["QUERY PLAN"]).join("\n")
          )
        for (const key of ["created_at", "title", "updated_at"]) {
          const plan = yield* planOf("true", `order by p.${key}, p.id`)
          assert.match(plan, /Index Scan using experience_pages_by_(tenant|title|update)/)
          assert.notInclude(plan, "Sort")
        }
        // With so few rows a full scan may be cheaper. The test checks that the index can answer.
        const searched = yield* sql.withTransaction(
          Effect.andThen(
            sql`set local enable_seqscan = off`,
            planOf(
              `search_pieces(p.organization_id, p.mode, fold_case(p.title || ' ' || p.slug))
                @> search_pieces('${tenant.organizationId}', 'live', 'page-2999')`,
              ""
            )
          )
        )
        assert.include(searched, "experience_pages_by_text")
        const missing = randomUUID()
        assert.include(yield* planOf(`experience_id = '${missing}'`, ""), "experience_pages_")
      })
    )
  })
})
