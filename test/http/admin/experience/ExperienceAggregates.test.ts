/** Experiences that are created together with their sequences and mechanisms, in one body. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { aProduct, aVariant } from "../../../store/catalogue/catalogueFixture.ts"
import { Admin, anExperience, aSequence, issuesOf, layer as adminLayer } from "../adminFixture.ts"
import {
  assertLivingMechanisms,
  inDays,
  mechanismsOfEachKind,
  senselessIssues,
  senselessMechanisms
} from "./aggregateFixture.ts"

/** A body with a mechanism of every kind, and two of one kind. */
const everything = () => ({
  name: "Drop",
  timeZone: "Europe/Rome",
  currencyCode: "EUR",
  sequences: [
    { name: "Last", priority: -1 },
    {
      name: "First",
      priority: 5,
      productSelectionMode: "USER_SELECTED",
      ...mechanismsOfEachKind()
    }
  ]
})

const countRows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`
    select (select count(*) from experiences) as experiences, (select count(*) from sequences) as sequences,
      (select count(*) from mechanisms) as mechanisms, (select count(*) from journal) as journal,
      (select count(*) from experience_products) as products`
  return row
})

describe("Whole experiences on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("contain their sequences and mechanisms, each live and as its own operations return it", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const created = yield* call("POST", "/experiences", everything())
        assert.strictEqual(created.status, 201, created.text)
        const { id, sequences } = created.body
        assert.deepStrictEqual((yield* call("GET", `/experiences/${id}`)).body, created.body)
        assert.deepStrictEqual(
          sequences.map(({ name }: { name: string }) => name),
          ["First", "Last"]
        )
        const [first, last] = sequences
        assert.deepInclude(last, { queues: [], draws: [], auctions: [], appointments: [], timedReleases: [] })
        assert.isNull(last.waitlist)
        assert.deepStrictEqual((yield* call("GET", `/sequences/${first.id}`)).body, first)
        assert.deepInclude(first, { experienceId: id, priority: 5, productSelectionMode: "USER_SELECTED" })
        yield* assertLivingMechanisms(first, { experienceId: id, sequenceId: first.id })
        const { draws } = first
        assert.strictEqual(draws[0].closeAt, draws[0].drawAt)
        assert.match(draws[0].seedCommitment, /^[0-9a-f]{64}$/)
      })
    )

    it.effect("notify their waitlists when the sequence opens", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const openAt = inDays(4)
        const { body } = yield* call("POST", "/experiences", {
          name: "Drop",
          sequences: [{ name: "S", queues: [{ name: "Q", admitRate: 1, openAt }], waitlist: { name: "W" } }]
        })
        const { id } = body.sequences[0].waitlist
        const { data } = (yield* call("GET", `/distributions/${id}/history`)).body
        assert.deepInclude(data.at(-1).data, { noticeAt: openAt })
      })
    )

    it.effect("name every problem by its path, and store nothing", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const before = yield* countRows
        const [early, late] = [inDays(1), inDays(2)]
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ sequences: {} }, ["sequences: array"]],
          [{ sequences: [{}] }, ["sequences.0.name: string"]],
          [
            { sequences: [{ name: "S" }, { name: 1, priority: 0.5 }] },
            ["sequences.1.name: string", "sequences.1.priority: integer"]
          ],
          [
            { sequences: [{ name: "S" }, { name: "T", draws: [{ name: "D", drawAt: "soon", winnerCount: 0 }] }] },
            ["sequences.1.draws.0.drawAt: date_time", "sequences.1.draws.0.winnerCount: min_value"]
          ],
          [
            { sequences: [{ name: "S", queues: [{ name: "Q" }], auctions: [{ name: "A" }] }] },
            [
              "sequences.0.auctions.0.settleAt: string",
              "sequences.0.auctions.0.startPrice: amount",
              "sequences.0.queues.0.admitRate: number"
            ]
          ],
          [
            { sequences: [{ name: "S", waitlist: { name: "W", capacity: "many" } }] },
            ["sequences.0.waitlist.capacity: number"]
          ],
          [{ sequences: [{ name: "S", queues: 5 }] }, ["sequences.0.queues: array"]],
          [{ sequences: [{ name: "S", accessCode: "" }] }, ["sequences.0.accessCode: min_length"]],
          // Contradictory settings of each kind are reported together.
          [
            {
              openAt: late,
              closeAt: early,
              products: [{ productId: randomUUID() }],
              sequences: [
                { name: "S", audienceId: randomUUID() },
                {
                  name: "T",
                  ...senselessMechanisms(early, late)
                }
              ]
            },
            [
              "closeAt: date_time",
              "products.0.productId: picklist",
              "sequences.0.audienceId: picklist",
              ...senselessIssues.map((issue) => `sequences.1.${issue}`)
            ]
          ]
        ]
        for (const [mistake, expected] of mistakes) {
          const answer = yield* call("POST", "/experiences", { name: "Drop", ...mistake })
          assert.deepStrictEqual(issuesOf(answer), expected, JSON.stringify(mistake))
        }
        const queue = { name: "Q", admitRate: 1, openAt: early, closeAt: early }
        const told = yield* call("POST", "/experiences", { name: "Drop", sequences: [{ name: "S", queues: [queue] }] })
        const [issue] = told.body.issues
        assert.strictEqual(issue.received, JSON.stringify(early))
        assert.deepStrictEqual(
          issue.path.map(({ type, key }: { type: string; key: string }) => [type, key]),
          [
            ["object", "sequences"],
            ["array", "0"],
            ["object", "queues"],
            ["array", "0"],
            ["object", "closeAt"]
          ]
        )
        assert.deepStrictEqual(yield* countRows, before)
      })
    )

    it.effect("are created with new products, whose options and pictures are created too", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const sneaker = (name: string, ...sizes: ReadonlyArray<string>) => ({
          name,
          pictures: [{ url: "https://cdn.example/side.jpg", altText: "Side" }, { url: "https://cdn.example/top.jpg" }],
          variants: sizes.map((value) => ({ price: "129.00", options: [{ option: "Shoe size", value }] }))
        })
        const { body: known } = yield* call("POST", "/products", { name: "Known" })
        const body = {
          ...everything(),
          products: [{ productId: known.id }],
          newProducts: [sneaker("Aurora", "41", "42"), sneaker("Borealis", "42", "43")]
        }
        const { status, body: made, text } = yield* call("POST", "/experiences", body)
        assert.strictEqual(status, 201, text)
        const [first, aurora, borealis] = made.products
        assert.deepStrictEqual([first.productId, made.products.length], [known.id, 3])
        const sizesOf = (offered: any) => offered.product.variants.map(({ options: [one] }: any) => one.value)
        assert.deepStrictEqual(
          [sizesOf(aurora), sizesOf(borealis)],
          [
            ["41", "42"],
            ["42", "43"]
          ]
        )
        const picturesOf = aurora.product.productMediaAssets.map(({ mediaAsset }: any) => mediaAsset.publicUrl)
        assert.deepStrictEqual(picturesOf, ["https://cdn.example/side.jpg", "https://cdn.example/top.jpg"])
        // One option has the sizes of both products, each once.
        const { data } = (yield* call("GET", "/variant-options?search=Shoe%20size")).body
        assert.strictEqual(data.length, 1)
        const { values } = (yield* call("GET", `/variant-options/${data[0].id}`)).body
        assert.deepStrictEqual(
          values.map(({ value }: { value: string }) => value),
          ["41", "42", "43"]
        )
      })
    )

    it.effect("leave no product, option or picture if any part of them is refused", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const counted = Effect.map(
          Effect.forEach(["/products", "/media-assets", "/variant-options"], (path) =>
            call("GET", `${path}?first=100`)
          ),
          (lists) => lists.map(({ body }) => body.data.length)
        )
        const before = yield* counted
        const newProduct = {
          name: "Aurora",
          pictures: [{ url: "https://cdn.example/side.jpg" }],
          variants: [{ price: "129.50", options: [{ option: "Never seen", value: "1" }] }]
        }
        const sourceId = randomUUID()
        const mistakes: ReadonlyArray<readonly [object, string]> = [
          [{ sequences: [{ name: "S", audienceId: randomUUID() }] }, "sequences.0.audienceId: picklist"],
          [{ currencyCode: "JPY" }, "newProducts.0.variants: picklist"],
          [
            { newProducts: [{ ...newProduct, primarySyncSourceId: sourceId }] },
            "newProducts.0.primarySyncSourceId: picklist"
          ],
          [{ newProducts: [{ ...newProduct, pictures: [{ url: "ftp://x" }] }] }, "newProducts.0.pictures.0.url: string"]
        ]
        for (const [mistake, issue] of mistakes) {
          const answer = yield* call("POST", "/experiences", { name: "Drop", newProducts: [newProduct], ...mistake })
          assert.deepStrictEqual(issuesOf(answer), [issue])
          assert.deepStrictEqual(yield* counted, before, issue)
        }
      })
    )

    it.effect("have limited numbers of sequences and mechanisms", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const many = <A>(length: number, item: A) => Array.from({ length }, () => item)
        const queues = (count: number) => many(count, { name: "Q", admitRate: 0 })
        const refused = (sequences: ReadonlyArray<object>) =>
          Effect.map(call("POST", "/experiences", { name: "Drop", sequences }), issuesOf)
        assert.deepStrictEqual(yield* refused(many(51, { name: "S" })), ["sequences: max_length"])
        assert.deepStrictEqual(yield* refused([{ name: "S", queues: queues(201) }]), ["sequences.0.queues: max_length"])
        const waitlist = { name: "W" }
        assert.deepStrictEqual(
          yield* refused([
            { name: "S", queues: queues(100), waitlist },
            { name: "T", queues: queues(100) }
          ]),
          ["sequences: max_length"]
        )
        const full = many(50, { name: "S", queues: queues(3), waitlist })
        const { status, body } = yield* call("POST", "/experiences", { name: "Drop", sequences: full })
        assert.strictEqual(status, 201)
        assert.lengthOf(body.sequences, 50)
        for (const sequence of body.sequences) assert.lengthOf(sequence.queues, 3)
      })
    )

    it.effect("accept products of their own organization, and variants of these products", () =>
      Effect.gen(function* () {
        const { call, brand, stranger, rehearsal } = yield* Admin
        const [product, another] = [yield* aProduct(brand.tenant), yield* aProduct(brand.tenant)]
        const variant = yield* aVariant(brand.tenant, product)
        const foreign = yield* aProduct(stranger.tenant)
        const inTest = yield* aProduct(rehearsal.tenant)
        const products = [{ productId: another }, { productId: product, productVariantId: variant, position: 0 }]
        const created = yield* call("POST", "/experiences", { name: "Drop", products })
        assert.strictEqual(created.status, 201, created.text)
        const { id } = created.body
        const names = ({ products }: { products: ReadonlyArray<{ productId: string; position: number }> }) =>
          products.map(({ productId, position }) => [productId, position])
        assert.deepStrictEqual(names(created.body), [
          [another, 0],
          [product, 0]
        ])
        assert.strictEqual(created.body.products[1].productVariant.id, variant)
        assert.strictEqual(created.body.products[0].product.name, "Sneaker")
        assert.isNull(created.body.products[0].productVariant)
        assert.notProperty(created.body.products[1].productVariant, "options")
        const listed = (yield* call("GET", "/experiences?first=100")).body.data.find(
          (one: { id: string }) => one.id === id
        )
        assert.deepStrictEqual(names(listed), names(created.body))
        assert.notProperty(listed.products[0], "product")
        assert.notProperty(listed, "sequences")

        const mistakes: ReadonlyArray<readonly [object, string]> = [
          [{ productId: randomUUID() }, "products.1.productId: picklist"],
          [{ productId: foreign }, "products.1.productId: picklist"],
          [{ productId: inTest }, "products.1.productId: picklist"],
          [{ productId: another, productVariantId: variant }, "products.1.productVariantId: picklist"],
          [{ productId: product, productVariantId: randomUUID() }, "products.1.productVariantId: picklist"],
          [{ productId: another, productVariantId: null }, "products.1.productId: picklist"]
        ]
        for (const [mistake, expected] of mistakes) {
          const body = { name: "Drop", products: [{ productId: another }, mistake] }
          assert.deepStrictEqual(issuesOf(yield* call("POST", "/experiences", body)), [expected])
          assert.deepStrictEqual(issuesOf(yield* call("PUT", `/experiences/${id}`, body)), [expected])
        }
        assert.deepStrictEqual((yield* call("GET", `/experiences/${id}`)).body, created.body)

        // A record can be sent back unchanged.
        const echoed = yield* call("PUT", `/experiences/${id}`, created.body)
        assert.strictEqual(echoed.status, 200, echoed.text)
        assert.deepStrictEqual(echoed.body.products, created.body.products)
        const renamed = yield* call("PUT", `/experiences/${id}`, { name: "Same products" })
        assert.deepStrictEqual(renamed.body.products, created.body.products)
        const replaced = yield* call("PUT", `/experiences/${id}`, { products: [{ productId: product }] })
        assert.deepStrictEqual(names(replaced.body), [[product, 0]])
        const cleared = yield* call("PUT", `/experiences/${id}`, { products: null })
        assert.deepStrictEqual(cleared.body.products, [])
      })
    )

    it.effect("restrict timed releases to their own variants, where they offer products", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const [product, another] = [yield* aProduct(brand.tenant), yield* aProduct(brand.tenant)]
        const [good, bad] = [yield* aVariant(brand.tenant, product), yield* aVariant(brand.tenant, another)]
        const release = { name: "R", variantIds: [good, bad] }
        const body = (timedReleases: object) => ({
          name: "Drop",
          products: [{ productId: product }],
          sequences: [{ name: "S", timedReleases: [timedReleases] }]
        })
        const path = "timedReleases.0.variantIds.1: picklist"
        assert.deepStrictEqual(issuesOf(yield* call("POST", "/experiences", body(release))), [`sequences.0.${path}`])
        const created = yield* call("POST", "/experiences", body({ ...release, variantIds: [good] }))
        assert.strictEqual(created.status, 201, created.text)
        const [{ id: sequenceId, timedReleases }] = created.body.sequences
        const alone = { ...release, sequenceId }
        assert.deepStrictEqual(issuesOf(yield* call("POST", "/timed-releases", alone)), ["variantIds.1: picklist"])
        const one = `/timed-releases/${timedReleases[0].id}`
        assert.deepStrictEqual(issuesOf(yield* call("PUT", one, { variantIds: [bad] })), ["variantIds.0: picklist"])
        // A variant that the release already offers remains valid.
        yield* call("PUT", `/experiences/${created.body.id}`, { products: [{ productId: another }] })
        const record = (yield* call("GET", one)).body
        assert.strictEqual((yield* call("PUT", one, record)).status, 200)
        assert.strictEqual((yield* call("PUT", one, { variantIds: [good, bad] })).status, 200)
        // Without products, any variant can be selected.
        yield* call("PUT", `/experiences/${created.body.id}`, { products: [] })
        assert.strictEqual((yield* call("PUT", one, { variantIds: [randomUUID()] })).status, 200)
      })
    )

    it.effect("have access codes that are never shown", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const created = yield* call("POST", "/experiences", {
          name: "Drop",
          accessCode: "open sesame",
          sequences: [{ name: "S", accessCode: "inner sesame" }, { name: "T" }]
        })
        assert.strictEqual(created.status, 201)
        assert.isTrue(created.body.hasAccessCode)
        assert.deepStrictEqual(
          created.body.sequences.map(({ hasAccessCode }: { hasAccessCode: boolean }) => hasAccessCode),
          [true, false]
        )
        assert.notInclude(created.text, "sesame")
        const path = `/experiences/${created.body.id}`
        assert.isTrue((yield* call("PUT", path, { name: "Still" })).body.hasAccessCode)
        assert.isFalse((yield* call("PUT", path, { accessCode: null })).body.hasAccessCode)
        assert.isTrue((yield* call("PUT", path, { accessCode: "another" })).body.hasAccessCode)
        const long = "sesame".repeat(100)
        const refused = yield* call("POST", "/experiences", {
          name: "Drop",
          sequences: [{ name: "S", accessCode: long }]
        })
        assert.deepStrictEqual(issuesOf(refused), ["sequences.0.accessCode: max_length"])
        assert.notInclude(refused.text, "sesame")
      })
    )

    it.effect("ignore sequences in an update", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* anExperience()
        yield* aSequence({ experienceId: id })
        const changed = yield* call("PUT", `/experiences/${id}`, { sequences: [{ name: "New" }] })
        assert.strictEqual(changed.status, 200)
        assert.lengthOf((yield* call("GET", `/experiences/${id}`)).body.sequences, 1)
      })
    )
  })
})
