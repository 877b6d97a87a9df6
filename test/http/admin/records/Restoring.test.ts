/** The effects of restoring a record: what it restores, what stays archived, and which conflicts prevent it. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { valuesMax } from "../../../../src/domain/catalogue/VariantOption.ts"
import { Admin, anExperience, layer as adminLayer } from "../adminFixture.ts"
import { aMediaAsset, anOption, aProduct, aSyncSource, aVariant } from "../catalogue/catalogueFixture.ts"
import { mechanismsOfEachKind } from "../experience/aggregateFixture.ts"

const page = (experienceId: string, slug: string) => ({
  experienceId,
  slug,
  title: "The opening",
  creativeDocument: { schemaVersion: 1, editor: "sms-text-v1", kind: "announcement-sms", body: { textTemplate: "Now" } }
})

/** Returns the body of a call that must succeed. */
const done = Effect.fnUntraced(function* (method: string, path: string, body?: object) {
  const { call } = yield* Admin
  const answer = yield* call(method, path, body)
  assert.isBelow(answer.status, 300, `${method} ${path}: ${answer.text}`)
  return answer.body
})

const archive = (path: string) => done("DELETE", path)
const restore = (path: string) => done("POST", `${path}/restore`)

/** Checks that restoring is refused with the code, and that the record stays archived. */
const refused = Effect.fnUntraced(function* (path: string, code: string) {
  const { call } = yield* Admin
  const answer = yield* call("POST", `${path}/restore`)
  assert.deepStrictEqual([answer.status, answer.body.code], [409, code], answer.text)
  assert.isString(answer.body.error)
  assert.strictEqual((yield* call("POST", `${path}/restore`)).body.code, code)
})

describe("Restoring", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("an experience leaves its sequences and pages archived; they are restored one by one", () =>
      Effect.gen(function* () {
        const sequences = [{ name: "Members", ...mechanismsOfEachKind() }, { name: "Everybody" }]
        const { id } = yield* done("POST", "/experiences", { name: "Drop", accessCode: "let me in", sequences })
        const { id: pageId } = yield* done("POST", "/experience-pages", page(id, "opening"))
        const archived = yield* archive(`/experiences/${id}`)
        assert.lengthOf(archived.sequences, 2)
        for (const sequence of archived.sequences) {
          assert.isTrue(sequence.archived)
          for (const queue of sequence.queues) assert.deepInclude(queue, { archived: true, statusOverride: "ended" })
        }
        const restored = yield* restore(`/experiences/${id}`)
        assert.deepInclude(restored, { archived: false, hasAccessCode: true, sequences: [] })
        const found = yield* done("GET", `/sequences?experienceId=${id}&archived=true`)
        assert.sameMembers(
          found.data.map((sequence: any) => sequence.id),
          archived.sequences.map((sequence: any) => sequence.id)
        )
        for (const { id: sequenceId } of found.data) {
          const sequence = yield* restore(`/sequences/${sequenceId}`)
          assert.deepInclude(sequence, { archived: false, queues: [], draws: [], waitlist: null })
          yield* done("POST", "/queues", { sequenceId, name: "Line", admitRate: 0 })
        }
        assert.strictEqual((yield* restore(`/experience-pages/${pageId}`)).slug, "opening")
        const whole = yield* done("GET", `/experiences/${id}`)
        assert.deepStrictEqual(
          whole.sequences.map(({ queues }: any) => queues.length),
          [1, 1]
        )
      })
    )

    it.effect("an experience restores its products, except those that were archived since", () =>
      Effect.gen(function* () {
        const [stays, goes] = [yield* aProduct(), yield* aProduct()]
        const products = [{ productId: stays.id }, { productId: goes.id }]
        const { id } = yield* done("POST", "/experiences", { name: "Drop", products })
        yield* archive(`/experiences/${id}`)
        yield* archive(`/products/${goes.id}`)
        const restored = yield* restore(`/experiences/${id}`)
        assert.deepStrictEqual(
          restored.products.map(({ productId }: any) => productId),
          [stays.id]
        )
      })
    )

    it.effect("a page is refused while another of its experience has its slug", () =>
      Effect.gen(function* () {
        const { id: experienceId } = yield* anExperience()
        const first = yield* done("POST", "/experience-pages", page(experienceId, "opening"))
        yield* done("POST", `/experience-pages/${first.id}/publish`)
        yield* archive(`/experience-pages/${first.id}`)
        const second = yield* done("POST", "/experience-pages", page(experienceId, "opening"))
        yield* refused(`/experience-pages/${first.id}`, "SLUG_TAKEN")
        yield* done("PUT", `/experience-pages/${second.id}`, { slug: "other" })
        assert.deepInclude(yield* restore(`/experience-pages/${first.id}`), { slug: "opening", status: "PUBLISHED" })
      })
    )

    it.effect("a sequence is refused while its audience is archived", () =>
      Effect.gen(function* () {
        const { id: experienceId } = yield* anExperience()
        const { id: audienceId } = yield* done("POST", "/audiences", { name: "Friends" })
        const { id } = yield* done("POST", "/sequences", { experienceId, audienceId, name: "Friends first" })
        yield* archive(`/sequences/${id}`)
        yield* archive(`/audiences/${audienceId}`)
        yield* refused(`/sequences/${id}`, "REFERENCE_ARCHIVED")
        yield* restore(`/audiences/${audienceId}`)
        assert.deepInclude(yield* restore(`/sequences/${id}`), { audienceId, archived: false })
      })
    )

    it.effect("an audience restores its members", () =>
      Effect.gen(function* () {
        const { id: consumerId } = yield* done("POST", "/consumers", { fullName: "Ann" })
        const { id } = yield* done("POST", "/audiences", { name: "Friends" })
        yield* done("POST", `/audiences/${id}/members`, { consumerIds: [consumerId] })
        yield* archive(`/audiences/${id}`)
        assert.strictEqual((yield* restore(`/audiences/${id}`)).memberCount, 1)
        const { data } = yield* done("GET", `/audiences/${id}/members`)
        assert.deepStrictEqual(
          data.map((member: any) => member.consumerId),
          [consumerId]
        )
      })
    )

    it.effect("a consumer is refused while another has its email, phone number or external id", () =>
      Effect.gen(function* () {
        for (const [own, code] of [
          [{ email: "ann@example.com" }, "EMAIL_TAKEN"],
          [{ phone: "+14155550123" }, "PHONE_TAKEN"],
          [{ externalId: "crm-1" }, "EXTERNAL_ID_TAKEN"]
        ] as const) {
          const first = yield* done("POST", "/consumers", own)
          yield* archive(`/consumers/${first.id}`)
          const second = yield* done("POST", "/consumers", own)
          yield* refused(`/consumers/${first.id}`, code)
          yield* archive(`/consumers/${second.id}`)
          assert.deepInclude(yield* restore(`/consumers/${first.id}`), { ...own, archived: false })
          yield* refused(`/consumers/${second.id}`, code)
        }
      })
    )

    it.effect("consumers: a search among the archived ones finds them by text and by identifier", () =>
      Effect.gen(function* () {
        const own = { email: "zoe@example.org", externalId: "crm-zoe", fullName: "Zoe Quill" }
        const { id } = yield* done("POST", "/consumers", own)
        yield* done("POST", "/consumers", { email: "zoe@example.net", fullName: "Zoe Quill" })
        yield* archive(`/consumers/${id}`)
        for (const sortBy of ["createdAt", "email", "lastOrderAt"]) {
          for (const search of ["zoe", "QUILL", "crm-zoe", id]) {
            const { data } = yield* done("GET", `/consumers?archived=true&sortBy=${sortBy}&search=${search}`)
            assert.deepStrictEqual(
              data.map((consumer: any) => consumer.id),
              [id],
              `${search} by ${sortBy}`
            )
          }
        }
        for (const type of ["authenticated", "guest"]) {
          const { data } = yield* done("GET", `/consumers?archived=true&search=quill&type=${type}`)
          assert.lengthOf(data, type === "guest" ? 0 : 1)
        }
      })
    )

    it.effect("a product leaves its variants archived, and the product without a default variant", () =>
      Effect.gen(function* () {
        const { id, variants } = yield* aProduct({ variants: [{ sku: "A" }, { sku: "B" }] })
        yield* archive(`/products/${id}`)
        assert.deepInclude(yield* restore(`/products/${id}`), { archived: false, variants: [], defaultVariantId: null })
        assert.strictEqual((yield* done("PUT", `/products/${id}`, { name: "Boot" })).name, "Boot")
        const found = yield* done("GET", `/variants?productId=${id}&archived=true`)
        assert.deepStrictEqual(
          found.data.map(({ sku }: any) => sku),
          ["A", "B"]
        )
        yield* restore(`/variants/${variants[0].id}`)
        const defaultVariantId = variants[0].id
        const product = yield* done("PUT", `/products/${id}`, { defaultVariantId })
        assert.deepStrictEqual([product.variants.length, product.defaultVariantId], [1, defaultVariantId])
      })
    )

    it.effect("a product is refused while a media asset or the sync source that it names is archived", () =>
      Effect.gen(function* () {
        for (const [path, made, body] of [
          ["/media-assets", yield* aMediaAsset(), (id: string) => ({ productMediaAssets: [{ mediaAssetId: id }] })],
          ["/sync-sources", yield* aSyncSource(), (id: string) => ({ primarySyncSourceId: id })]
        ] as const) {
          const { id } = yield* aProduct(body(made.id))
          yield* archive(`/products/${id}`)
          yield* archive(`${path}/${made.id}`)
          yield* refused(`/products/${id}`, "REFERENCE_ARCHIVED")
          yield* restore(`${path}/${made.id}`)
          yield* restore(`/products/${id}`)
        }
      })
    )

    it.effect("a variant is refused while an option, a value or the sync source that it names is archived", () =>
      Effect.gen(function* () {
        const { id: productId } = yield* aProduct()
        const { optionId, valueIds } = yield* anOption("Size", ["S"])
        const { id: primarySyncSourceId } = yield* aSyncSource()
        const options = [{ optionId, valueId: valueIds[0]! }]
        const { id } = yield* aVariant({ productId, primarySyncSourceId, options })
        yield* archive(`/variants/${id}`)
        for (const path of [
          `/sync-sources/${primarySyncSourceId}`,
          `/variant-options/${optionId}/values/${valueIds[0]}`,
          `/variant-options/${optionId}`
        ]) {
          yield* archive(path)
          yield* refused(`/variants/${id}`, "REFERENCE_ARCHIVED")
          yield* restore(path)
        }
        const restored = yield* restore(`/variants/${id}`)
        assert.deepInclude(restored, { archived: false, primarySyncSourceId })
        assert.deepInclude(restored.options[0], { optionId, valueId: valueIds[0] })
      })
    )

    it.effect("a variant is refused while its product has the maximum number of variants", () =>
      Effect.gen(function* () {
        const { id: productId, variants } = yield* aProduct({ variants: Array.from({ length: 100 }, () => ({})) })
        yield* archive(`/variants/${variants[0].id}`)
        const { id } = yield* aVariant({ productId })
        yield* refused(`/variants/${variants[0].id}`, "TOO_MANY_VARIANTS")
        yield* archive(`/variants/${id}`)
        yield* restore(`/variants/${variants[0].id}`)
      })
    )

    it.effect("a variant option restores its values, except those that were archived separately", () =>
      Effect.gen(function* () {
        const values = [{ value: "S" }, { value: "M" }, { value: "L" }]
        const option = yield* done("POST", "/variant-options", { name: "Size", values })
        const path = `/variant-options/${option.id}`
        yield* archive(`${path}/values/${option.values[1].id}`)
        yield* archive(path)
        const restored = yield* restore(path)
        assert.deepStrictEqual(
          restored.values.map(({ value }: any) => value),
          ["S", "L"]
        )
        const { data } = yield* done("GET", `${path}/values?archived=true`)
        assert.deepStrictEqual(
          data.map(({ value }: any) => value),
          ["M"]
        )
      })
    )

    it.effect("a value places it last, and is refused if another value has its text or the option is full", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const texts = Array.from({ length: valuesMax }, (_, index) => `${index}`)
        const values = texts.map((value) => ({ value }))
        const option = yield* done("POST", "/variant-options", { name: "Size", values })
        const path = `/variant-options/${option.id}/values`
        const first = `${path}/${option.values[0].id}`
        yield* archive(first)
        const { id: same } = yield* done("POST", path, { value: "0" })
        yield* refused(first, "VALUE_EXISTS")
        yield* done("PUT", `${path}/${same}`, { value: "another" })
        yield* refused(first, "OPTION_FULL")
        yield* archive(`${path}/${same}`)
        assert.deepInclude(yield* restore(first), { value: "0", archived: false, sortOrder: valuesMax })
        const { data } = yield* done("GET", `${path}?last=2`)
        assert.deepStrictEqual(
          data.map(({ value }: any) => value),
          [`${valuesMax - 1}`, "0"]
        )
        const other = yield* done("POST", "/variant-options", { name: "Width" })
        const elsewhere = `/variant-options/${other.id}/values/${option.values[0].id}`
        assert.strictEqual((yield* call("POST", `${elsewhere}/restore`)).status, 404)
      })
    )

    it.effect("twice at the same moment restores a record once", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id: experienceId } = yield* anExperience()
        const { id } = yield* done("POST", "/sequences", { experienceId, name: "Sale" })
        yield* archive(`/sequences/${id}`)
        const answers = yield* Effect.all(
          Array.from({ length: 5 }, () => call("POST", `/sequences/${id}/restore`)),
          { concurrency: "unbounded" }
        )
        for (const answer of answers) assert.deepStrictEqual([answer.status, answer.body], [200, answers[0]!.body])
      })
    )
  })
})
