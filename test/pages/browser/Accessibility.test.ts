/** What pages are for people who cannot see them, use a keyboard, or read from right to left. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Locator, Page } from "playwright-core"
import { asConsumer, Usher } from "../../http/support/usherFixture.ts"
import { findings } from "../support/axe.ts"
import { at, clock, ofPages, opened, press, roomUrl, sees, signedIn } from "../support/browserFixture.ts"
import * as Fixture from "../support/roomFixture.ts"

/** Presses Tab until this is focused. */
const tabTo = async (page: Page, name: string): Promise<void> => {
  for (let presses = 0; presses < 100; presses++) {
    const focused = await page.evaluate<string>("document.activeElement?.textContent.trim() ?? ''")
    if (focused === name) return
    await page.keyboard.press("Tab")
  }
  throw new Error(`"${name}" cannot be reached with the keyboard`)
}

/** Presses the button with this text by keyboard alone. */
const pressByKeyboard = async (page: Page, name: string): Promise<void> => {
  await tabTo(page, name)
  await page.keyboard.press("Enter")
}

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
        for (const [button, outcome] of [
          ["Get access", "It is your turn"],
          ["Enter the draw", "You are entered"],
          ["Join the queue", "You are in line"]
        ] as const) {
          await press(page, button)
          await sees(page, outcome)
        }
        await page.getByRole("button", { name: "Stay here" }).click()
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
        await page.getByLabel("Your bid").fill("12")
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
          page.locator("[data-kind=draw]").filter({ hasText: "The organizer has decided this." })
        ]) {
          await showsUp(page, card)
        }
        return findings(page, "ended")
      })
      assert.deepStrictEqual(found, [])
    })
  )

  it.effect("have no finding of axe in the dashboard", () =>
    Effect.gen(function* () {
      const { experienceId } = yield* Fixture.room(sixKinds())
      const { page } = yield* opened({ viewport: { width: 1280, height: 900 } })
      const { adminUrl } = yield* Usher
      const outside = yield* Effect.promise(async () => {
        await page.goto(`${adminUrl}/dashboard/sign-in`)
        return findings(page, "sign-in")
      })
      yield* signedIn(page)
      const inside = yield* Effect.promise(async () => {
        const all: Array<string> = []
        for (const path of ["", "/new", `/experiences/${experienceId}`]) {
          await page.goto(`${adminUrl}/dashboard${path}`)
          all.push(...(await findings(page, path)))
        }
        return all
      })
      assert.deepStrictEqual([...outside, ...inside], [])
    })
  )

  it.effect("lead through the queue by keyboard alone, with the focus on what has changed", () =>
    Effect.gen(function* () {
      const { experienceId, sequence } = yield* Fixture.room({ queues: [{ name: "Front door", admitRate: 0 }] })
      const { page } = yield* opened()
      const url = yield* roomUrl(experienceId)
      const focused = () => page.evaluate<string>("document.activeElement.textContent")
      const joined = yield* Effect.promise(async () => {
        await page.goto(url)
        await pressByKeyboard(page, "Join the queue")
        await sees(page, "You are in line")
        return focused()
      })
      assert.strictEqual(joined, "You are in line")
      yield* Fixture.asBrandServer("POST", `/queues/${sequence.queues[0].id}/admit`, { count: 1 })
      const admitted = yield* Effect.promise(async () => {
        await sees(page, "It is your turn")
        const heading = await focused()
        await pressByKeyboard(page, "Give it up")
        await sees(page, "You have left")
        return heading
      })
      assert.strictEqual(admitted, "It is your turn")
    })
  )

  it.effect("let staff pause a queue by keyboard alone", () =>
    Effect.gen(function* () {
      const { experienceId } = yield* Fixture.room({ queues: [{ name: "Front door", admitRate: 60 }] })
      const { page } = yield* opened({ viewport: { width: 1280, height: 900 } })
      const { adminUrl, brand } = yield* Usher
      yield* Effect.promise(async () => {
        await page.goto(`${adminUrl}/dashboard/sign-in`)
        while ((await page.evaluate("document.activeElement.name")) !== "key") await page.keyboard.press("Tab")
        await page.keyboard.type(brand.secretKey)
        await page.keyboard.press("Enter")
        await sees(page, "New drop")
        await page.goto(`${adminUrl}/dashboard/experiences/${experienceId}`)
        await pressByKeyboard(page, "Pause…")
        await sees(page, "The rate admits nobody from now on.")
        await pressByKeyboard(page, "Pause")
        await sees(page, "Front door is paused.")
      })
    })
  )

  it.effect("tell of the place once a minute at most, and of the turn at once", () =>
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
      yield* Fixture.asBrandServer("POST", `/queues/${queue.id}/admit`, { count: 10 })
      const said = yield* Effect.promise(async () => {
        await sees(page, "It is your turn")
        return page.evaluate<ReadonlyArray<string>>("window.announced")
      })
      assert.deepStrictEqual(said.slice(0, 2), ["You are in line", "You are number 12 in line."])
      assert.match(said.slice(2).join("; "), /^It is your turn/)
    })
  )
})

/** Waits until the page shows this. A page follows one place, and asks for others as it is opened. */
const showsUp = async (page: Page, shown: Locator): Promise<void> => {
  while (!(await shown.isVisible())) await page.reload()
}

/** The id of the consumer whose session a page has. */
const consumerIn = async (page: Page): Promise<string> => {
  const token = (await page.context().cookies()).find(({ value }) => value.split(".").length === 3)!.value
  return JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString()).consumerId
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
