/** Pages for people who cannot see them, or who read from right to left. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Locator, Page } from "playwright-core"
import { asConsumer, Usher } from "../../http/support/usherFixture.ts"
import { findings, findingsNow } from "../support/axe.ts"
import { at, clock, consumerIn, ofPages, opened, press, roomUrl, sees, signedIn } from "../support/browserFixture.ts"
import * as Fixture from "../support/roomFixture.ts"
import { hardToSee } from "../support/seeing.ts"

/** A sequence with one mechanism of each kind. */
const sixKinds = () => ({
  queues: [{ name: "Front door", admitRate: 0 }],
  draws: [{ name: "Raffle", winnerCount: 3, closeAt: at(600), drawAt: at(700) }],
  auctions: [{ name: "Lot", startPrice: "10.00", minBidIncrement: "1.00", settleAt: at(3600) }],
  timedReleases: [{ name: "Sale", capacity: 5, closeAt: at(7200) }],
  appointments: [{ name: "Fitting", slotDurationMinutes: 240, slotsFrom: at(0), slotsUntil: at(2 * 86_400) }],
  waitlist: { name: "Tell me" }
})

ofPages("Pages", (it) => {
  it.effect("are checked one by one, so that a fault is found also after pages without one", () =>
    Effect.gen(function* () {
      const { page } = yield* opened()
      const wrong = `<style>@media (prefers-color-scheme: dark) { p { color: #222; background: #000 } }</style>`
      const htmlOf = (head: string, image: string) =>
        `<!doctype html><html lang="en"><title>A page</title>${head}<main><h1>A page</h1>${image}<p>Read this</p></main></html>`
      const found = yield* Effect.promise(async () => {
        const all: Array<string> = []
        for (const html of [htmlOf("", ""), htmlOf("", "<img src='data:,'>"), htmlOf(wrong, ""), htmlOf("", "")]) {
          await page.setContent(html)
          all.push(...(await findings(page, "page")))
        }
        return all.map((finding) => finding.split(" <")[0])
      })
      assert.deepStrictEqual(found, ["page, light: image-alt", "page, dark: color-contrast"])
    })
  )

  it.effect("have no finding of axe in a room, in light and dark, in three languages", () =>
    Effect.gen(function* () {
      const { id: productId } = yield* Fixture.product(["42", "43"])
      const { experienceId } = yield* Fixture.room(sixKinds(), { products: [{ productId }] })
      const { page } = yield* opened()
      const url = yield* roomUrl(experienceId)
      const found = yield* Effect.promise(async () => {
        const all: Array<string> = []
        for (const language of ["en", "de", "ar"]) {
          await page.goto(`${url}?lang=${language}`)
          all.push(...(await findings(page, `shell in ${language}`)))
        }
        await page.goto(url)
        await page.getByRole("radio").first().check()
        for (const [button, outcome] of [
          ["Get access", "It is your turn"],
          ["Enter the draw", "You are entered"],
          ["Join the queue", "You are in line"]
        ] as const) {
          await press(page, button)
          await sees(page, outcome)
        }
        for (const language of ["en", "de", "ar"]) {
          await page.goto(`${url}/place?lang=${language}`)
          all.push(...(await findings(page, `place in ${language}`)))
        }
        return all
      })
      assert.deepStrictEqual(found, [])
    })
  )

  it.effect("say why a place has ended, without a finding of axe", () =>
    Effect.gen(function* () {
      const admissionExpirationSeconds = 60
      const { experienceId, sequence } = yield* Fixture.room({
        queues: [{ name: "Front door", admitRate: 0, admissionExpirationSeconds }],
        draws: [{ name: "Raffle", winnerCount: 1, closeAt: at(600), drawAt: at(601) }],
        timedReleases: [{ name: "Sale", capacity: 5, closeAt: at(7200), admissionExpirationSeconds }],
        auctions: [{ name: "Lot", startPrice: "10.00", minBidIncrement: "1.00", settleAt: at(120) }]
      })
      const { page } = yield* opened()
      const url = yield* roomUrl(experienceId)
      yield* Effect.promise(async () => {
        await page.goto(url)
        for (const [button, outcome] of [
          ["Join the queue", "You are in line"],
          ["Enter the draw", "You are entered"]
        ] as const) {
          await press(page, button)
          await sees(page, outcome)
        }
        await page.getByRole("textbox", { name: "Your bid" }).fill("12")
        await press(page, "Place a bid")
        await press(page, "Yes, bid $12.00")
        await sees(page, "You are among the winners so far")
        await press(page, "Get access")
        await sees(page, "It is your turn")
      })
      const rival = yield* Fixture.visitor(experienceId)
      yield* rival.submit(yield* rival.get("place"), "Place a bid", { amount: "14", confirmed: "1" })
      const deny = { consumerIds: [yield* Effect.promise(() => consumerIn(page))], reason: "ADMIN_ACTION" }
      yield* Fixture.brand("POST", `/distributions/${sequence.draws[0].id}/deny`, deny)
      yield* Fixture.asBrandServer("POST", `/queues/${sequence.queues[0].id}/admit`, { count: 1 })
      yield* clock.putForward(121_000)
      const found = yield* Effect.promise(async () => {
        const expired = page.getByRole("heading", { name: "Your time has run out" })
        for (const card of [
          page.locator("[data-kind=queue]").filter({ has: expired }),
          page.locator("[data-kind=timed_release]").filter({ has: expired }),
          page.locator("[data-kind=auction]").filter({ hasText: "Not this time" }),
          page.locator("[data-kind=draw]").filter({ hasText: "This was the organizer’s decision." })
        ]) {
          await showsUp(page, card)
        }
        return findings(page, "ended")
      })
      assert.deepStrictEqual(found, [])
    })
  )

  it.effect("of the dashboard have no finding of axe, also when narrow, in forced colors and without motion", () =>
    Effect.gen(function* () {
      const { experienceId, sequence } = yield* Fixture.room(sixKinds())
      const consumer = yield* Fixture.brand("POST", "/consumers", { email: "ada.seen@example.com" })
      const order = { consumerId: consumer.id, number: "N-1", total: "12.50", items: [] }
      const { id: orderId } = yield* Fixture.brand("POST", "/orders", order)
      const hook = { url: "https://shop.example/hooks", events: ["order.created"] }
      const { id: webhookId } = yield* Fixture.brand("POST", "/webhooks", hook)
      const pageId = yield* Fixture.publish(experienceId, "seen", { body: { blocks: [{ type: "place" }] } })
      const { page } = yield* opened({ viewport: { width: 1280, height: 900 } })
      const { adminUrl } = yield* Usher
      const found: Array<string> = []
      const look = async (path: string, find: typeof findingsNow) => {
        await page.goto(`${adminUrl}/dashboard${path}`)
        found.push(...(await find(page, path)), ...(await hardToSee(page, path)))
      }
      yield* Effect.promise(() => look("/sign-in", findings))
      yield* signedIn(page)
      yield* Effect.promise(async () => {
        // Other screens are made of the same parts, in the same colors.
        for (const path of [
          "",
          "/new",
          `/experiences/${experienceId}`,
          `/experiences/${experienceId}/people`,
          "/analytics"
        ])
          await look(path, findings)
        await page.emulateMedia({ colorScheme: "light" })
        const lists = [
          "/consumers",
          "/orders",
          "/pages",
          "/webhooks",
          "/people",
          "/keys",
          "/audit-log",
          "/system",
          "/search?search=an"
        ]
        const records = [
          `/consumers/${consumer.id}`,
          `/orders/${orderId}`,
          `/pages/${pageId}`,
          `/webhooks/${webhookId}`
        ]
        const results = `/experiences/${experienceId}/results`
        const history = `/mechanisms/${sequence.queues[0].id}/history`
        const onceMore = `${results}/once-more?mechanism=${sequence.queues[0].id}&was.admitRate=0&admitRate=60`
        for (const path of [...lists, ...records, results, onceMore, history]) await look(path, findingsNow)
      })
      assert.deepStrictEqual(found, [])
    })
  )

  it.effect("tell of the last minute to decide", () =>
    Effect.gen(function* () {
      const queues = [{ name: "Front door", admitRate: 600, admissionExpirationSeconds: 600 }]
      const { experienceId } = yield* Fixture.room({ queues })
      const { page } = yield* opened()
      const url = yield* roomUrl(experienceId)
      let serverTime: number | undefined
      const said = yield* Effect.promise(async () => {
        // The page counts by the server's clock, which it reads again with each answer.
        await page.route(/\/place/, async (route) => {
          const response = await route.fetch()
          const headers = response.headers()
          if (serverTime !== undefined) headers["x-server-time"] = `${serverTime}`
          await route.fulfill({ response, headers })
        })
        await page.goto(url)
        await press(page, "Join the queue")
        await sees(page, "It is your turn")
        const said = page.locator("#said")
        const before = await said.textContent()
        const until = await page.locator("time[data-warn]").getAttribute("datetime")
        serverTime = Date.parse(until!) - 50_000
        await page.evaluate(`dispatchEvent(new Event("online"))`)
        await said.filter({ hasText: "One minute left." }).waitFor()
        return before
      })
      assert.notInclude(said!, "One minute left.")
    })
  )

  it.effect("tell of the place once a minute at most, slower or never if chosen, and of the turn at once", () =>
    Effect.gen(function* () {
      const { experienceId, sequence } = yield* Fixture.room({ queues: [{ name: "Front door", admitRate: 0 }] })
      const { consumer, guest, brand } = yield* Usher
      const [queue] = sequence.queues
      const others = 19
      for (let entered = 0; entered < others; entered++) {
        const { accessToken } = yield* guest()
        const headers = asConsumer(brand.publishableKey, accessToken)
        yield* consumer({ method: "POST", path: `/api/queues/${queue.id}/enter`, headers })
      }
      const { page } = yield* opened()
      const url = yield* roomUrl(experienceId)
      yield* Effect.promise(async () => {
        await page.clock.install()
        await page.goto(url)
        await page.evaluate(observeAnnouncements)
        await press(page, "Join the queue")
        await placeIs(page, 20)
      })
      const admit = (count: number, place: number) =>
        Effect.andThen(
          Fixture.asBrandServer("POST", `/queues/${queue.id}/admit`, { count }),
          Effect.promise(() => placeIs(page, place))
        )
      yield* admit(5, 15)
      yield* admit(1, 14)
      yield* Effect.promise(() => page.clock.fastForward(61_000))
      yield* admit(2, 12)
      yield* admit(2, 10)
      const choose = (label: string, seconds: number) =>
        Effect.promise(async () => {
          await page.getByLabel("Screen reader").selectOption(label)
          await page.clock.fastForward(seconds * 1_000)
        })
      yield* choose("5 minutes", 61)
      yield* admit(2, 8)
      yield* choose("5 minutes", 240)
      yield* admit(1, 7)
      yield* choose("No announcements", 3_600)
      yield* admit(2, 5)
      yield* Fixture.asBrandServer("POST", `/queues/${queue.id}/admit`, { count: 10 })
      const said = yield* Effect.promise(async () => {
        await sees(page, "It is your turn")
        return page.evaluate<ReadonlyArray<string>>("window.announced")
      })
      const places = ["You are number 12 in line.", "You are number 7 in line."]
      assert.deepStrictEqual(said.slice(0, 3), ["You are in line", ...places])
      assert.match(said.slice(3).join("; "), /^It is your turn/)
    })
  )
})

/** Waits until the page shows this. A page follows one place, and asks for others as it is opened. */
const showsUp = async (page: Page, shown: Locator): Promise<void> => {
  while (!(await shown.isVisible())) await page.reload()
}

const placeIs = (page: Page, place: number) =>
  page
    .locator("[data-text=position]")
    .filter({ hasText: new RegExp(`^${place}$`) })
    .waitFor()

/** Keeps what the live region says. */
const observeAnnouncements = `
  window.announced = []
  const said = document.getElementById("said")
  const observer = new MutationObserver(() => window.announced.push(said.textContent))
  observer.observe(said, { childList: true, characterData: true, subtree: true })
`
