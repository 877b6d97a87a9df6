/** A new drop at the dashboard: every part and combination, its product, and forms that are refused. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { gzipSync } from "node:zlib"
import { Usher } from "../../http/support/usherFixture.ts"
import { operator } from "../support/operatorFixture.ts"
import { brand, layer as usher, textOf } from "../support/roomFixture.ts"
import { parts } from "../../../src/pages/dashboard/newDrop/Parts.ts"
import { fieldOf } from "../../../src/domain/mechanism/Mechanism.ts"

const create = "Create the drop"

/** The form of these parts, and the way to send it. */
const newDrop = Effect.fnUntraced(function* (part: string) {
  const { get, submit, signIn } = yield* operator
  yield* signIn((yield* Usher).brand.secretKey)
  const form = yield* get(`/dashboard/new?part=${part}`)
  assert.strictEqual(form.status, 200)
  return { form, send: (typed: object, page = form) => submit(page, create, typed) }
})

/** The experience whose page this is. */
const experienceOf = ({ text }: { readonly text: string }) => {
  const [, id] = /dashboard\/experiences\/([0-9a-f-]{36})/.exec(text) ?? []
  assert.isDefined(id, textOf({ text } as never))
  return brand("GET", `/experiences/${id}`)
}

const counts = Effect.map(
  Effect.forEach(["/experiences", "/products", "/media-assets", "/variant-options"], (path) =>
    brand("GET", `${path}?first=100`)
  ),
  (lists) => lists.map(({ data }) => data.length)
)

layer(usher, { excludeTestServices: true })("A new drop at the dashboard", (it) => {
  for (const { name, kind, title } of parts) {
    it.effect(`can be one of this part alone, with the values of its form: ${title}`, () =>
      Effect.gen(function* () {
        const { send } = yield* newDrop(name)
        const made = yield* experienceOf(yield* send({ name: `Only ${name}`, opens: "2031-05-01T10:00" }))
        const held = [made.sequences[0][fieldOf[kind]]].flat()
        assert.deepStrictEqual([made.name, held.length, held[0].name], [`Only ${name}`, 1, `Only ${name}`])
      })
    )
  }

  it.effect("takes the product with its sizes, times in another zone, texts in two languages, and an access code", () =>
    Effect.gen(function* () {
      const { send } = yield* newDrop("queue")
      const page = yield* send({
        name: "Aurora 1",
        opens: "2031-07-01T10:00",
        timeZone: "America/New_York",
        currency: "usd",
        product: "new",
        "product.name": "Aurora",
        "product.price": "129.00",
        "product.picture": "https://cdn.example/aurora.jpg",
        "product.alt": "A white sneaker",
        "product.url": "https://shop.example/aurora",
        "size.0": "41",
        "stock.0": "12",
        "size.2": "42",
        "queue.units": "50",
        "queue.rate": "30",
        "queue.lobby": "15",
        who: "code",
        code: "AURORA-31",
        perPerson: "1",
        "text.en.enterQueue": "Get in line",
        "text.de.enterQueue": "Anstellen"
      })
      const made = yield* experienceOf(page)
      assert.deepInclude(made, {
        openAt: "2031-07-01T14:00:00.000Z",
        timeZone: "America/New_York",
        currencyCode: "USD",
        i18n: { en: { enterQueue: "Get in line" }, de: { enterQueue: "Anstellen" } }
      })
      const [sequence] = made.sequences
      assert.deepInclude(sequence, { hasAccessCode: true, orderLimitPerConsumer: 1 })
      assert.deepInclude(sequence.queues[0], {
        admitRate: 30,
        maxAdmissions: 50,
        admissionExpirationSeconds: 600,
        lobbyOpenAt: "2031-07-01T13:45:00.000Z",
        timeZone: "America/New_York"
      })
      const [{ product }] = made.products
      assert.deepInclude(product, { name: "Aurora", url: "https://shop.example/aurora" })
      assert.strictEqual(product.productMediaAssets[0].mediaAsset.altText, "A white sneaker")
      assert.deepStrictEqual(
        product.variants.map(({ options, price, inventoryQuantity, inventoryPolicy }: any) => [
          options[0].value,
          price,
          inventoryQuantity,
          inventoryPolicy
        ]),
        [
          ["41", "129.00", 12, "deny"],
          ["42", "129.00", null, "untracked"]
        ]
      )
    })
  )

  it.effect("is a small page, also with every part and every time zone", () =>
    Effect.gen(function* () {
      const { form } = yield* newDrop(parts.map(({ name }) => name).join(","))
      assert.isBelow(gzipSync(form.text).length, 40_960)
    })
  )

  it.effect("lets one part follow another: the draw's winners have had their time when the queue opens", () =>
    Effect.gen(function* () {
      const { form, send } = yield* newDrop("draw,queue")
      assert.include(textOf(form), "Draw, then Queue")
      const made = yield* experienceOf(
        yield* send({
          name: "Aurora 2",
          opens: "2031-07-01T10:00",
          timeZone: "Europe/Paris",
          product: "none",
          guests: "no",
          "draw.openFor": "2",
          "draw.openFor.unit": "60",
          "draw.minutesToBuy": "30",
          "queue.name": "The rest"
        })
      )
      const [{ draws, queues }] = made.sequences
      assert.deepInclude(draws[0], {
        name: "Aurora 2",
        openAt: "2031-07-01T08:00:00.000Z",
        drawAt: "2031-07-01T10:00:00.000Z",
        supportsGuest: false
      })
      assert.deepInclude(queues[0], { name: "The rest", openAt: "2031-07-01T10:30:00.000Z" })
    })
  )

  it.effect("opens a waitlist at once, until the drop opens", () =>
    Effect.gen(function* () {
      const { send } = yield* newDrop("waitlist,queue")
      const opens = { name: "Aurora 3", opens: "2031-07-01T10:00", timeZone: "UTC", product: "none" }
      const { sequences } = yield* experienceOf(yield* send(opens))
      assert.deepInclude(sequences[0].waitlist, { openAt: null, closeAt: "2031-07-01T10:00:00.000Z" })
    })
  )

  it.effect("says what is wrong at each field, keeps what was typed, and creates nothing", () =>
    Effect.gen(function* () {
      const { send } = yield* newDrop("draw,queue")
      const before = yield* counts
      const typed = {
        name: "Aurora 4",
        currency: "euro",
        "product.price": "a lot",
        "product.picture": "picture.jpg",
        "size.1": "42",
        "stock.1": "many",
        "draw.units": "0",
        "queue.rate": "fast"
      }
      const refused = yield* send(typed)
      assert.strictEqual(refused.status, 400)
      const problems = {
        currency: "It must be a currency code of three capital letters (ISO 4217).",
        "product.price": "Enter an amount such as 129.00.",
        "product.picture": "It must be an absolute https URL, or the address of an uploaded picture.",
        "stock.1": "Enter a whole number.",
        "draw.units": "At least 1.",
        "queue.rate": "Enter a whole number."
      }
      for (const [name, sentence] of Object.entries(problems)) {
        assert.include(refused.text, `id="f-${name}-problem">${sentence}</p>`)
        assert.match(refused.text, new RegExp(`id="f-${name}"[^>]*aria-invalid="true"`))
        assert.include(refused.text, `href="#f-${name}"`)
      }
      for (const text of Object.values(typed)) assert.include(refused.text, `value="${text}"`)
      assert.deepStrictEqual(yield* counts, before)

      const again = yield* send(
        {
          currency: "EUR",
          "product.price": "",
          "product.picture": "",
          "stock.1": "3",
          "draw.units": "1",
          "queue.rate": "5"
        },
        refused
      )
      assert.strictEqual((yield* experienceOf(again)).products[0].product.variants.length, 1)
    })
  )

  it.effect("refuses times that contradict each other, that clocks skip, and that are none, at their fields", () =>
    Effect.gen(function* () {
      const { send } = yield* newDrop("draw,queue")
      const before = yield* counts
      const problemAt = (name: string, typed: object) =>
        Effect.map(
          send({ name: "Aurora 5", product: "none", timeZone: "Europe/Paris", ...typed }),
          ({ status, text }) => {
            assert.strictEqual(status, 400)
            return new RegExp(`id="f-${name}-problem">([^<]*)<`).exec(text)?.[1]
          }
        )
      assert.include(yield* problemAt("opens", { opens: "2031-03-30T02:30" }), "skip this time")
      assert.strictEqual(yield* problemAt("queue.opens", { "queue.opens": "tomorrow" }), "Enter a date and a time.")
      assert.strictEqual(yield* problemAt("draw.openFor", { "draw.openFor": "" }), "This is needed.")
      assert.include(yield* problemAt("draw.openFor", { "draw.openFor": "99999999" }), "at most ten years")
      assert.include(yield* problemAt("timeZone", { timeZone: "Mars/Base" }), "a time zone of the IANA database")
      assert.include(yield* problemAt("code", { who: "code", code: "" }), "At least 6")
      assert.include(yield* problemAt("who", { who: crypto.randomUUID() }), "an audience")
      assert.include(yield* problemAt("product", { product: crypto.randomUUID() }), "a product")
      assert.deepStrictEqual(yield* counts, before)
    })
  )

  it.effect("shows what is typed before anything is created: names, buttons, and times in their order", () =>
    Effect.gen(function* () {
      const { send } = yield* newDrop("draw,queue")
      const before = yield* counts
      const typed = {
        name: "Aurora <7>",
        opens: "2031-07-01T10:00",
        timeZone: "Asia/Tokyo",
        "product.picture": "https://cdn.example/a.jpg",
        "text.de.enterQueue": "Anstellen"
      }
      const { text } = yield* send({ ...typed, do: "preview" })
      assert.notInclude(text, "<html")
      const read = textOf({ text } as never)
      assert.match(read, /Aurora <7>.*Enter the draw · Join the queue.*Anstellen/)
      assert.match(read, /Opens Draw July 1, 2031 at 10:00 AM.*The winners are drawn Draw July 1, 2031 at 11:00 AM/)
      assert.include(text, 'src="https://cdn.example/a.jpg"')
      // What is half typed breaks nothing.
      for (const opens of ["2031-07", "", "x"]) assert.strictEqual((yield* send({ opens, do: "preview" })).status, 200)
      assert.deepStrictEqual(yield* counts, before)
    })
  )

  it.effect("offers more sizes without losing what was typed, and creates one drop however often it is sent", () =>
    Effect.gen(function* () {
      const { form, send } = yield* newDrop("release")
      const typed = { name: "Aurora 6", "size.0": "41" }
      const more = yield* send({ ...typed, do: "more" })
      assert.include(more.text, 'name="size.9"')
      assert.notInclude(form.text, 'name="size.9"')
      assert.include(more.text, 'value="Aurora 6"')
      const before = yield* counts
      const first = yield* send({ "size.9": "49" }, more)
      const second = yield* send({ "size.9": "49" }, more)
      assert.strictEqual((yield* experienceOf(first)).id, (yield* experienceOf(second)).id)
      const after = yield* counts
      assert.deepStrictEqual([after[0]! - before[0]!, after[1]! - before[1]!], [1, 1])
    })
  )
})
