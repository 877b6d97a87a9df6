/** Journeys of visitors and of staff who use a keyboard alone. No test here clicks. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { asConsumer, Usher } from "../../http/support/usherFixture.ts"
import { at, clock, consumerIn, hide, ofPages, opened, sees, show, visiting } from "../support/browserFixture.ts"
import { keysOf } from "../support/keyboard.ts"
import * as Fixture from "../support/roomFixture.ts"

/** A visitor with a keyboard in a room with these mechanisms. */
const visitor = Effect.fnUntraced(function* (sequence: object, sizes?: ReadonlyArray<string>) {
  const visit = yield* visiting(sequence, sizes)
  return { ...visit, keys: yield* Effect.promise(() => keysOf(visit.page)) }
})

type Keys = Effect.Success<ReturnType<typeof visitor>>["keys"]

/** Waits for the text, and until the focus is on it. */
const movesTo = async (page: Page, keys: Keys, text: string): Promise<void> => {
  await sees(page, text)
  await keys.isOn(text)
}

const admitNext = (queueId: string) => Fixture.asBrandServer("POST", `/queues/${queueId}/admit`, { count: 1 })

/** Leaves by this button: the focus is on the question, whose way back comes first. */
const leave = async (page: Page, keys: Keys, label: string, key: "Enter" | "Space" = "Enter") => {
  await keys.use(label, key)
  await movesTo(page, keys, "Are you sure?")
  await keys.reach("Back")
  await keys.use(label, key)
}

ofPages("A person with a keyboard", (it) => {
  it.effect("joins a queue, goes on to the shop at its turn, or gives it up", () =>
    Effect.gen(function* () {
      const { page, keys, sequence } = yield* visitor({ queues: [{ name: "Front door", admitRate: 0 }] })
      yield* Effect.promise(async () => {
        await keys.use("Join the queue")
        await movesTo(page, keys, "You are in line")
        await leave(page, keys, "Leave the line", "Space")
        await movesTo(page, keys, "You have left")
        await keys.use("Enter again")
        await movesTo(page, keys, "You are in line")
      })
      yield* admitNext(sequence.queues[0].id)
      yield* Effect.promise(async () => {
        await movesTo(page, keys, "It is your turn")
        await keys.use("Stay here")
        await keys.isOn("Continue to the shop")
        await keys.reach("Give up my place")
        await keys.reach("Continue to the shop", "Shift+Tab")
        await keys.press("Enter")
        await sees(page, "Checkout")
      })
    })
  )

  it.effect("keeps the focus when the page changes, and finds it on the heading when its control is gone", () =>
    Effect.gen(function* () {
      const { page, keys, sequence } = yield* visitor({ queues: [{ name: "Front door", admitRate: 0 }] })
      yield* Effect.promise(async () => {
        await keys.use("Join the queue")
        await movesTo(page, keys, "You are in line")
        await keys.reach("Keep my place on another device")
        await page.evaluate(`document.querySelector("#room > div").id = "old"`)
        await hide(page)
        await show(page)
        await page.locator("#old").waitFor({ state: "detached" })
        await keys.isOn("Keep my place on another device")
        await keys.reach("Leave the line")
      })
      yield* Fixture.brand("POST", `/distributions/${sequence.queues[0].id}/deny`, {
        consumerIds: [yield* Effect.promise(() => consumerIn(page))],
        reason: "ADMIN_ACTION"
      })
      yield* Effect.promise(() => movesTo(page, keys, "You were not admitted"))
    })
  )

  it.effect("enters a draw beside a queue, withdraws and enters again, and checks the draw that it won", () =>
    Effect.gen(function* () {
      const { page, keys } = yield* visitor({
        queues: [{ name: "Front door", admitRate: 0 }],
        draws: [{ name: "Raffle", winnerCount: 1, closeAt: at(60), drawAt: at(70) }]
      })
      yield* Effect.promise(async () => {
        await keys.use("Join the queue")
        await movesTo(page, keys, "You are in line")
        await keys.use("Enter the draw", "Space")
        await movesTo(page, keys, "You are entered")
        await keys.use("How it works")
        await sees(page, "Commitment")
        await leave(page, keys, "Withdraw")
        // The place in line comes first on the page, and the draw is the one that changed.
        await movesTo(page, keys, "Raffle")
        await keys.use("Enter the draw")
        await movesTo(page, keys, "You are entered")
      })
      yield* clock.putForward(71_000)
      yield* Effect.promise(async () => {
        while (!(await page.getByText("You have won").first().isVisible())) await page.reload()
        await keys.use("Proof of the draw")
        await sees(page, "The draw is valid")
      })
    })
  )

  it.effect("bids, is outbid, and bids more", () =>
    Effect.gen(function* () {
      const auctions = [{ name: "Lot", startPrice: "10.00", minBidIncrement: "1.00", settleAt: at(3600) }]
      const { page, keys, experienceId } = yield* visitor({ auctions })
      const bid = async (amount: string, from: string) => {
        await keys.fill("Your bid (USD)", amount)
        await keys.press("Enter")
        await sees(page, "Do you want to bid")
        await keys.isOn(from)
        await keys.use(`Yes, bid $${amount}.00`)
        await movesTo(page, keys, "You are among the winners so far")
      }
      yield* Effect.promise(() => bid("12", "Lot"))
      const rival = yield* Fixture.visitor(experienceId)
      yield* rival.submit(yield* rival.get("place"), "Place a bid", { amount: "14", confirmed: "1" })
      yield* Effect.promise(async () => {
        await movesTo(page, keys, "You have been outbid")
        await bid("20", "You have been outbid")
        await keys.fill("Your bid (USD)", "2")
        await keys.press("Enter")
        await sees(page, "Do you want to bid")
        await keys.use("Yes, bid $2.00")
        await movesTo(page, keys, "The bid is too low. The minimum is now $21.00.")
      })
    })
  )

  it.effect("takes a unit of a falling price", () =>
    Effect.gen(function* () {
      const falling = { startPrice: "100", floorPrice: "40", priceDropAmount: "15", priceDropIntervalSeconds: 600 }
      const times = { settleAt: at(7200), openAt: at(1) }
      const auctions = [{ name: "Lot", auctionType: "dutch", quantity: 2, ...times, ...falling }]
      const { page, keys } = yield* visitor({ auctions })
      yield* clock.putForward(2_000)
      yield* Effect.promise(async () => {
        await sees(page, "Buy for $100.00 or less")
        await keys.use("Buy for $100.00 or less", "Space")
        await movesTo(page, keys, "Lot")
        await keys.use("Yes, buy for $100.00 or less", "Space")
        await movesTo(page, keys, "You have won")
      })
    })
  )

  it.effect("chooses a size in a sale, changes it, and gives it up", () =>
    Effect.gen(function* () {
      const timedReleases = [{ name: "Sale", capacity: 5, closeAt: at(7200) }]
      const { page, keys } = yield* visitor({ timedReleases }, ["42", "43"])
      yield* Effect.promise(async () => {
        await keys.reach("Sneaker 42")
        await keys.press("ArrowDown")
        await keys.use("Get access")
        await movesTo(page, keys, "It is your turn")
        await sees(page, "Chosen: Sneaker 43")
        await keys.reach("Sneaker 43")
        await keys.press("ArrowUp")
        await keys.use("Change")
        await sees(page, "Chosen: Sneaker 42")
        await keys.isOn("It is your turn")
        await leave(page, keys, "Give up my place", "Space")
        await movesTo(page, keys, "You have left")
      })
    })
  )

  it.effect("books a slot, moves it and cancels it", () =>
    Effect.gen(function* () {
      const [slotsFrom, slotsUntil] = [`${at(86_400).slice(0, 10)}T00:00:00Z`, at(3 * 86_400)]
      const appointments = [
        { name: "Fitting", slotDurationMinutes: 240, timeZone: "UTC", hours: allDay, slotsFrom, slotsUntil }
      ]
      const { page, keys } = yield* visitor({ appointments })
      yield* Effect.promise(async () => {
        const times = await page.locator(".slots button").allTextContents()
        await keys.use(times[0]!)
        await movesTo(page, keys, "Your appointment is booked")
        const booked = page.locator("#room .lead")
        const first = (await booked.textContent())!
        await keys.use("Choose another slot")
        await movesTo(page, keys, "Free slots")
        await keys.use(times[1]!)
        await booked.filter({ hasNotText: first }).waitFor()
        await keys.isOn("Your appointment is booked")
        await leave(page, keys, "Cancel the booking", "Space")
        await movesTo(page, keys, "Your booking is cancelled")
      })
    })
  )

  it.effect("joins a waitlist with a mailed code, and leaves it", () =>
    Effect.gen(function* () {
      const { page, keys } = yield* visitor({ waitlist: { name: "Tell me", supportsGuest: false } })
      yield* Effect.promise(async () => {
        await keys.fill("Email address", "keys-list@example.com")
        await keys.press("Enter")
        await sees(page, "We have sent a code to keys-list@example.com.")
        await keys.isOn("Join the waitlist")
      })
      const code = yield* Fixture.mailedCode("keys-list@example.com")
      yield* Effect.promise(async () => {
        await keys.fill("Code", code)
        await keys.press("Enter")
        await movesTo(page, keys, "You are on the waitlist")
        await leave(page, keys, "Leave the waitlist")
        await movesTo(page, keys, "Tell me")
      })
    })
  )

  it.effect("signs in where guests are refused, also after a look at its mail, and sees its turn", () =>
    Effect.gen(function* () {
      const queues = [{ name: "Front door", admitRate: 0, supportsGuest: false }]
      const { page, keys, sequence } = yield* visitor({ queues })
      yield* Effect.promise(async () => {
        await keys.use("Sign in")
        await page.getByLabel("Email address").waitFor()
        await keys.isOn("Sign in")
        await keys.fill("Email address", "keys-queue@example.com")
        await keys.press("Enter")
        await sees(page, "We have sent a code to keys-queue@example.com.")
        await keys.isOn("Sign in")
        await keys.reach("Code")
        await hide(page)
        await show(page)
      })
      const code = yield* Fixture.mailedCode("keys-queue@example.com")
      yield* Effect.promise(async () => {
        await page.keyboard.type(code)
        await keys.press("Enter")
        await sees(page, "Sign out")
        await keys.isOn("Front door")
        await keys.use("Join the queue")
        await movesTo(page, keys, "You are in line")
      })
      yield* admitNext(sequence.queues[0].id)
      yield* Effect.promise(() => movesTo(page, keys, "It is your turn"))
    })
  )

  it.effect("signs in as staff, creates a queue, steers it, denies a consumer, and signs out", () =>
    Effect.gen(function* () {
      const { adminUrl, brand } = yield* Usher
      const { page } = yield* opened({ viewport: { width: 1280, height: 900 } })
      const keys = yield* Effect.promise(async () => {
        await page.goto(`${adminUrl}/dashboard/sign-in`)
        const keys = await keysOf(page)
        await keys.fill("Secret key", "wrong")
        await keys.press("Enter")
        await movesTo(page, keys, "This secret key is not valid.")
        await keys.fill("Secret key", brand.secretKey)
        await keys.press("Enter")
        await page.getByRole("link", { name: "New drop" }).first().waitFor()
        await keys.use("Skip to content")
        assert.strictEqual(await page.evaluate("document.activeElement.id"), "main")
        await keys.use("New drop")
        await sees(page, "How do people get their chance?")
        await keys.use("Queue")
        await keys.fill("Name", "Moon boots")
        await keys.reach("Opening")
        await keys.press("ArrowDown")
        await keys.use("Create the drop")
        await sees(page, "Pause admission")
        return keys
      })
      const experienceId = page.url().split("/").at(-1)!
      const { data } = yield* Fixture.brand("GET", `/distributions?experienceId=${experienceId}`)
      yield* clock.putForward(2_000)
      const consumerId = yield* entered(data[0].id)
      yield* Effect.promise(async () => {
        await keys.reach("History")
        // The figures are replaced every second.
        await page.evaluate(`document.activeElement.id = "old"`)
        await page.locator("#old").waitFor({ state: "detached" })
        await keys.isOn("History")
        await keys.use("Pause admission Pause…")
        await sees(page, "Nobody is admitted by the rate from now on.")
        await keys.reach("Reason")
        await keys.press("ArrowDown")
        await keys.use("Pause")
        await movesTo(page, keys, "Moon boots is paused.")
        await keys.use("Undo", "Space")
        await movesTo(page, keys, "Moon boots is resumed.")
        await keys.use("Audience")
        await sees(page, "Consumers, newest first")
        await keys.press("/")
        await page.locator("input[aria-label='Search everything']:focus").waitFor()
        await keys.use(`Guest ${consumerId.slice(-4).toUpperCase()}`)
        await sees(page, "Export all stored data")
        await keys.use("Deny the place in Moon boots")
        await sees(page, "1 consumer loses its place")
        await keys.isOn("1 consumer loses its place")
        await keys.reach("Reason")
        await keys.press("ArrowDown")
        await keys.use("Deny")
        await movesTo(page, keys, "The place in Moon boots was denied.")
        await sees(page, "DENIED")
        await keys.use("Sign out")
        await sees(page, "With the secret key")
      })
      const history = yield* Fixture.brand("GET", `/distributions/${data[0].id}/history?first=100`)
      assert.include(JSON.stringify(history), "BOT_DETECTED")
    })
  )
})

const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
const allDay = Object.fromEntries(days.map((day) => [day, [{ from: "00:00", to: "24:00" }]]))

/** A guest in this queue. */
const entered = Effect.fnUntraced(function* (queueId: string) {
  const { brand, consumer, guest } = yield* Usher
  const { accessToken, consumerId } = yield* guest()
  const headers = asConsumer(brand.publishableKey, accessToken)
  yield* consumer({ method: "POST", path: `/api/queues/${queueId}/enter`, headers })
  return consumerId
})
