/** Journeys of visitors in a real browser, through all six kinds of mechanism, from the room to the shop. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import {
  at,
  clock,
  goneOn,
  hide,
  leave,
  ofPages,
  press,
  sees,
  Shop,
  show,
  visiting
} from "../support/browserFixture.ts"
import * as Fixture from "../support/roomFixture.ts"

/** How many consumers wait, as the queue's record says. */
const waitingIn = (queueId: string) =>
  Effect.map(Fixture.brand("GET", `/distributions/${queueId}`), ({ live }) => live.counts.QUEUED as number)

ofPages("A visitor in a browser", (it) => {
  it.effect("waits in a queue without reloading, is admitted, and brings the shop a valid grant", () =>
    Effect.gen(function* () {
      const { page, problems, sequence } = yield* visiting({ queues: [{ name: "Front door", admitRate: 0 }] })
      const [queue] = sequence.queues
      let loads = 0
      page.on("domcontentloaded", () => loads++)
      yield* Effect.promise(async () => {
        await press(page, "Join the queue")
        await sees(page, "You are in line")
      })
      yield* Fixture.asBrandServer("POST", `/queues/${queue.id}/admit`, { count: 1 })
      yield* Effect.promise(() => sees(page, "It is your turn"))
      assert.strictEqual(loads, 0)
      assert.isTrue(yield* Fixture.isValid(`/queues/${queue.id}`, yield* goneOn(page)))
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("goes on to the shop ten seconds after its turn, unless it stays", () =>
    Effect.gen(function* () {
      const { page, problems, sequence } = yield* visiting({ queues: [{ name: "Front door", admitRate: 600 }] })
      const { grants } = yield* Shop
      const before = grants.length
      yield* Effect.promise(async () => {
        await page.clock.install()
        await page.reload()
        await press(page, "Join the queue")
        await press(page, "Stay here")
        await page.clock.runFor(12_000)
        await leave(page, "Give up my place")
        await sees(page, "You have left")
        assert.strictEqual(grants.length, before)
        await press(page, "Enter again")
        await sees(page, "Continuing to the shop in")
        await page.clock.runFor(12_000)
        await sees(page, "Checkout")
      })
      assert.isTrue(yield* Fixture.isValid(`/queues/${sequence.queues[0].id}`, grants[before]!))
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("enters a draw, and is shown its win without an action", () =>
    Effect.gen(function* () {
      const draws = [{ name: "Raffle", winnerCount: 1, closeAt: at(60), drawAt: at(70) }]
      const { page, problems, sequence } = yield* visiting({ draws })
      yield* Effect.promise(async () => {
        await press(page, "Enter the draw")
        await sees(page, "You are entered")
      })
      yield* clock.putForward(71_000)
      yield* Effect.promise(() => sees(page, "You have won"))
      assert.isTrue(yield* Fixture.isValid(`/draws/${sequence.draws[0].id}`, yield* goneOn(page)))
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("confirms a bid, sees that it is outbid, bids more and wins", () =>
    Effect.gen(function* () {
      const auctions = [{ name: "Lot", startPrice: "10.00", minBidIncrement: "1.00", settleAt: at(3600) }]
      const { page, problems, sequence, experienceId } = yield* visiting({ auctions })
      const bid = async (amount: string, shown: string) => {
        await page.getByRole("textbox", { name: "Your bid" }).fill(amount)
        await press(page, "Place a bid")
        await press(page, `Yes, bid ${shown}`)
        await sees(page, "You are among the winners so far")
      }
      yield* Effect.promise(() => bid("12", "$12.00"))
      const rival = yield* Fixture.visitor(experienceId)
      yield* rival.submit(yield* rival.get("place"), "Place a bid", { amount: "14", confirmed: "1" })
      yield* Effect.promise(async () => {
        await sees(page, "You have been outbid")
        await bid("20", "$20.00")
      })
      yield* clock.putForward(3_601_000)
      yield* Effect.promise(() => sees(page, "You have won"))
      assert.isTrue(yield* Fixture.isValid(`/auctions/${sequence.auctions[0].id}`, yield* goneOn(page)))
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("chooses a size in a sale", () =>
    Effect.gen(function* () {
      const timedReleases = [{ name: "Sale", capacity: 1, closeAt: at(7200) }]
      const { page, problems, sequence } = yield* visiting({ timedReleases }, ["42", "43"])
      yield* Effect.promise(async () => {
        await page.clock.install()
        await page.reload()
        assert.strictEqual(await page.getByRole("radio", { checked: true }).count(), 0)
        await press(page, "Get access")
        assert.isTrue(await page.getByRole("group", { name: "Choose" }).isVisible(), "a choice is needed")
        await page.getByLabel("Sneaker 42").check()
        // What is chosen stays chosen when the page is renewed.
        await page.evaluate(`document.querySelector("#room > div").id = "old"`)
        await hide(page)
        await show(page)
        await page.locator("#old").waitFor({ state: "detached" })
        assert.isTrue(await page.getByLabel("Sneaker 42").isChecked())
        await page.getByLabel("Sneaker 43").click()
        await press(page, "Get access")
        await sees(page, "Chosen: Sneaker 43")
        // The choice is still open, so the page waits for its visitor.
        await page.clock.runFor(15_000)
        assert.isTrue(await page.getByRole("group", { name: "Choose" }).isVisible())
        assert.isFalse(await page.getByText("Continuing to the shop").isVisible())
      })
      assert.isTrue(yield* Fixture.isValid(`/timed-releases/${sequence.timedReleases[0].id}`, yield* goneOn(page)))
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("books a slot, moves it and cancels it", () =>
    Effect.gen(function* () {
      const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
      const hours = Object.fromEntries(days.map((day) => [day, [{ from: "00:00", to: "24:00" }]]))
      // The room shows one day at a time, and today may have no slot left.
      const [slotsFrom, slotsUntil] = [`${at(86_400).slice(0, 10)}T00:00:00Z`, at(5 * 86_400)]
      const appointments = [
        { name: "Fitting", slotDurationMinutes: 240, timeZone: "UTC", hours, slotsFrom, slotsUntil }
      ]
      const { page, problems } = yield* visiting({ appointments })
      const parts: Array<string> = []
      yield* Effect.promise(async () => {
        // The first slot may begin during the test, and then its booking cannot be moved.
        await page.locator(".slots button").nth(1).click()
        await sees(page, "Your appointment is booked")
        const booked = page.locator("#room .lead")
        const first = (await booked.textContent())!
        page.on("request", (request) => {
          if (request.headers()["accept"]?.includes("part=room")) parts.push(request.url())
        })
        await page.getByRole("link", { name: "Choose another slot" }).click()
        await page.locator(".slots button").nth(2).click()
        await booked.filter({ hasNotText: first }).waitFor()
        await leave(page, "Cancel the booking")
        await sees(page, "Your booking is cancelled")
      })
      // The stream tells of the move, too. It must not bring the slots back.
      assert.isFalse(parts.some((url) => url.includes("show=reschedule")))
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("joins a waitlist with a mailed code", () =>
    Effect.gen(function* () {
      const { page, problems } = yield* visiting({ waitlist: { name: "Tell me", supportsGuest: false } })
      yield* Effect.promise(async () => {
        await page.getByLabel("Email address").fill("grace@example.com")
        await press(page, "Join the waitlist")
        await sees(page, "We have sent a code to grace@example.com.")
      })
      const code = yield* Fixture.mailedCode("grace@example.com")
      yield* Effect.promise(async () => {
        await page.getByLabel("Code").fill(code)
        await press(page, "Sign in")
        await sees(page, "You are on the waitlist")
      })
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("takes a unit of a falling price", () =>
    Effect.gen(function* () {
      const falling = { startPrice: "100", floorPrice: "40", priceDropAmount: "15", priceDropIntervalSeconds: 600 }
      const auctions = [
        { name: "Lot", auctionType: "dutch", quantity: 2, settleAt: at(7200), openAt: at(1), ...falling }
      ]
      const { page, problems, sequence } = yield* visiting({ auctions })
      yield* clock.putForward(2_000)
      yield* Effect.promise(async () => {
        await page.clock.install()
        await page.reload()
        await sees(page, "$100.00")
      })
      yield* clock.putForward(600_000)
      yield* Effect.promise(async () => {
        await page.reload()
        await sees(page, "The price drops by $15.00 every 10 minutes.")
        await press(page, "Buy for $85.00 or less")
        await sees(page, "Do you want to buy Sneaker for $85.00 or less?")
      })
      // The price falls while the visitor decides, and the question stays.
      yield* clock.putForward(600_000)
      yield* Effect.promise(async () => {
        await page.clock.runFor(10_000)
        await press(page, "Yes, buy for $85.00 or less")
        await sees(page, "Sneaker for $70.00")
        // There is something to read, so the page waits for its visitor.
        await page.clock.runFor(15_000)
        assert.isTrue(await page.getByRole("heading", { name: "You have won" }).isVisible())
        assert.isFalse(await page.getByText("Continuing to the shop").isVisible())
      })
      assert.isTrue(yield* Fixture.isValid(`/auctions/${sequence.auctions[0].id}`, yield* goneOn(page)))
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("signs in with a code by SMS, and keeps its place", () =>
    Effect.gen(function* () {
      const { page, problems } = yield* visiting({ queues: [{ name: "Front door", admitRate: 0 }] })
      yield* Effect.promise(async () => {
        await press(page, "Join the queue")
        await sees(page, "You are in line")
        await page.getByRole("link", { name: "Keep my place on another device" }).click()
        await page.getByRole("link", { name: "Use a phone number" }).click()
        await page.getByLabel("Phone number").fill("12")
        await press(page, "Send a code")
        await sees(page, "Please enter a valid phone number")
        await page.getByLabel("Phone number").fill("+49 1511 2345678")
        await press(page, "Send a code")
        await sees(page, "We have sent a code to +49 1511 2345678.")
      })
      const code = yield* Fixture.mailedCode("+4915112345678")
      yield* Effect.promise(async () => {
        await page.getByLabel("Code").fill(code)
        await press(page, "Sign in")
        await sees(page, "Sign out")
        await sees(page, "You are in line")
      })
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("has one place and one stream in two windows, and both learn of the turn", () =>
    Effect.gen(function* () {
      const { context, page, sequence } = yield* visiting({ queues: [{ name: "Front door", admitRate: 0 }] })
      const [queue] = sequence.queues
      let streams = 0
      context.on("request", (request) => void (streams += request.url().includes("/live?") ? 1 : 0))
      const other = yield* Effect.promise(async () => {
        await press(page, "Join the queue")
        await sees(page, "You are in line")
        const other = await context.newPage()
        await other.goto(page.url())
        await sees(other, "You are in line")
        return other
      })
      yield* Fixture.asBrandServer("POST", `/queues/${queue.id}/admit`, { count: 1 })
      yield* Effect.promise(() => Promise.all([page, other].map((one) => sees(one, "It is your turn"))))
      assert.strictEqual(streams, 1)
      assert.strictEqual(yield* waitingIn(queue.id), 0)
    })
  )

  it.effect("has one place although the answer to its first entry was lost", () =>
    Effect.gen(function* () {
      const { page, sequence } = yield* visiting({ queues: [{ name: "Front door", admitRate: 0 }] })
      let lost = 0
      yield* Effect.promise(async () => {
        await page.route(
          /\/enter\b/,
          async (route) => {
            await route.fetch({ headers: { ...route.request().headers(), cookie: "" } })
            lost++
            // The browser does not get the cookie either.
            await page.context().clearCookies()
            await route.abort()
          },
          { times: 1 }
        )
        await press(page, "Join the queue")
        await sees(page, "You are in line")
      })
      assert.strictEqual(lost, 1)
      assert.strictEqual(yield* waitingIn(sequence.queues[0].id), 1)
    })
  )
})
