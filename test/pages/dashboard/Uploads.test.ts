/** Pictures that people upload with forms of the dashboard, over real HTTP. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Usher } from "../../http/support/usherFixture.ts"
import { png, pngOf } from "../../support/picture.ts"
import { operator, person } from "../support/operatorFixture.ts"
import { brand, formOf, layer as usher, textOf } from "../support/roomFixture.ts"

const admin = Effect.gen(function* () {
  const browser = yield* operator
  yield* browser.signIn((yield* Usher).brand.secretKey)
  return browser
})

const picture = "product.picture.file"
const create = "Create the drop"
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')

/** The pictures of the brand. */
const uploads = Effect.map(brand("GET", "/pictures?first=100"), ({ data }) => data as ReadonlyArray<any>)

const experienceOf = ({ text }: { readonly text: string }) => {
  const [, id] = /dashboard\/experiences\/([0-9a-f-]{36})/.exec(text) ?? []
  assert.isDefined(id)
  return brand("GET", `/experiences/${id}`)
}

layer(usher, { excludeTestServices: true })("A picture that is uploaded at the dashboard", (it) => {
  it.effect("is in the room of a new drop, on the room's own origin", () =>
    Effect.gen(function* () {
      const { get, submitFiles } = yield* admin
      const { consumer } = yield* Usher
      const form = yield* get("/dashboard/new?part=queue")
      const page = yield* submitFiles(form, create, { [picture]: png }, { name: "Aurora", "product.alt": "A shoe" })
      const { id } = yield* experienceOf(page)
      const room = yield* consumer({ path: `/e/${id}` })
      const [, url] = /<img class="shot" src="([^"]*)"/.exec(room.text) ?? []
      assert.match(url!, /^\/pictures\/[0-9a-f-]{36}$/)
      const served = yield* consumer({ path: url! })
      assert.deepStrictEqual([served.status, served.headers["content-type"]], [200, "image/webp"])
      assert.include(room.headers["content-security-policy"], "img-src 'self'")
    })
  )

  it.effect("stays with a form that is refused or asks for more fields, because browsers forget files", () =>
    Effect.gen(function* () {
      const { get, submit, submitFiles } = yield* admin
      const form = yield* get("/dashboard/new?part=queue")
      const more = yield* submitFiles(form, create, { [picture]: png }, { name: "Aurora", do: "more" })
      const { fields } = formOf(more, create)
      assert.match(fields["product.picture"]!, /^\/pictures\//)
      assert.include(more.text, `<img src="${fields["product.picture"]}"`)
      const refused = yield* submit(more, create, { name: "Aurora", "product.price": "1.2.3" })
      assert.strictEqual(refused.status, 400)
      const made = yield* submit(refused, create, { "product.price": "12" })
      const { products } = yield* experienceOf(made)
      const [{ mediaAsset }] = products[0].product.productMediaAssets
      assert.strictEqual(mediaAsset.publicUrl, fields["product.picture"])
    })
  )

  it.effect("is refused at its field, and nothing is created", () =>
    Effect.gen(function* () {
      const { get, submitFiles } = yield* admin
      const before = yield* uploads
      const { data } = yield* brand("GET", "/experiences?first=100")
      for (const [file, sentence] of [
        [svg, "It must be a PNG, JPEG, WebP or AVIF picture."],
        [Buffer.alloc(5_000_001, 1), "It must be a picture of at most 5 MB."],
        [png.subarray(0, 40), "It must be a picture that is not damaged."]
      ] as const) {
        const form = yield* get("/dashboard/new?part=queue")
        const page = yield* submitFiles(form, create, { [picture]: file }, { name: "Aurora" })
        assert.strictEqual(page.status, 400)
        assert.match(page.text, new RegExp(`id="f-product.picture.file-problem">${sentence}`))
      }
      const form = yield* get("/dashboard/catalogue/new")
      const page = yield* submitFiles(form, "Add the product", { [picture]: svg }, { "product.name": "Aurora" })
      assert.include(textOf(page), "It must be a PNG, JPEG, WebP or AVIF picture.")
      assert.deepStrictEqual(yield* uploads, before)
      assert.strictEqual((yield* brand("GET", "/experiences?first=100")).data.length, data.length)
    })
  )

  it.effect("is stored once when its form is sent twice, and another file is another form", () =>
    Effect.gen(function* () {
      const { get, submitFiles } = yield* admin
      const { id } = yield* brand("POST", "/products", { name: "Borealis" })
      const form = yield* get(`/dashboard/catalogue/${id}`)
      const before = (yield* uploads).length
      const add = (file: Buffer) => submitFiles(form, "Add the picture", { "url.file": file }, { altText: "Side" })
      assert.include(textOf(yield* add(png)), "The picture was added.")
      yield* add(png)
      const other = yield* add(pngOf(9, 9))
      assert.deepStrictEqual([other.status, (yield* uploads).length], [409, before + 1])
      const { productMediaAssets } = yield* brand("GET", `/products/${id}`)
      assert.deepStrictEqual(
        productMediaAssets.map(({ mediaAsset }: any) => [mediaAsset.altText, mediaAsset.publicUrl.slice(0, 10)]),
        [["Side", "/pictures/"]]
      )
    })
  )

  it.effect("is listed, and removed after a question unless something shows it", () =>
    Effect.gen(function* () {
      const { get, submit, submitFiles } = yield* admin
      const { id } = yield* brand("POST", "/products", { name: "Cepheus" })
      yield* submitFiles(yield* get(`/dashboard/catalogue/${id}`), "Add the picture", { "url.file": pngOf(7, 5) })
      const [{ id: picture }] = (yield* brand("GET", "/pictures?first=1&sortDir=desc")).data
      const list = "/dashboard/catalogue/pictures"
      assert.include(textOf(yield* get(list)), "7 × 5")
      const remove = Effect.fnUntraced(function* () {
        const question = yield* submit(yield* get(list), "Remove…", { picture })
        assert.include(textOf(question), "Remove the picture?")
        return yield* submit(question, "Remove")
      })
      const used = yield* remove()
      assert.deepStrictEqual([used.status, (yield* uploads).some((one) => one.id === picture)], [409, true])
      yield* brand("PUT", `/products/${id}`, { productMediaAssets: [] })
      assert.include(textOf(yield* remove()), "The picture was removed.")
      assert.isFalse((yield* uploads).some((one) => one.id === picture))
    })
  )

  it.effect("is refused from another site, without a session, for viewers, and as a form that is too large", () =>
    Effect.gen(function* () {
      const browser = yield* admin
      const form = yield* browser.get("/dashboard/new?part=queue")
      const send = ({ submitFiles }: typeof browser, headers?: object, file = png) =>
        submitFiles(form, create, { [picture]: file }, { name: "Aurora" }, headers)
      const before = yield* uploads
      assert.strictEqual((yield* send(browser, { "sec-fetch-site": "cross-site" })).status, 403)
      assert.include((yield* send(yield* operator)).text, "Sign in")
      assert.strictEqual((yield* send(yield* person("looks@example.com", "viewer"))).status, 403)
      assert.strictEqual((yield* send(browser, undefined, Buffer.alloc(20_000_001))).status, 413)
      assert.deepStrictEqual(yield* uploads, before)
    })
  )
})
