/** How an open room learns of what staff and other visitors change. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { at, clock, hide, ofPages, opened, press, roomUrl, sees, show } from "../support/browserFixture.ts"
import * as Fixture from "../support/roomFixture.ts"

/** Longer than public facts are reused. */
const laterMillis = 3_000

/** Between two looks of a page at what everybody sees. */
const lookMillis = 21_000

/** Opens the address, with a clock that the test moves. The browser's cache does not: a route turns it off. */
const visit = async (page: Page, url: string) => {
  await page.clock.install()
  await page.route(/\/now/, (route) => route.continue())
  await page.goto(url)
}

/** A window at the room of a new experience, whose clock the test moves, and the times that it was loaded again. */
const visiting = Effect.fnUntraced(function* (sequence: object) {
  const room = yield* Fixture.room(sequence)
  const { page } = yield* opened()
  const url = yield* roomUrl(room.experienceId)
  const reloads = { count: 0 }
  yield* Effect.promise(async () => {
    await visit(page, url)
    page.on("domcontentloaded", () => reloads.count++)
  })
  return { ...room, page, reloads }
})

/** Lets the page look at what everybody sees, after public facts have changed. */
const looks = (page: Page) =>
  Effect.andThen(
    clock.putForward(laterMillis),
    Effect.promise(() => page.clock.fastForward(lookMillis))
  )

const queues = [{ name: "Front door", admitRate: 0 }]

/** Counts in the page, as `asked`, the requests for the part that all visitors share. */
const countRequests = `
  window.asked = 0
  const send = window.fetch
  window.fetch = (url, init) => {
    if (String(url).includes("/now")) window.asked++
    return send(url, init)
  }`

/** Keeps in the page, as `requests`, what it asked for and when, in milliseconds. Each chance is even. */
const recordRequests = `
  Math.random = () => 0.5
  window.requests = []
  const fetchOnce = window.fetch
  window.fetch = (url, init) => {
    const request = { name: new URL(url, location).pathname.split("/").pop(), from: Date.now() }
    requests.push(request)
    return fetchOnce(url, init).finally(() => (request.until = Date.now()))
  }`

interface Request {
  readonly name: string
  readonly from: number
  readonly until?: number
}

/** Lets time pass in the page, which stands still else, until it has asked for these so often. */
const requested = async (page: Page, names: ReadonlyArray<string>, count: number): Promise<ReadonlyArray<Request>> => {
  for (;;) {
    const all = await page.evaluate<ReadonlyArray<Request>>("requests")
    const some = all.filter(({ name }) => names.includes(name))
    if (some.length >= count) return some
    await page.clock.runFor(4_000)
  }
}

/** Seconds between the end of each request and the next one. */
const pausesOf = (requests: ReadonlyArray<Request>) =>
  requests.slice(1).map(({ from }, index) => (from - requests[index]!.until!) / 1_000)

ofPages("An open room", (it) => {
  it.effect("gives up silent streams, asks for its state meanwhile, and repeats what is not answered", () =>
    Effect.gen(function* () {
      const { experienceId } = yield* Fixture.room({ queues })
      const { page } = yield* opened()
      const url = yield* roomUrl(experienceId)
      const interrupted = page.getByText("The connection was lost.")
      yield* Effect.promise(async () => {
        await page.clock.install()
        await page.addInitScript(recordRequests)
        // The streams stay silent.
        await page.route(/\/live\?/, () => {})
        await page.goto(url)
        await press(page, "Join the queue")
        await sees(page, "You are in line")
        await page.clock.pauseAt((await page.evaluate<number>("Date.now()")) + 1_000)
        const following = await requested(page, ["live", "state"], 5)
        assert.strictEqual(following.map(({ name }) => name).join(), "live,live,live,state,live")
        for (const { from, until } of following.slice(0, 3)) assert.closeTo(until! - from, 40_000, 500)
        assert.deepStrictEqual(pausesOf(following).slice(0, 3), [1, 2, 4])
        await interrupted.waitFor({ state: "hidden" })

        await press(page, "Leave the line")
        await sees(page, "Are you sure?")
        let refusals = 0
        await page.route(/\/leave/, (route) => {
          refusals++
          if (refusals === 1) return route.fulfill({ status: 503, headers: { "retry-after": "30" } })
          return refusals <= 4 ? route.abort() : route.continue()
        })
        await press(page, "Leave the line")
        await interrupted.waitFor()
        await sees(page, "Are you sure?")
        // The first one has asked.
        const confirmations = (await requested(page, ["leave"], 6)).slice(1)
        assert.deepStrictEqual(pausesOf(confirmations), [37.5, 2, 4, 8])
        await sees(page, "You have left")
        await interrupted.waitFor({ state: "hidden" })
      })
    })
  )

  it.effect("shows a changed rate and a pause to those who wait, and to those who do not", () =>
    Effect.gen(function* () {
      const { page, reloads, experienceId, sequence } = yield* visiting({ queues })
      const path = `/queues/${sequence.queues[0].id}`
      const { page: outside } = yield* opened()
      const url = yield* roomUrl(experienceId)
      const rate = (text: string) => Effect.promise(() => sees(page, text))
      const wait = page.locator("[data-range]")
      const first = yield* Fixture.visitor(experienceId)
      yield* first.submit(yield* first.get("place"), "Join the queue")
      yield* Effect.promise(async () => {
        await visit(outside, url)
        await press(page, "Join the queue")
        await sees(page, "You are in line")
        await sees(page, "People are admitted in order of arrival.")
        assert.isFalse(await wait.isVisible())
      })
      // The rate admits the first at once, and the next a minute later.
      yield* Fixture.brand("PUT", path, { admitRate: 1 })
      yield* Effect.promise(() => wait.waitFor())
      yield* looks(page)
      yield* rate("1 person is admitted per minute, in order of arrival.")
      yield* Fixture.brand("POST", `${path}/pause`, { reason: "TECHNICAL_PROBLEM" })
      yield* Effect.promise(() => wait.waitFor({ state: "hidden" }))
      yield* looks(page)
      yield* rate("Admission is paused at the moment.")
      yield* looks(outside)
      yield* Effect.promise(() => sees(outside, "Admission is paused at the moment."))
      yield* Fixture.brand("POST", `${path}/resume`, { reason: "TECHNICAL_PROBLEM" })
      yield* Effect.promise(() => wait.waitFor())
      assert.strictEqual(reloads.count, 0)
    })
  )

  it.effect("shows the closing that a late bid has moved", () =>
    Effect.gen(function* () {
      const times = { closeAt: at(600), settleAt: at(600), autoExtendSeconds: 7_200 }
      const auctions = [{ name: "Lot", startPrice: "10.00", minBidIncrement: "1.00", ...times }]
      const { experienceId, page, reloads } = yield* visiting({ auctions })
      const closing = page.locator("[data-fact=closes]")
      const before = (yield* Effect.promise(() => closing.textContent()))!
      const bidder = yield* Fixture.visitor(experienceId)
      yield* bidder.submit(yield* bidder.get("place"), "Place a bid", { amount: "12", confirmed: "1" })
      yield* looks(page)
      yield* Effect.promise(() => closing.filter({ hasNotText: before }).waitFor())
      assert.strictEqual(reloads.count, 0)
    })
  )

  it.effect("asks for its part within two seconds after an opening, at a moment of its own", () =>
    Effect.gen(function* () {
      for (const [chance, notBeforeMillis] of [
        [0, 1_000],
        [0.999, 3_000]
      ] as const) {
        const openAt = at(60)
        const { experienceId } = yield* Fixture.room({ queues: [{ ...queues[0], openAt }] })
        const { page } = yield* opened()
        const url = yield* roomUrl(experienceId)
        const asked = Effect.promise(() => page.evaluate<number>("window.asked"))
        yield* Effect.promise(async () => {
          await page.clock.install({ time: clock.now() })
          await page.addInitScript(`Math.random = () => ${chance}`)
          await page.addInitScript(countRequests)
          // A routed request does not come from the browser's cache, which counts real time.
          await page.route(/\/now/, (route) => route.continue())
          await page.goto(url)
        })
        yield* clock.putForward(45_000)
        const left = yield* Effect.promise(async () => {
          await page.clock.pauseAt(Date.parse(openAt) - 10_000)
          // The page has looked once more, because so much time has passed for it.
          await page.waitForLoadState("networkidle")
          await page.clock.runFor(1_000)
          const shown = await page.locator("time[data-until]").first().textContent()
          return Number(shown!.slice(-2)) * 1_000
        })
        const before = yield* asked
        // The seconds that are shown are rounded up.
        yield* Effect.promise(() => page.clock.runFor(left - 1_000 + notBeforeMillis))
        assert.strictEqual(yield* asked, before)
        yield* clock.putForward(64_000)
        yield* Effect.promise(async () => {
          await page.clock.runFor(3_000)
          await sees(page, "Join the queue")
        })
      }
    })
  )

  it.effect("says in words when a turn is near, where it shows no position", () =>
    Effect.gen(function* () {
      const rate = { admitRate: 1, loyaltyBiasEnabled: true }
      const { page, reloads, experienceId, sequence } = yield* visiting({ queues: [{ ...queues[0], ...rate }] })
      for (let ahead = 0; ahead < 8; ahead++) {
        const rival = yield* Fixture.visitor(experienceId)
        yield* rival.submit(yield* rival.get("place"), "Join the queue")
      }
      yield* Effect.promise(async () => {
        await press(page, "Join the queue")
        await sees(page, "It will take a while.")
        assert.strictEqual(await page.locator("[data-text=position]").count(), 0)
      })
      yield* Fixture.asBrandServer("POST", `/queues/${sequence.queues[0].id}/admit`, { count: 5 })
      yield* Effect.promise(() => sees(page, "It will be your turn soon."))
      assert.strictEqual(reloads.count, 0)
    })
  )

  it.effect("shows that a release is sold out, and the button again when a unit is given back", () =>
    Effect.gen(function* () {
      const timedReleases = [{ name: "Sale", capacity: 1, closeAt: at(7_200) }]
      const { page, reloads, experienceId } = yield* visiting({ timedReleases })
      const button = page.getByRole("button", { name: "Get access" })
      const rival = yield* Fixture.visitor(experienceId)
      const turn = yield* rival.submit(yield* rival.get("place"), "Get access")
      yield* looks(page)
      yield* Effect.promise(async () => {
        await sees(page, "Sold out")
        assert.strictEqual(await button.count(), 0)
      })
      yield* rival.submit(yield* rival.submit(turn, "Give up my place"), "Give up my place")
      yield* looks(page)
      yield* Effect.promise(() => button.waitFor())
      assert.strictEqual(reloads.count, 0)
    })
  )

  it.effect("asks for its state and opens another stream when it is shown again, and has no stream while hidden", () =>
    Effect.gen(function* () {
      const { page, reloads, experienceId, sequence } = yield* visiting({ queues })
      const streams = { opened: 0, closed: 0 }
      page.on("request", (request) => void (streams.opened += request.url().includes("/live?") ? 1 : 0))
      page.on("requestfailed", (request) => void (streams.closed += request.url().includes("/live?") ? 1 : 0))
      const rival = yield* Fixture.visitor(experienceId)
      yield* rival.submit(yield* rival.get("place"), "Join the queue")
      const place = (is: number) =>
        page
          .locator("[data-text=position]")
          .filter({ hasText: `${is}` })
          .waitFor()
      yield* Effect.promise(async () => {
        const stream = page.waitForRequest(/\/live\?/)
        await press(page, "Join the queue")
        await place(2)
        await stream
        const closed = page.waitForEvent("requestfailed", (request) => request.url().includes("/live?"))
        await hide(page)
        await closed
        assert.deepStrictEqual(streams, { opened: 1, closed: 1 })
      })
      yield* Fixture.asBrandServer("POST", `/queues/${sequence.queues[0].id}/admit`, { count: 1 })
      yield* Effect.promise(async () => {
        const stream = page.waitForRequest(/\/live\?/)
        await show(page)
        await place(1)
        await stream
        // A frozen page comes back with a stream that only looks alive.
        const another = page.waitForRequest(/\/live\?/)
        await page.evaluate(`dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))`)
        await another
        assert.strictEqual(streams.opened, 3)
      })
      assert.strictEqual(reloads.count, 0)
    })
  )
})
