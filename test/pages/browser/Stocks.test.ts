/** A stranger sells a drop from one stock, in a browser. */
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Page } from "playwright-core"
import * as StockTransfers from "../../../src/workers/StockTransfers.ts"
import { Usher } from "../../http/support/usherFixture.ts"
import { clock, inBrowser, opened, pages, press, sees, signedIn } from "../support/browserFixture.ts"
import * as Fixture from "../support/roomFixture.ts"
import { aStock, placesOf, until } from "../support/stockFixture.ts"
import { openDetails, wide, wrongInLooks } from "../support/screens.ts"

const units = StockTransfers.layer.pipe(Layer.provideMerge(pages))

/** The ids in an address. */
const idIn = (page: Page): string => new URL(page.url()).pathname.split("/")[3]!

/** A drop whose release sells from a stock, with people in each place of a unit. */
const selling = Effect.gen(function* () {
  const stock = yield* aStock(40, { name: "Aurora pairs" })
  const { experienceId, sequence } = yield* Fixture.room({
    timedReleases: [{ name: "Sale", supportsGuest: true, stockId: stock.id }],
    queues: [{ name: "Line", admitRate: 0, stockId: stock.id, openAt: "2031-01-01T10:00:00Z" }]
  })
  const [release, queue] = [sequence.timedReleases[0].id as string, sequence.queues[0].id as string]
  const takers = [
    { distributionId: release, upTo: 12 },
    { distributionId: queue, units: 8 }
  ]
  yield* Fixture.brand("PUT", `/stocks/${stock.id}`, { takers })
  yield* until(stock.read, ({ allocations }) => allocations[0].allocated === 12 && allocations[1].allocated === 8)
  const { consumer, guest, brand } = yield* Usher
  for (let buyer = 0; buyer < 5; buyer++) {
    const { consumerId, accessToken } = yield* guest()
    const headers = { "x-publishable-key": brand.publishableKey, authorization: `Bearer ${accessToken}` }
    yield* consumer({ method: "POST", path: `/api/timed-releases/${release}/enter`, headers, body: {} })
    if (buyer < 3) yield* Fixture.asBrandServer("POST", `/timed-releases/${release}/complete`, { consumerId })
  }
  yield* until(stock.read, ({ sold }) => sold === 3)
  return { ...stock, experienceId, release, queue }
})

inBrowser("A stranger at the stocks of the dashboard", units, (it) => {
  it.effect("makes “draw for 100, queue for the rest, waitlist for what falls back” without documentation", () =>
    Effect.gen(function* () {
      const { page, problems } = yield* opened({ viewport: { width: 1_280, height: 900 } })
      yield* signedIn(page)
      yield* Effect.promise(async () => {
        await page.getByRole("link", { name: "New drop" }).first().click()
        await page.getByRole("link", { name: "From one stock:" }).click()
        await page.getByLabel("Name", { exact: true }).fill("Aurora 3")
        await page.getByLabel("Opens", { exact: true }).fill("2031-07-01T10:00")
        await page.getByLabel("Price", { exact: true }).fill("129.00")
        await page.getByLabel("Size 1", { exact: true }).fill("42")
        await page.getByLabel("Stock of size 1").fill("300")
        await press(page, "Create the drop, and go on")
        await sees(page, "Now share its units out.")
        await page.getByLabel("Aurora 3 · 42 (300)").waitFor()
        assert.strictEqual(await page.getByLabel("Units of taker 1").inputValue(), "100")
        await page.getByLabel("Opens", { exact: true }).waitFor()
        // The order is changed by buttons, and back.
        await press(page, "Move up taker 3")
        await sees(page, "2. A new waitlist")
        await press(page, "Move down taker 2")
        await sees(page, "3. A new waitlist")
        await page.getByLabel("Lobby, minutes before").fill("0")
        await press(page, "Share the units out")
        await sees(page, "Aurora 3 sells from this stock.")
        await sees(page, "300 units on hand")
      })
      const stockId = idIn(page)
      const stock = yield* until(
        Fixture.brand("GET", `/stocks/${stockId}`),
        ({ allocations }) => allocations[0].allocated === 100
      )
      assert.deepInclude(stock, { name: "Aurora 3", onHand: 300, free: 200, sold: 0 })
      assert.strictEqual(placesOf(stock), 300)
      const { data } = yield* Fixture.brand("GET", "/experiences?first=1&sortDir=desc")
      const { name, sequences, products } = yield* Fixture.brand("GET", `/experiences/${data[0].id}`)
      const { draws, queues, waitlist } = sequences[0]
      assert.strictEqual(name, "Aurora 3")
      assert.deepStrictEqual(stock.variantIds, [products[0].product.variants[0].id])
      const [draw, queue, rest] = stock.takers
      assert.deepStrictEqual(draw, { distributionId: draws[0].id, units: 100 })
      assert.deepStrictEqual(queue, { distributionId: queues[0].id })
      // The waitlist gets what falls back, so its turn begins when the queue has been open for a while.
      assert.strictEqual(rest.distributionId, waitlist.id)
      assert.isAbove(Date.parse(rest.from), Date.parse(queues[0].openAt))
      assert.deepInclude(draws[0], { stockId, winnerCount: 100 })
      assert.deepInclude(queues[0], { stockId, maxAdmissions: null })
      assert.deepInclude(waitlist, { stockId, offers: true })
      assert.isAtLeast(Date.parse(queues[0].openAt), Date.parse(draws[0].drawAt))
      yield* Effect.promise(async () => {
        await page.goto(`${new URL(page.url()).origin}/dashboard/experiences/${data[0].id}`)
        await page.getByRole("img", { name: "Of 300 units: 0 sold" }).waitFor()
        await sees(page, "of 100")
      })
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("corrects a stock and its list by keyboard, and watches its bar move in the drop", () =>
    Effect.gen(function* () {
      const { path, experienceId, read, queue } = yield* selling
      const { page, problems } = yield* opened({ viewport: { width: 1_280, height: 900 } })
      yield* signedIn(page)
      const { adminUrl } = yield* Usher
      yield* Effect.promise(async () => {
        await page.goto(`${adminUrl}${path}`)
        await page.getByLabel("Correction").selectOption("take")
        await page.getByLabel("Units", { exact: true }).fill("5")
        await page.getByLabel("Reason").selectOption({ label: "Units are damaged" })
        await page.getByRole("button", { name: "Correct", exact: true }).press("Enter")
        await sees(page, "5 free units leave the stock")
        await page.getByRole("button", { name: "Take 5 away" }).press("Enter")
        await sees(page, "35 units are on hand now.")
        await page.getByRole("button", { name: "Move up taker 2" }).press("Enter")
        await page.getByRole("button", { name: "Save the list" }).last().press("Enter")
        await sees(page, "The list was changed.")
      })
      const stock = yield* read
      assert.strictEqual(stock.takers[0].distributionId, queue)
      assert.strictEqual(placesOf(stock), 35)
      yield* Effect.promise(async () => {
        await page.goto(`${adminUrl}/dashboard/experiences/${experienceId}`)
        await page.getByRole("img", { name: "Of 35 units" }).waitFor()
      })
      yield* Fixture.brand("POST", `${path.replace("/dashboard", "")}/adjust`, { by: 7, reason: "DELIVERED" })
      yield* clock.putForward(1_000)
      yield* Effect.promise(() => page.getByRole("img", { name: "Of 42 units" }).waitFor())
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("sees every screen whole, in light and dark, on a phone, and without a finding of axe", () =>
    Effect.gen(function* () {
      const { id, experienceId } = yield* selling
      const { adminUrl } = yield* Usher
      const screens = {
        list: "/stocks",
        new: "/stocks/new",
        stock: `/stocks/${id}`,
        history: `/stocks/${id}/history`,
        now: `/experiences/${experienceId}`,
        schedule: `/experiences/${experienceId}/schedule`,
        share: `/experiences/${experienceId}/schedule/stock`,
        begin: "/new?then=stock"
      }
      const { page, problems } = yield* opened({ viewport: wide })
      yield* signedIn(page)
      yield* Effect.promise(async () => {
        for (const [name, path] of Object.entries(screens)) {
          await page.goto(`${adminUrl}/dashboard${path}`)
          await openDetails(page)
          assert.deepStrictEqual(await wrongInLooks(page, name), [])
        }
        await page.goto(`${adminUrl}/dashboard/experiences/${experienceId}/schedule/stock`)
        await page.evaluate(`document.querySelectorAll("form.drop").forEach((one) => (one.noValidate = true))`)
        await page.getByLabel("Units of taker 1").first().fill("")
        await page.getByLabel("Taker 1 gets").selectOption("units")
        await press(page, "Share the units out")
        await sees(page, "Not everything is done yet.")
        assert.deepStrictEqual(await wrongInLooks(page, "refused"), [])
        await page.goto(`${adminUrl}/dashboard/stocks/${id}`)
        await page.getByLabel("Units of taker 1").fill("1")
        await press(page, "Save the list")
        await sees(page, "Take units back?")
        assert.deepStrictEqual(await wrongInLooks(page, "asked"), [])
      })
      assert.deepStrictEqual(problems, [])
    })
  )
})
