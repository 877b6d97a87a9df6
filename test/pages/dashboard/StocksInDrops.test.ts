/** Stocks in drops: sold from by one form, chosen at a mechanism, and shown in the tab Now. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { givenBack } from "../../../src/pages/dashboard/stocks/StockChanges.ts"
import { type Answer, Usher } from "../../http/support/usherFixture.ts"
import { operator } from "../support/operatorFixture.ts"
import { brand, formOf, room, textOf } from "../support/roomFixture.ts"
import { aStock, counted, layer as usher, until, valuesIn } from "../support/stockFixture.ts"

const admin = Effect.gen(function* () {
  const browser = yield* operator
  yield* browser.signIn((yield* Usher).brand.secretKey)
  return browser
})

const later = "2031-01-01T10:00:00Z"

/** A drop that offers a product with so many units. */
const aDrop = Effect.fnUntraced(function* (units: number, sequence: object = {}) {
  const browser = yield* admin
  const { productId, variantId } = yield* counted(units)
  const name = `Drop ${randomUUID().slice(0, 8)}`
  const made = yield* room(sequence, { name, timeZone: "Europe/Berlin", products: [{ productId }] })
  const path = `/dashboard/experiences/${made.experienceId}`
  const read = brand("GET", `/experiences/${made.experienceId}`)
  const form = browser.get(`${path}/schedule/stock`)
  const share = (page: Answer, typed: object) => {
    const { action, fields } = formOf(page, "Share the units out")
    const values = ["taker", "draw.", "queue.", "release.", "waitlist."].map((one) => valuesIn(page, one))
    return browser.send("POST", action, { ...fields, ...Object.assign({}, ...values), stock: "new", ...typed })
  }
  return { ...made, ...browser, name, path, read, form, share, variantId }
})

describe("Units that takers give back", () => {
  const allocations = [{ distributionId: "a", allocated: 10, held: 4, sold: 5 }]
  const back = (taker: object | undefined) =>
    givenBack({ allocations }, taker === undefined ? [] : [{ of: "a", ...taker }]).map(({ units }) => units)
  it("are those beyond the share, and never those that somebody holds", () => {
    assert.deepStrictEqual(back({ units: 15 }), [])
    assert.deepStrictEqual(back({ units: 12 }), [3])
    assert.deepStrictEqual(back({ upTo: 5 }), [6])
    assert.deepStrictEqual(back({}), [])
    assert.deepStrictEqual(back(undefined), [6])
  })
})

layer(usher, { excludeTestServices: true })("A drop that sells from one stock", (it) => {
  it.effect("gets draw, queue and waitlist with one form, in this order, with what each may have", () =>
    Effect.gen(function* () {
      const { form, share, read, variantId, name, get } = yield* aDrop(300)
      const page = yield* form
      const shown = textOf(page)
      for (const text of ["1. A new draw", "2. A new queue", "3. A new waitlist"]) assert.include(shown, text)
      assert.strictEqual(valuesIn(page, "taker.0.units")["taker.0.units"], "100")
      const typed = {
        variants: variantId,
        opens: "2031-01-01T10:00",
        "draw.openFor": "2",
        "draw.openFor.unit": "60",
        "queue.lobby": "0",
        "waitlist.minutesToBuy": "30"
      }
      const made = yield* share(page, typed)
      assert.strictEqual(made.status, 303, textOf(made))
      const path = made.headers["location"]!
      const { sequences } = yield* read
      const [draw] = sequences[0].draws
      const [queue] = sequences[0].queues
      const { waitlist } = sequences[0]
      const stockId = path.split("/").at(-1)!
      assert.deepInclude(draw, { stockId, winnerCount: 100, name: `${name}: Draw` })
      // Ten in Berlin, and the winners have a day after the entries close.
      assert.deepInclude(draw, { openAt: "2031-01-01T09:00:00.000Z", closeAt: "2031-01-01T11:00:00.000Z" })
      assert.deepInclude(queue, { stockId, maxAdmissions: null, openAt: "2031-01-02T11:00:00.000Z" })
      assert.deepInclude(waitlist, { stockId, offers: true, admissionExpirationSeconds: 1_800, openAt: null })
      const stock = yield* brand("GET", `/stocks/${stockId}`)
      assert.deepStrictEqual(stock.takers, [
        { distributionId: draw.id, units: 100 },
        { distributionId: queue.id },
        { distributionId: waitlist.id, from: "2031-01-02T12:00:00.000Z" }
      ])
      assert.deepInclude(stock, { name, variantIds: [variantId], onHand: 300 })
      const settled = yield* until(
        brand("GET", `/stocks/${stockId}`),
        ({ allocations }) => allocations[0].allocated === 100
      )
      assert.strictEqual(settled.free, 200)
      assert.include(textOf(yield* get(path)), `${name} sells from this stock.`)
    })
  )

  it.effect("keeps what was done when a step is refused, and goes on from there", () =>
    Effect.gen(function* () {
      const { form, share, read, variantId, get } = yield* aDrop(20)
      const first = yield* form
      const without = yield* share(first, { variants: variantId, takers: "0" })
      assert.strictEqual(without.status, 400)
      assert.include(textOf(without), "Add who gets units.")
      const refused = yield* share(first, { variants: variantId, "queue.rate": "-5", units: "30" })
      assert.strictEqual(refused.status, 400)
      assert.match(refused.text, /id="f-share-queue\.rate-problem">At least 0/)
      const { sequences } = yield* read
      assert.lengthOf(sequences[0].draws, 1)
      assert.lengthOf(sequences[0].queues, 0)
      const { stockId } = sequences[0].draws[0]
      assert.strictEqual((yield* brand("GET", `/stocks/${stockId}`)).onHand, 30)
      // The form has the stock and the draw now, so it makes neither again.
      assert.strictEqual(valuesIn(refused, "taker.0.of")["taker.0.of"], sequences[0].draws[0].id)
      const done = yield* share(refused, { stock: stockId, "queue.rate": "60", units: "30" })
      assert.strictEqual(done.status, 303, textOf(done))
      const after = (yield* read).sequences[0]
      assert.deepStrictEqual([after.draws.length, after.queues.length], [1, 1])
      const { takers, onHand } = yield* brand("GET", `/stocks/${stockId}`)
      assert.strictEqual(onHand, 30)
      assert.deepStrictEqual(
        takers.map(({ distributionId }: { distributionId: string }) => distributionId),
        [after.draws[0].id, after.queues[0].id, after.waitlist.id]
      )
      assert.include(textOf(yield* get(done.headers["location"]!)), "sells from this stock")
    })
  )

  it.effect("takes mechanisms that have still to open, and leaves those alone that have opened", () =>
    Effect.gen(function* () {
      const { form, share, sequence, variantId } = yield* aDrop(5, {
        queues: [{ name: "Open line", admitRate: 0 }],
        timedReleases: [{ name: "Sale", capacity: 5, openAt: later }]
      })
      const [open] = sequence.queues
      const [release] = sequence.timedReleases
      const page = yield* form
      assert.include(textOf(page), "Open line: with units of its own")
      assert.include(textOf(page), "Sale")
      const only = { takers: "1", "taker.0.of": release.id, "taker.0.rule": "rest", "taker.0.units": "" }
      const made = yield* share(page, { variants: variantId, ...only })
      assert.strictEqual(made.status, 303, textOf(made))
      assert.isNull((yield* brand("GET", `/distributions/${open.id}`)).stockId)
      assert.isNotNull((yield* brand("GET", `/distributions/${release.id}`)).stockId)
      const other = yield* share(yield* form, { variants: variantId, ...only, "taker.0.of": open.id })
      assert.include(textOf(other), "cannot join any more")
    })
  )

  it.effect("gives a draw that is there its winners, and opens what follows when they have bought", () =>
    Effect.gen(function* () {
      const times = { openAt: later, closeAt: "2033-01-02T00:00:00.000Z", drawAt: "2033-01-02T00:00:00.000Z" }
      const draws = [{ name: "Raffle", winnerCount: 3, admissionExpirationSeconds: 3_600, ...times }]
      const { form, share, sequence, variantId, read } = yield* aDrop(20, { draws })
      const page = yield* form
      assert.strictEqual(valuesIn(page, "taker.0.units")["taker.0.units"], "3")
      const made = yield* share(page, { variants: variantId })
      assert.strictEqual(made.status, 303, textOf(made))
      const [after] = (yield* read).sequences
      assert.strictEqual(after.queues[0].openAt, "2033-01-02T01:00:00.000Z")
      const stock = yield* brand("GET", `/stocks/${after.queues[0].stockId}`)
      assert.deepInclude(stock.takers[0], { distributionId: sequence.draws[0].id, units: 3 })
    })
  )

  it.effect("shows the stock in Now, and at each mechanism the units that it has", () =>
    Effect.gen(function* () {
      const { path, sequence, get, submit } = yield* aDrop(1, {
        timedReleases: [{ name: "Sale", capacity: 100, openAt: later }]
      })
      const release = sequence.timedReleases[0].id as string
      const { id, name } = yield* aStock(6, { takers: [{ distributionId: release }] })
      const schedule = yield* get(`${path}/schedule`)
      assert.include(textOf(schedule), "Its own units")
      const changed = yield* submit(schedule, "Save", { stockId: id })
      assert.include(textOf(changed), "Sale was changed.")
      yield* until(brand("GET", `/distributions/${release}`), ({ allocation }) => allocation.units === 6)
      const now = yield* get(path)
      assert.include(now.text, `data-part="stock-${id}"`)
      assert.include(textOf(now), `${name} 6 units on hand`)
      assert.match(textOf(now), /Claimed 0 of 6/)
      assert.notInclude(textOf(now), "of 100")
      assert.include((yield* get(`${path}/figures`)).text, `data-part="stock-${id}"`)
      const after = textOf(yield* get(`${path}/schedule`))
      assert.include(after, "Units at most")
      assert.match(after, /Units from its stock 6 0 held, 0 sold/)
      assert.match(textOf(yield* get("/dashboard")), /Sold 0 of 6/)
    })
  )

  it.effect("is chosen for a mechanism in New drop and at Add, and a waitlist then makes offers", () =>
    Effect.gen(function* () {
      const { submitFiles, submit, get } = yield* admin
      const { id } = yield* aStock(7)
      const form = yield* get("/dashboard/new?part=waitlist,queue")
      assert.include(textOf(form), "Minutes to use an offer")
      const name = `Drop ${randomUUID().slice(0, 8)}`
      const typed = { name, when: "at", opens: "2031-01-01T10:00", product: "none", "waitlist.stock": id }
      yield* submitFiles(form, "Create the drop", {}, { ...typed, "waitlist.minutesToBuy": "15", "queue.stock": id })
      const { data } = yield* brand("GET", "/experiences?first=1&sortDir=desc")
      const { sequences } = yield* brand("GET", `/experiences/${data[0].id}`)
      assert.deepInclude(sequences[0].queues[0], { stockId: id })
      assert.deepInclude(sequences[0].waitlist, { stockId: id, offers: true, admissionExpirationSeconds: 900 })
      // It goes on after the opening, because units may fall back then.
      assert.isNull(sequences[0].waitlist.closeAt)
      const path = `/dashboard/experiences/${data[0].id}`
      const adding = yield* get(`${path}/schedule/add?part=release`)
      yield* submit(adding, "Add", { "release.stock": id, "release.units": "3", guests: "yes" })
      const after = yield* brand("GET", `/experiences/${data[0].id}`)
      assert.deepInclude(after.sequences[0].timedReleases[0], { stockId: id, capacity: 3 })
    })
  )

  it.effect("begins with a new drop, which leads to the form with its date", () =>
    Effect.gen(function* () {
      const { get, submitFiles } = yield* admin
      assert.include((yield* get("/dashboard/new")).text, 'href="/dashboard/new?then=stock"')
      const form = yield* get("/dashboard/new?then=stock")
      const name = `Drop ${randomUUID().slice(0, 8)}`
      const typed = { name, when: "at", opens: "2031-01-01T10:00", product: "new", "size.0": "41", "stock.0": "12" }
      const led = yield* submitFiles(form, "Create the drop, and go on", {}, typed)
      assert.include(textOf(led), "Now share its units out.")
      assert.match(textOf(led), /41 \(12\)/)
      assert.strictEqual(valuesIn(led, "opens")["opens"], "2031-01-01T10:00")
      const another = yield* get("/dashboard/new?then=stock")
      const refused = yield* submitFiles(another, "Create the drop, and go on", {}, { ...typed, name: "" })
      assert.strictEqual(refused.status, 400)
      assert.include(textOf(refused), "Create the drop, and go on")
    })
  )
})
