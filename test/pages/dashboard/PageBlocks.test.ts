/** A page of a drop, edited as blocks with fields. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Usher } from "../../http/support/usherFixture.ts"
import { png } from "../../support/picture.ts"
import { operator } from "../support/operatorFixture.ts"
import { brand, formOf, layer as usher, publish, room, textOf } from "../support/roomFixture.ts"

const aPage = Effect.fnUntraced(function* (blocks: ReadonlyArray<object>) {
  const { experienceId } = yield* room({ queues: [{ name: "Line", admitRate: 0 }] })
  const id = yield* publish(experienceId, "drop", {
    body: { blocks, note: "kept" },
    themeOverrides: { text: "#222222" }
  })
  const browser = yield* operator
  yield* browser.signIn((yield* Usher).brand.secretKey)
  const path = `/dashboard/pages/${id}`
  const read = Effect.map(brand("GET", `/experience-pages/${id}`), ({ creativeDocument }) => creativeDocument)
  /** Presses a button of the form of blocks. */
  const press = Effect.fnUntraced(function* (page: { readonly text: string }, step: string, typed: object = {}) {
    const form = formOf(page as never, "Save")
    return yield* browser.submitFiles(
      page as never,
      "Save",
      {},
      { ...form.fields, ...areasOf(page.text), ...typed, do: step }
    )
  })
  return { ...browser, experienceId, path, read, press }
})

/** What stands in the areas of a page. A fixture's form has only inputs. */
const areasOf = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/<textarea[^>]* name="(block[^"]*)"[^>]*>\n([^<]*)<\/textarea>/g)].map(([, name, value]) => [
      name,
      value
    ])
  )

layer(usher, { excludeTestServices: true })("The blocks of a page", (it) => {
  it.effect("are fields, and what has no field stays as it is", () =>
    Effect.gen(function* () {
      const section = { type: "section", children: [{ type: "p", content: "inside" }] }
      const blocks = [{ type: "heading", level: 4, content: "Old", className: "big" }, section, { type: "place" }]
      const { get, path, press, read, experienceId } = yield* aPage(blocks)
      const { consumer } = yield* Usher
      const page = yield* get(path)
      assert.match(page.text, /name="block\.0\.content"\s[^>]*value="Old"/)
      assert.include(textOf(page), "This block has no fields.")
      const saved = yield* press(page, "save", { "block.0.content": "New", "block.0.level": "4", title: "Our drop" })
      assert.include(textOf(saved), "The page was saved.")
      const { body, themeOverrides } = yield* read
      assert.deepStrictEqual(body, {
        blocks: [{ ...blocks[0], content: "New" }, section, { type: "place" }],
        note: "kept"
      })
      assert.deepStrictEqual(themeOverrides, { text: "#222222" })
      assert.match(textOf(yield* consumer({ path: `/e/${experienceId}` })), /New inside/)
    })
  )

  it.effect("are added, moved and removed without a script, and saved only by Save", () =>
    Effect.gen(function* () {
      const { get, path, press, read } = yield* aPage([{ type: "place" }, { type: "rules" }])
      const added = yield* press(yield* get(path), "add", { new: "p" })
      assert.include(textOf(added), "Nothing was saved.")
      const moved = yield* press(added, "up.2", { "block.2.content": "Hello\r\nyou" })
      // Only the one line break that a parser drops stands before the text.
      assert.match(moved.text, /<textarea[^>]* name="block\.1\.content"[^>]*>\nHello/)
      const without = yield* press(moved, "remove.2")
      assert.lengthOf((yield* read).body.blocks, 2)
      yield* press(without, "save")
      assert.deepStrictEqual((yield* read).body.blocks, [{ type: "place" }, { type: "p", content: "Hello\nyou" }])
    })
  )

  it.effect("have pictures that are uploaded, and say what is wrong with a file", () =>
    Effect.gen(function* () {
      const { get, path, read, submitFiles } = yield* aPage([
        { type: "image", src: "https://cdn.example/a.png", alt: "A" }
      ])
      const page = yield* get(path)
      const broken = yield* submitFiles(page, "Save", { "block.0.src.file": png.subarray(0, 30) }, { do: "save" })
      assert.strictEqual(broken.status, 400)
      yield* submitFiles(broken, "Save", { "block.0.src.file": png }, { do: "save" })
      assert.match((yield* read).body.blocks[0].src, /^\/pictures\/[0-9a-f-]{36}$/)
    })
  )

  it.effect("are refused with what is missing, and the source is there behind them", () =>
    Effect.gen(function* () {
      const { get, path, press, read } = yield* aPage([{ type: "heading", level: 2, content: "Hello" }])
      const page = yield* get(path)
      assert.match(page.text, /<summary>Source<\/summary>[^]*name="document"/)
      // Rooms skip a block without its text, and the preview names it.
      const emptied = yield* press(page, "preview", { "block.0.content": "" })
      assert.include(textOf(emptied), "Unknown or malformed, and not shown: heading")
      assert.strictEqual((yield* read).body.blocks[0].content, "Hello")
    })
  )
})
