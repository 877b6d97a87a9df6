/** Stocks at the dashboard, over real HTTP and without a script. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { type Answer, Usher } from "../../http/support/usherFixture.ts"
import { operator, person } from "../support/operatorFixture.ts"
import { brand, formOf, formsOf, room, textOf } from "../support/roomFixture.ts"
import { aStock, counted, layer as usher, placesOf, until, valuesIn } from "../support/stockFixture.ts"

const admin = Effect.gen(function* () {
  const browser = yield* operator
  yield* browser.signIn((yield* Usher).brand.secretKey)
  return browser
})

/** A drop whose queue and draw have still to open. */
const scheduled = Effect.gen(function* () {
  const [openAt, closeAt] = ["2031-01-01T10:00:00Z", "2031-01-01T12:00:00Z"]
  const name = `Drop ${randomUUID().slice(0, 8)}`
  const { sequence } = yield* room(
    {
      queues: [{ name: "Line", admitRate: 60, openAt }],
      draws: [{ name: "Raffle", winnerCount: 10, openAt, closeAt, drawAt: closeAt }]
    },
    { name }
  )
  return { name, queue: sequence.queues[0].id as string, draw: sequence.draws[0].id as string }
})

const problemAt = ({ text }: Answer, id: string): string =>
  new RegExp(`<p class="error" id="f-${id.replaceAll(".", "\\.")}-problem">([^<]*)`).exec(text)?.[1] ?? ""

layer(usher, { excludeTestServices: true })("Stocks at the dashboard", (it) => {
  it.effect("say the next step while there is none, by what a role may do", () =>
    Effect.gen(function* () {
      const { get } = yield* admin
      const page = yield* get("/dashboard/stocks")
      assert.include(textOf(page), "No stock yet. Make a stock")
      assert.match(page.text, /<a href="\/dashboard\/stocks" aria-current="page"/)
      const viewer = yield* person(`${randomUUID()}@example.com`, "viewer")
      assert.include(textOf(yield* viewer.get("/dashboard/stocks")), "No stock yet. An operator can make one.")
      assert.strictEqual((yield* viewer.get("/dashboard/stocks/new")).status, 403)
    })
  )

  it.effect("are made of a size of the catalogue, with takers in their order that then sell from it", () =>
    Effect.gen(function* () {
      const { get, send } = yield* admin
      const { variantId, name: product } = yield* counted(12)
      const { name: drop, queue, draw } = yield* scheduled
      const empty = yield* get("/dashboard/stocks/new")
      assert.include(textOf(empty), `${product} · 42 (12)`)
      const { action, fields } = formOf(empty, "Make the stock")
      const press = (page: Answer, typed: object) =>
        send("POST", action, { ...fields, ...valuesIn(page, "taker"), name: "Pairs", ...typed })
      const one = yield* press(empty, { "taker.add": queue, do: "add" })
      assert.include(textOf(one), `1. ${drop} · Line`)
      const two = yield* press(one, { "taker.add": draw, do: "add" })
      const moved = yield* press(two, { do: "up.1", "taker.1.rule": "units", "taker.1.units": "5" })
      assert.deepInclude(valuesIn(moved, "taker."), {
        "taker.0.of": draw,
        "taker.0.rule": "units",
        "taker.0.units": "5",
        "taker.1.of": queue
      })
      const sent = { ...fields, ...valuesIn(moved, "taker"), name: "Pairs", variants: variantId, lowAt: "3" }
      const made = yield* send("POST", action, sent)
      assert.strictEqual(made.status, 303, textOf(made))
      // The same form makes no second stock.
      const again = yield* send("POST", action, sent)
      assert.strictEqual(again.headers["location"], made.headers["location"])
      const path = made.headers["location"]!
      const id = path.split("/").at(-1)!
      const stock = yield* brand("GET", `/stocks/${id}`)
      assert.deepInclude(stock, { name: "Pairs", variantIds: [variantId], lowAt: 3, returnsCancelled: true })
      assert.deepStrictEqual(stock.takers, [{ distributionId: draw, units: 5 }, { distributionId: queue }])
      for (const mechanism of [draw, queue]) {
        assert.strictEqual((yield* brand("GET", `/distributions/${mechanism}`)).stockId, id)
      }
      const settled = yield* until(brand("GET", `/stocks/${id}`), ({ allocations }) => allocations[0].allocated === 5)
      assert.strictEqual(placesOf(settled), 12)
      const shown = textOf(yield* get(path))
      assert.include(shown, "Pairs is made.")
      assert.include(shown, "12 units on hand")
      assert.match(shown, new RegExp(`1\\. ${drop} · Raffle\\s+a fixed share of 5 5 0 0`))
      assert.match(shown, new RegExp(`2\\. ${drop} · Line\\s+what remains 0 0 0`))
      assert.match((yield* get(path)).text, /role="img" aria-label="Of 12 units: 0 sold, [^"]*7 free"/)
    })
  )

  it.effect("begin at a product with its sizes alone, also after a button of the form", () =>
    Effect.gen(function* () {
      const { get, send } = yield* admin
      const { productId, name } = yield* counted(12)
      const { name: other } = yield* counted(3)
      const { queue } = yield* scheduled
      const [, address] = (yield* get(`/dashboard/catalogue/${productId}`)).text.match(
        /href="([^"]+)"[^>]*>Sell them from one stock/
      )!
      const page = yield* get(address!)
      const { action, fields } = formOf(page, "Make the stock")
      const moved = yield* send("POST", action, { ...fields, "taker.add": queue, do: "add" })
      for (const shown of [page, moved]) {
        assert.include(textOf(shown), `${name} · 42 (12)`)
        assert.notInclude(textOf(shown), other)
      }
      assert.strictEqual((yield* get(`/dashboard/stocks/new?product=${randomUUID()}`)).status, 404)
    })
  )

  it.effect("say what is wrong at each field, with what was typed", () =>
    Effect.gen(function* () {
      const { get, send } = yield* admin
      const { variantId } = yield* counted(1)
      const { queue } = yield* scheduled
      const { action, fields } = formOf(yield* get("/dashboard/stocks/new"), "Make the stock")
      const taker = { takers: "1", "taker.0.of": queue, "taker.0.rule": "rest" }
      const before = (yield* brand("GET", "/stocks?first=100")).data.length
      const cases: ReadonlyArray<readonly [typed: object, field: string, says: RegExp]> = [
        [{ name: "" }, "name", /needed/],
        [{ lowAt: "-1" }, "lowAt", /At least/],
        [{ "taker.0.rule": "units" }, "taker.0.units", /Enter how many/],
        [{ "taker.0.rule": "upTo", "taker.0.units": "0" }, "taker.0.units", /At least/],
        [{ "taker.0.from": "soon" }, "taker.0.from", /Enter a date/]
      ]
      for (const [typed, field, says] of cases) {
        const page = yield* send("POST", action, { ...fields, name: "Pairs", variants: variantId, ...taker, ...typed })
        assert.strictEqual(page.status, 400, field)
        assert.match(problemAt(page, field), says, field)
        assert.include(valuesIn(page, "taker.0.of")["taker.0.of"], queue)
      }
      const without = yield* send("POST", action, { name: "Pairs" })
      assert.strictEqual(without.status, 400)
      assert.match(textOf(without), /Sizes:? : At least 1|Sizes.*At least/)
      const { variantId: taken } = yield* aStock(1)
      const twice = yield* send("POST", action, { name: "Pairs", variants: taken })
      assert.include(textOf(twice), "Another stock has one of these sizes.")
      assert.strictEqual((yield* brand("GET", "/stocks?first=100")).data.length, before + 1)
    })
  )

  it.effect("are corrected with a reason, and ask before units are taken away", () =>
    Effect.gen(function* () {
      const { get, submit, send } = yield* admin
      const { path, read } = yield* aStock(10)
      const page = yield* get(path)
      const wrong = yield* submit(page, "Correct", { direction: "add", units: "0", reason: "" })
      assert.strictEqual(wrong.status, 400)
      assert.match(problemAt(wrong, "adjust-units"), /at least 1/)
      assert.match(problemAt(wrong, "adjust-reason"), /Choose a reason/)
      const added = yield* submit(page, "Correct", { direction: "add", units: "5", reason: "DELIVERED" })
      assert.include(textOf(added), "15 units are on hand now.")
      assert.include(textOf(added), "5 units were added: units were delivered.")
      const asks = yield* submit(added, "Correct", { direction: "take", units: "4", reason: "DAMAGED" })
      assert.include(textOf(asks), "4 free units leave the stock")
      assert.strictEqual((yield* read).onHand, 15)
      const { action, fields } = formOf(asks, "Take 4 away")
      const once = yield* send("POST", action, fields)
      assert.strictEqual(once.status, 303)
      yield* send("POST", action, fields)
      assert.deepInclude(yield* read, { onHand: 11, free: 11 })
      const tooMany = yield* submit(yield* get(path), "Correct", { direction: "take", units: "12", reason: "DAMAGED" })
      const refused = yield* submit(tooMany, "Take 12 away")
      assert.strictEqual(refused.status, 400)
      assert.match(problemAt(refused, "adjust-units"), /Only 11 units are free/)
    })
  )

  it.effect("take units back only after a person has agreed, and say in words where they went", () =>
    Effect.gen(function* () {
      const { get, send } = yield* admin
      const { queue, draw, name: drop } = yield* scheduled
      const { path, id, read } = yield* aStock(8)
      const change = Effect.fnUntraced(function* (typed: object) {
        const page = yield* get(path)
        const { action, fields } = formOf(page, "Save the list")
        return yield* send("POST", action, { ...fields, ...valuesIn(page, "taker"), ...typed })
      })
      const both = {
        takers: "2",
        "taker.0.of": draw,
        "taker.0.rule": "units",
        "taker.0.units": "6",
        "taker.1.of": queue,
        "taker.1.rule": "upTo",
        "taker.1.units": "1"
      }
      assert.strictEqual((yield* change(both)).status, 303)
      assert.strictEqual((yield* brand("GET", `/distributions/${draw}`)).stockId, id)
      yield* until(read, ({ allocations }) => allocations[0].allocated === 6)
      const moved = yield* change({ do: "down.0" })
      assert.strictEqual(valuesIn(moved, "taker.0.of")["taker.0.of"], queue)
      assert.strictEqual((yield* read).takers[0].distributionId, draw)
      const asks = yield* change({ "taker.0.units": "2" })
      assert.include(textOf(asks), "Take units back?")
      assert.match(textOf(asks), /Raffle.? gives 4 units back/)
      assert.strictEqual((yield* read).takers[0].units, 6)
      const { action, fields } = formOf(asks, "Take them back")
      assert.strictEqual((yield* send("POST", action, fields)).status, 303)
      const shown = yield* until(read, ({ free }) => free === 6)
      assert.deepInclude(shown.allocations[0], { distributionId: draw, allocated: 2 })
      const history = yield* get(`${path}/history`)
      const said = textOf(history)
      assert.include(said, `6 units left for ${drop} · Raffle , transfer 1.`)
      assert.include(said, `4 units came back from ${drop} · Raffle`)
      assert.notMatch(said, /[0-9a-f]{8}-[0-9a-f]{4}/)
    })
  )

  it.effect("have settings, and are archived only when nothing sells from them", () =>
    Effect.gen(function* () {
      const { get, submit } = yield* admin
      const { path, read, variantId } = yield* aStock(3)
      const changed = yield* submit(yield* get(path), "Save the settings", {
        name: "Rest",
        lowAt: "2",
        returnsCancelled: "no"
      })
      assert.include(textOf(changed), "The settings were changed.")
      assert.deepInclude(yield* read, { name: "Rest", lowAt: 2, returnsCancelled: false })
      const wrong = yield* submit(changed, "Save the settings", { name: "" })
      assert.match(problemAt(wrong, "settings-name"), /needed/)
      const asks = yield* submit(changed, "Archive…")
      assert.include(textOf(asks), "3 units that are not sold go back to the first size.")
      const archived = yield* submit(asks, "Archive")
      assert.include(textOf(archived), "Rest is archived.")
      assert.strictEqual((yield* get(path)).status, 404)
      assert.strictEqual((yield* brand("GET", `/variants/${variantId}`)).inventoryQuantity, 3)
    })
  )

  it.effect("show a viewer everything, and nothing that changes them", () =>
    Effect.gen(function* () {
      const { path, name, read } = yield* aStock(4)
      const viewer = yield* person(`${randomUUID()}@example.com`, "viewer")
      const page = yield* viewer.get(path)
      assert.include(textOf(page), "4 units on hand")
      assert.include(textOf(page), "What happened")
      assert.deepStrictEqual(
        formsOf(page).filter(({ action }) => action.startsWith(path)),
        []
      )
      for (const form of ["takers", "adjust", "settings", "archive"]) {
        const refused = yield* viewer.send("POST", `${path}/${form}`, { confirmed: randomUUID(), units: "1" })
        assert.strictEqual(refused.status, 403, form)
      }
      assert.deepInclude(yield* read, { name, onHand: 4 })
      const { stranger } = yield* Usher
      const other = yield* operator
      yield* other.signIn(stranger.secretKey)
      for (const address of [path, `${path}/history`]) assert.strictEqual((yield* other.get(address)).status, 404)
      assert.strictEqual((yield* other.send("POST", `${path}/adjust`, { units: "1", reason: "OTHER" })).status, 404)
    })
  )

  it.effect("are found by the search over everything", () =>
    Effect.gen(function* () {
      const { get } = yield* admin
      const { name, path } = yield* aStock(4)
      const found = yield* get(`/dashboard/search?search=${encodeURIComponent(name)}`)
      assert.include(found.text, `<a href="${path}">${name}</a>`)
    })
  )
})
