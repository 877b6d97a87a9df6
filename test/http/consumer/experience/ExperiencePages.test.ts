/** The published page of an experience, as consumers see it. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { rich, sms } from "../../../domain/experience/creative/documents.ts"
import { asServer, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"
import { admin, anExperience } from "./experienceFixture.ts"

/** Creates a page of the experience, published by default. */
const aPage = (experienceId: string, settings: object = {}) =>
  admin("POST", "/experience-pages", {
    experienceId,
    slug: randomUUID(),
    title: "The opening",
    creativeDocument: rich({ blocks: [] }),
    status: "PUBLISHED",
    ...settings
  })

/** Returns the answers that the organization's visitors get. */
const seen = Effect.fnUntraced(function* (experienceId: string, slug?: string, publishableKey?: string) {
  const { consumer, brand } = yield* Usher
  const query = slug === undefined ? "" : `?slug=${encodeURIComponent(slug)}`
  return yield* consumer({
    path: `/api/experiences/${experienceId}/page${query}`,
    headers: { "x-publishable-key": publishableKey ?? brand.publishableKey }
  })
})

const nothing = [404, { error: "Experience page not found" }]

const isMissing = (...asked: Parameters<typeof seen>) =>
  Effect.map(seen(...asked), ({ status, body }) => assert.deepStrictEqual([status, body], nothing))

describe("The page of an experience", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("is the published one with its document, without its author", () =>
      Effect.gen(function* () {
        const { consumer, brand } = yield* Usher
        const experienceId = yield* anExperience()
        const creativeDocument = rich({ blocks: [{ deep: [[[1]]] }] }, { themeOverrides: { primary: "#abc" } })
        const page = yield* aPage(experienceId, { slug: "the opening/é", creativeDocument, metadata: { secret: true } })
        const answer = yield* seen(experienceId)
        assert.strictEqual(answer.status, 200)
        assert.deepStrictEqual(answer.body, {
          id: page.id,
          experienceId,
          slug: "the opening/é",
          title: "The opening",
          creativeDocument,
          publishedAt: page.publishedAt,
          lastPublishedAt: page.lastPublishedAt,
          updatedAt: page.updatedAt
        })
        assert.strictEqual((yield* seen(experienceId, page.slug)).text, answer.text)
        const path = `/api/experiences/${experienceId}/page`
        assert.strictEqual((yield* consumer({ path, headers: asServer(brand.secretKey) })).text, answer.text)
        assert.strictEqual((yield* consumer({ path })).status, 401)
      })
    )

    it.effect("is the one that was published last, unless the caller names a slug", () =>
      Effect.gen(function* () {
        const experienceId = yield* anExperience()
        const first = yield* aPage(experienceId, { slug: "first" })
        const second = yield* aPage(experienceId, { slug: "second" })
        const shown = Effect.map(seen(experienceId), ({ body }) => body.id)
        assert.strictEqual(yield* shown, second.id)
        assert.strictEqual((yield* seen(experienceId, "first")).body.id, first.id)
        yield* admin("POST", `/experience-pages/${first.id}/publish`)
        assert.strictEqual(yield* shown, first.id)
        yield* admin("PUT", `/experience-pages/${second.id}`, { title: "Edited" })
        assert.strictEqual(yield* shown, first.id)
        yield* admin("POST", `/experience-pages/${first.id}/unpublish`)
        assert.strictEqual(yield* shown, second.id)
        yield* admin("DELETE", `/experience-pages/${second.id}`)
        yield* isMissing(experienceId)
      })
    )

    it.effect("shows a change of a published page at once, and a draft only after it is published", () =>
      Effect.gen(function* () {
        const experienceId = yield* anExperience()
        const page = yield* aPage(experienceId, { slug: "now" })
        const draft = yield* aPage(experienceId, { slug: "next", status: "DRAFT" })
        const creativeDocument = rich({ blocks: ["changed"] })
        const changed = yield* admin("PUT", `/experience-pages/${page.id}`, { creativeDocument, slug: "moved" })
        assert.deepInclude((yield* seen(experienceId)).body, {
          id: page.id,
          slug: "moved",
          creativeDocument,
          lastPublishedAt: page.lastPublishedAt,
          updatedAt: changed.updatedAt
        })
        yield* isMissing(experienceId, "now")
        yield* isMissing(experienceId, "next")
        yield* admin("POST", `/experience-pages/${draft.id}/publish`)
        assert.strictEqual((yield* seen(experienceId)).body.id, draft.id)
      })
    )

    it.effect("is not found as a draft, unpublished, archived, with its experience, or of another kind", () =>
      Effect.gen(function* () {
        const experienceId = yield* anExperience()
        yield* isMissing(experienceId)
        yield* isMissing(randomUUID())
        yield* aPage(experienceId, { slug: "draft", status: "DRAFT" })
        yield* aPage(experienceId, { slug: "message", creativeDocument: sms() })
        yield* aPage(experienceId, { slug: "post", creativeDocument: rich({}, { kind: "announcement-social" }) })
        const withdrawn = yield* aPage(experienceId, { slug: "withdrawn" })
        const archived = yield* aPage(experienceId, { slug: "archived" })
        yield* admin("POST", `/experience-pages/${withdrawn.id}/unpublish`)
        yield* admin("DELETE", `/experience-pages/${archived.id}`)
        for (const slug of [undefined, "draft", "message", "post", "withdrawn", "archived", "unknown"]) {
          yield* isMissing(experienceId, slug)
        }
        const page = yield* aPage(experienceId)
        yield* isMissing(yield* anExperience(), page.slug)
        yield* admin("DELETE", `/experiences/${experienceId}`)
        yield* isMissing(experienceId)
        yield* isMissing(experienceId, page.slug)
      })
    )

    it.effect("belongs to its organization, in its mode", () =>
      Effect.gen(function* () {
        const { brand, stranger } = yield* Usher
        const experienceId = yield* anExperience()
        const page = yield* aPage(experienceId)
        for (const key of [stranger.publishableKey, brand.testPublishableKey]) {
          yield* isMissing(experienceId, undefined, key)
          yield* isMissing(experienceId, page.slug, key)
        }
      })
    )

    it.effect("requires a valid slug", () =>
      Effect.gen(function* () {
        const experienceId = yield* anExperience()
        for (const [asked, slug, key] of [
          [experienceId, "", "slug"],
          [experienceId, "x".repeat(201), "slug"],
          [experienceId, "a\u0000b", "slug"],
          ["x", undefined, "experienceId"]
        ] as const) {
          const { status, body } = yield* seen(asked, slug)
          assert.deepStrictEqual([status, body.issues[0].path[0].key], [400, key])
        }
      })
    )
  })
})
