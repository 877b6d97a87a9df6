import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { email, fullNodes, nested, rich, sms } from "../../../domain/experience/creative/documents.ts"
import { Admin, anExperience, issuesOf, layer as adminLayer, type Organization } from "../adminFixture.ts"

const unknown = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

/** Creates a page, below a new experience unless one is named. */
const aPage = Effect.fnUntraced(function* (body: { readonly [field: string]: unknown } = {}, as?: Organization) {
  const { call } = yield* Admin
  const experienceId = body["experienceId"] ?? (yield* anExperience({}, as)).id
  const page = { slug: "opening", title: "The opening", creativeDocument: sms(), ...body, experienceId }
  return yield* call("POST", "/experience-pages", page, as)
})

const titlesOf = ({ body }: { readonly body: any }): ReadonlyArray<string> =>
  body.data.map(({ title }: { readonly title: string }) => title)

describe("Experience pages on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("are created as drafts, and return every field", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const { id: experienceId } = yield* anExperience()
        const creativeDocument = email(nested(3, { type: "column", children: fullNodes }))
        const { status, body } = yield* aPage({ experienceId, creativeDocument })
        assert.strictEqual(status, 201)
        const { id, createdAt, createdBy, updatedAt, updatedBy, ...rest } = body
        assert.deepStrictEqual(rest, {
          organizationId: brand.tenant.organizationId,
          experienceId,
          slug: "opening",
          title: "The opening",
          creativeDocument,
          status: "DRAFT",
          creativeDesignId: null,
          creativeTemplateKey: null,
          metadata: null,
          publishedAt: null,
          lastPublishedAt: null,
          archived: false
        })
        assert.deepStrictEqual([updatedAt, updatedBy], [createdAt, createdBy])
        assert.deepStrictEqual((yield* call("GET", `/experience-pages/${id}`)).body, body)
      })
    )

    it.effect("change the fields that are sent, and stay published", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const metadata = { campaign: "spring" }
        const { body } = yield* aPage({ metadata, creativeTemplateKey: "plain", creativeDesignId: unknown })
        const at = `/experience-pages/${body.id}`
        assert.deepInclude(body, { metadata, creativeTemplateKey: "plain", creativeDesignId: unknown })
        const first = (yield* call("POST", `${at}/publish`)).body
        assert.deepInclude(first, { status: "PUBLISHED", lastPublishedAt: first.publishedAt })
        const creativeDocument = rich({ blocks: [{ deep: [[[1]]] }] })
        const changes = { title: "Another", creativeDocument, metadata: null, status: "DRAFT", experienceId: unknown }
        const changed = (yield* call("PUT", at, changes)).body
        assert.deepInclude(changed, { title: "Another", slug: "opening", creativeDocument, metadata: null })
        assert.deepInclude(changed, {
          status: "PUBLISHED",
          experienceId: body.experienceId,
          creativeTemplateKey: "plain"
        })
        assert.deepInclude(changed, { publishedAt: first.publishedAt, lastPublishedAt: first.lastPublishedAt })
        const again = yield* call("POST", `${at}/publish`)
        assert.strictEqual(again.status, 200)
        assert.strictEqual(again.body.publishedAt, first.publishedAt)
        assert.isAbove(Date.parse(again.body.lastPublishedAt), Date.parse(first.lastPublishedAt))
        assert.deepStrictEqual((yield* call("PUT", at, {})).body.creativeDocument, creativeDocument)
      })
    )

    it.effect("can be published when they are created", () =>
      Effect.gen(function* () {
        const { body } = yield* aPage({ status: "PUBLISHED" })
        assert.deepInclude(body, { status: "PUBLISHED", publishedAt: body.createdAt, lastPublishedAt: body.createdAt })
      })
    )

    it.effect("become drafts when they are unpublished, once or repeatedly, and can be published again", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { body } = yield* aPage({ status: "PUBLISHED" })
        const at = `/experience-pages/${body.id}`
        const withdrawn = yield* call("POST", `${at}/unpublish`)
        assert.strictEqual(withdrawn.status, 200)
        const { publishedAt, lastPublishedAt } = body
        assert.deepInclude(withdrawn.body, { id: body.id, status: "DRAFT", publishedAt, lastPublishedAt })
        assert.isAtLeast(Date.parse(withdrawn.body.updatedAt), Date.parse(body.updatedAt))
        const again = yield* call("POST", `${at}/unpublish`)
        assert.deepStrictEqual([again.status, again.text], [200, withdrawn.text])
        assert.strictEqual((yield* call("GET", at)).text, withdrawn.text)
        const republished = (yield* call("POST", `${at}/publish`)).body
        assert.deepInclude(republished, { status: "PUBLISHED", publishedAt })
        assert.isAtLeast(Date.parse(republished.lastPublishedAt), Date.parse(lastPublishedAt))
        const draft = (yield* aPage()).body
        const { text } = yield* call("POST", `/experience-pages/${draft.id}/unpublish`)
        assert.deepStrictEqual(JSON.parse(text), draft)
      })
    )

    it.effect("refuse a slug that another page of the experience has", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { body } = yield* aPage()
        const { experienceId } = body
        const taken = [409, { error: "Another page of the experience has this slug", code: "SLUG_TAKEN" }]
        const again = yield* aPage({ experienceId })
        assert.deepStrictEqual([again.status, again.body], taken)
        const other = yield* aPage({ experienceId, slug: "closing" })
        const moved = yield* call("PUT", `/experience-pages/${other.body.id}`, { slug: "opening" })
        assert.deepStrictEqual([moved.status, moved.body], taken)
        assert.strictEqual((yield* call("DELETE", `/experience-pages/${body.id}`)).body.archived, true)
        assert.strictEqual((yield* aPage({ experienceId })).status, 201)
      })
    )

    it.effect("refuse malformed fields, name each by its path, and change nothing", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { body } = yield* aPage()
        const image = { type: "image", src: "a", alt: "", width: 0 }
        const creativeDocument = email([{ type: "section", children: [image, { type: "x" }] }], { kind: "x" })
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ slug: "" }, ["slug: min_length"]],
          [{ title: 1, metadata: [] }, ["metadata: object", "title: string"]],
          [
            { creativeDesignId: "x", creativeTemplateKey: 1 },
            ["creativeDesignId: uuid", "creativeTemplateKey: string"]
          ],
          [{ creativeDocument: { ...sms(), editor: "x" } }, ["creativeDocument.editor: picklist"]],
          [
            { title: "", creativeDocument },
            [
              "creativeDocument.body.nodes.0.children.0.alt: min_length",
              "creativeDocument.body.nodes.0.children.0.width: min_value",
              "creativeDocument.body.nodes.0.children.1.type: picklist",
              "creativeDocument.kind: picklist",
              "title: min_length"
            ]
          ]
        ]
        for (const [mistake, expected] of mistakes) {
          const { experienceId } = body
          const created = yield* aPage({ experienceId, slug: "new", ...mistake })
          assert.deepStrictEqual(issuesOf(created), expected)
          const changed = yield* call("PUT", `/experience-pages/${body.id}`, mistake)
          assert.deepStrictEqual(issuesOf(changed), expected)
        }
        const empty = yield* call("POST", "/experience-pages", {})
        assert.deepStrictEqual(issuesOf(empty), [
          "creativeDocument: object",
          "experienceId: string",
          "slug: string",
          "title: string"
        ])
        assert.deepStrictEqual(issuesOf(yield* aPage({ status: "LIVE" })), ["status: picklist"])
        assert.deepStrictEqual((yield* call("GET", `/experience-pages/${body.id}`)).body, body)
      })
    )

    it.effect("refuse documents that are nested too deep, accept large ones, and keep answering", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id: experienceId } = yield* anExperience()
        const deep = (levels: number) => {
          const nodes = `${'[{"type":"row","children":'.repeat(levels - 1)}[{"type":"hr"}]${"}]".repeat(levels - 1)}`
          const creativeDocument = JSON.stringify(email("nodes")).replace('"nodes":"nodes"', `"nodes":${nodes}`)
          return `{"slug":"a","title":"a","experienceId":"${experienceId}","creativeDocument":${creativeDocument}}`
        }
        assert.strictEqual((yield* call("POST", "/experience-pages", deep(64))).status, 201)
        for (const levels of [65, 100]) {
          const refused = yield* call("POST", "/experience-pages", deep(levels))
          assert.deepStrictEqual(issuesOf(refused), ["creativeDocument.body.nodes: json"])
          assert.include(refused.body.issues[0].expected, "at most 64 levels deep")
        }
        assert.deepStrictEqual(issuesOf(yield* call("POST", "/experience-pages", deep(30_000))), [": json"])
        const brackets = `{"slug":"a","title":"a","experienceId":"${experienceId}","creativeDocument":${"[".repeat(500_000)}${"]".repeat(500_000)}}`
        assert.deepStrictEqual(issuesOf(yield* call("POST", "/experience-pages", brackets)), [": json"])
        const mistakes = email(Array.from({ length: 60_000 }, () => ({ type: "x" })))
        const refused = yield* aPage({ experienceId, creativeDocument: mistakes })
        assert.deepStrictEqual(issuesOf(refused), ["creativeDocument.body.nodes: json"])
        const large = sms({ body: { textTemplate: "x".repeat(1_000_000) } })
        const taken = yield* aPage({ experienceId, creativeDocument: large })
        assert.deepStrictEqual([taken.status, taken.body.creativeDocument], [201, large])
        const tooLarge = sms({ body: { textTemplate: "x".repeat(1_048_576) } })
        assert.strictEqual((yield* aPage({ experienceId, creativeDocument: tooLarge })).status, 413)
        assert.strictEqual((yield* call("GET", "/experience-pages?first=1")).status, 200)
      })
    )

    it.effect("are listed, filtered, searched, sorted and paged", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const as = yield* organization()
        const { id: experienceId } = yield* anExperience({}, as)
        for (const title of ["Cats", "Ants", "Bees"]) {
          yield* aPage({ experienceId, title, slug: `about-${title.length}-${title}` }, as)
        }
        yield* aPage({ title: "Elsewhere", status: "PUBLISHED" }, as)
        const found = (query: string) => call("GET", `/experience-pages?${query}`, undefined, as)
        assert.deepStrictEqual(titlesOf(yield* found("")), ["Cats", "Ants", "Bees", "Elsewhere"])
        assert.deepStrictEqual(titlesOf(yield* found(`experienceId=${experienceId}&sortDir=desc`)), [
          "Bees",
          "Ants",
          "Cats"
        ])
        assert.deepStrictEqual(titlesOf(yield* found("status=PUBLISHED")), ["Elsewhere"])
        assert.deepStrictEqual(titlesOf(yield* found("search=ABOUT-4-b")), ["Bees"])
        assert.deepStrictEqual(titlesOf(yield* found("search=ee&status=DRAFT")), ["Bees"])
        const first = yield* found("sortBy=title&first=3")
        const cursor = first.body.pageInfo.endCursor
        const rest = yield* found(`sortBy=title&first=3&after=${cursor}`)
        assert.deepStrictEqual([...titlesOf(first), ...titlesOf(rest)], ["Ants", "Bees", "Cats", "Elsewhere"])
        for (const [query, expected] of [
          ["status=LIVE", "status: picklist"],
          ["experienceId=x", "experienceId: uuid"],
          ["search=x", "search: min_length"],
          ["sortBy=slug", "sortBy: picklist"],
          [`sortBy=title&status=DRAFT&after=${cursor}`, "after: string"],
          [`sortBy=updatedAt&after=${cursor}`, "after: string"]
        ] as const) {
          assert.deepStrictEqual(issuesOf(yield* found(query)), [expected])
        }
      })
    )

    it.effect("are not found once archived, by another tenant, or below a missing experience", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal } = yield* Admin
        const { body } = yield* aPage()
        const missing = yield* aPage({ experienceId: unknown })
        assert.deepStrictEqual([missing.status, missing.body], [404, { error: "Experience not found" }])
        const attempts = [
          ["GET", "", undefined],
          ["PUT", "", {}],
          ["POST", "/publish", undefined],
          ["POST", "/unpublish", undefined],
          ["DELETE", "", undefined]
        ] as const
        const refused = Effect.fnUntraced(function* (id: string, as?: Organization) {
          for (const [method, suffix, sent] of attempts) {
            const answer = yield* call(method, `/experience-pages/${id}${suffix}`, sent, as)
            assert.deepStrictEqual([answer.status, answer.body], [404, { error: "Experience page not found" }])
          }
        })
        yield* refused(body.id, stranger)
        yield* refused(body.id, rehearsal)
        yield* refused(unknown)
        const archived = yield* call("DELETE", `/experience-pages/${body.id}`)
        assert.deepInclude(archived.body, { id: body.id, archived: true })
        yield* refused(body.id)
      })
    )
  })
})
