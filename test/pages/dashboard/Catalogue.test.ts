/** The catalogue at the dashboard: products with pictures, sizes and stock, made, changed, put in order and archived. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Usher } from "../../http/support/usherFixture.ts"
import { operator, person } from "../support/operatorFixture.ts"
import { brand, formsOf, layer as usher, textOf } from "../support/roomFixture.ts"

const admin = Effect.gen(function* () {
  const browser = yield* operator
  yield* browser.signIn((yield* Usher).brand.secretKey)
  return browser
})

const aProduct = (body: object = {}) =>
  brand("POST", "/products", {
    name: "Aurora",
    pictures: [
      { url: "https://cdn.example/1.jpg", altText: "Side" },
      { url: "https://cdn.example/2.jpg", altText: "Top" }
    ],
    variants: [
      { price: "129.00", inventoryQuantity: 5, inventoryPolicy: "deny", options: [{ option: "Size", value: "41" }] },
      { price: "129.00", options: [{ option: "Size", value: "42" }] }
    ],
    ...body
  })

const urls = (product: any) => product.productMediaAssets.map(({ mediaAsset }: any) => mediaAsset.publicUrl)

layer(usher, { excludeTestServices: true })("The catalogue at the dashboard", (it) => {
  it.effect("takes a product with picture and sizes, or says at each field what is wrong", () =>
    Effect.gen(function* () {
      const { get, submit } = yield* admin
      assert.include(
        textOf(yield* get("/dashboard/catalogue?search=nothing-has-this-name")),
        "No product has this name."
      )
      const form = yield* get("/dashboard/catalogue/new")
      const typed = {
        "product.name": "Borealis",
        "product.price": "1.2.3",
        "product.picture": "https://cdn.example/side.jpg",
        "size.0": "41",
        "stock.0": "7"
      }
      const refused = yield* submit(form, "Add the product", typed)
      assert.strictEqual(refused.status, 400)
      assert.include(refused.text, 'id="f-product.price-problem"')
      const made = yield* submit(refused, "Add the product", { "product.price": "120.00" })
      assert.include(textOf(made), "Borealis is in the catalogue.", textOf(made))
      const list = textOf(yield* get("/dashboard/catalogue?search=Borealis"))
      assert.match(list, /Borealis 41 120.00 7 1/)
    })
  )

  it.effect("changes a product, and refuses what the API refuses at its field", () =>
    Effect.gen(function* () {
      const { get, submit } = yield* admin
      const { id, variants } = yield* aProduct()
      const path = `/dashboard/catalogue/${id}`
      const typed = {
        name: "Aurora 2",
        url: "https://shop.example/a",
        description: "White",
        defaultVariantId: variants[1].id
      }
      yield* submit(yield* get(path), "Save", typed)
      assert.deepInclude(yield* brand("GET", `/products/${id}`), typed)
      const refused = yield* submit(yield* get(path), "Save", { url: "shop.example" })
      assert.match(refused.text, /id="f-product-url-problem">It must be an absolute https URL/)
      assert.include(refused.text, 'value="shop.example"')
    })
  )

  it.effect("adds pictures, puts them in order, and removes one after a question", () =>
    Effect.gen(function* () {
      const { get, submit } = yield* admin
      const { id } = yield* aProduct()
      const path = `/dashboard/catalogue/${id}`
      const shown = Effect.map(brand("GET", `/products/${id}`), urls)
      yield* submit(yield* get(path), "Add the picture", { url: "https://cdn.example/3.jpg", altText: "Sole" })
      assert.deepStrictEqual(yield* shown, [
        "https://cdn.example/1.jpg",
        "https://cdn.example/2.jpg",
        "https://cdn.example/3.jpg"
      ])
      yield* submit(yield* get(path), "Show picture 3 first")
      yield* submit(yield* get(path), "Show picture 2 later")
      const ordered = ["https://cdn.example/3.jpg", "https://cdn.example/2.jpg", "https://cdn.example/1.jpg"]
      assert.deepStrictEqual(yield* shown, ordered)
      const asked = yield* submit(yield* get(path), "Remove picture 2…")
      assert.deepStrictEqual(yield* shown, ordered)
      yield* submit(asked, "Remove")
      assert.deepStrictEqual(yield* shown, ["https://cdn.example/3.jpg", "https://cdn.example/1.jpg"])
    })
  )

  it.effect("adds and changes sizes, and keeps what orders have counted meanwhile", () =>
    Effect.gen(function* () {
      const { get, submit } = yield* admin
      const { id, variants } = yield* aProduct()
      const path = `/dashboard/catalogue/${id}`
      yield* submit(yield* get(path), "Add the size", {
        value: "43",
        price: "139.00",
        inventoryPolicy: "deny",
        inventoryQuantity: "9"
      })
      const [first, , added] = (yield* brand("GET", `/products/${id}`)).variants
      assert.deepInclude(added, { price: "139.00", inventoryQuantity: 9, inventoryPolicy: "deny" })
      assert.strictEqual(added.options[0].optionId, first.options[0].optionId)

      const page = yield* get(path)
      yield* brand("PUT", `/variants/${variants[0].id}`, { inventoryQuantity: 4 })
      // The price alone is changed: the count of orders stays.
      yield* submit(page, "Save 41", { price: "99.00", inventoryPolicy: "deny" })
      assert.deepInclude(yield* brand("GET", `/variants/${variants[0].id}`), { price: "99.00", inventoryQuantity: 4 })
      const typed = { inventoryQuantity: "50", inventoryPolicy: "deny", confirmed: crypto.randomUUID() }
      const refused = yield* submit(page, "Save 41", typed)
      assert.include(textOf(refused), "there are 4 now")
      assert.strictEqual((yield* brand("GET", `/variants/${variants[0].id}`)).inventoryQuantity, 4)
      yield* submit(refused, "Save 41", { inventoryPolicy: "deny" })
      assert.strictEqual((yield* brand("GET", `/variants/${variants[0].id}`)).inventoryQuantity, 50)
    })
  )

  it.effect("says where the units of a size are counted that a stock has", () =>
    Effect.gen(function* () {
      const { get, submit } = yield* admin
      const { id, variants } = yield* aProduct()
      yield* brand("POST", "/stocks", { name: "Pairs", variantIds: [variants[0].id] })
      const typed = { inventoryQuantity: "50", inventoryPolicy: "deny" }
      const refused = yield* submit(yield* get(`/dashboard/catalogue/${id}`), "Save 41", typed)
      assert.include(textOf(refused), "A stock counts these units. Correct the number there.")
    })
  )

  it.effect("archives sizes and products after a question, and restores them", () =>
    Effect.gen(function* () {
      const { get, submit } = yield* admin
      const { id } = yield* aProduct({ name: "Fading" })
      const path = `/dashboard/catalogue/${id}`
      const sizes = Effect.map(brand("GET", `/products/${id}`), ({ variants }) => variants.length)
      const asked = yield* submit(yield* get(path), "Archive 42…")
      assert.strictEqual(yield* sizes, 2)
      const archived = yield* submit(asked, "Archive")
      assert.strictEqual(yield* sizes, 1)
      yield* submit(archived, "Restore 42")
      assert.strictEqual(yield* sizes, 2)
      const question = yield* submit(yield* get(path), "Archive the product…")
      assert.strictEqual(yield* sizes, 2)
      const gone = yield* submit(question, "Archive")
      assert.include(textOf(gone), "Fading is archived.")
      assert.include(textOf(yield* submit(gone, "Restore Fading")), "Fading is restored.")
    })
  )

  it.effect("is read by viewers, who get no form", () =>
    Effect.gen(function* () {
      const { id } = yield* aProduct()
      const viewer = yield* person("catalogue@example.com", "viewer")
      const page = yield* viewer.get(`/dashboard/catalogue/${id}`)
      assert.include(textOf(page), "129.00, stock 5")
      assert.deepStrictEqual(
        formsOf(page).filter(({ action }) => action.includes("catalogue")),
        []
      )
    })
  )
})
