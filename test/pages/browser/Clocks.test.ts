/** Devices whose clock is wrong, or is set while a page is open: what counts is the time of the server. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Page } from "playwright-core"
import { Usher } from "../../http/support/usherFixture.ts"
import { at, ofPages, opened, press, roomUrl, sees } from "../support/browserFixture.ts"
import * as Fixture from "../support/roomFixture.ts"

/** Makes the clock of the page's device differ by `window.deviceAhead` milliseconds. */
const device = (aheadMillis: number) => `
  window.deviceAhead = ${aheadMillis}
  const Real = Date
  globalThis.Date = class extends Real {
    constructor(...all) { if (all.length === 0) super(Real.now() + deviceAhead); else super(...all) }
    static now() { return Real.now() + deviceAhead }
  }`

const minutes = 60_000

const clocks: { readonly [name: string]: number } = {
  "is right": 0,
  "is 20 minutes fast": 20 * minutes,
  "is 20 minutes slow": -20 * minutes,
  "is two days fast": 2 * 24 * 60 * minutes,
  "is years slow": -5 * 365 * 24 * 60 * minutes
}

const countdown = (page: Page) => page.locator("time[data-until='']").first()
const counts = (page: Page) =>
  countdown(page)
    .filter({ hasText: /^09:[0-5]\d$/ })
    .waitFor()
const set = (page: Page, aheadMillis: number) => page.evaluate(`deviceAhead = ${aheadMillis}`)
/** Lets the page count on for two of its seconds. */
const counted = async (page: Page) => {
  const before = (await countdown(page).textContent())!
  await countdown(page).filter({ hasNotText: before }).waitFor()
}

/** A shop's page with the widget. */
const shopOf = Effect.fnUntraced(function* (experienceId: string) {
  const { consumerUrl, brand } = yield* Usher
  const server = createServer((_, response) =>
    response.setHeader("content-type", "text/html").end(`<!doctype html><html lang="en"><title>Shop</title>
      <script type="module" src="${consumerUrl}/embed/v1.js"></script>
      <usher-experience experience="${experienceId}" url="${consumerUrl}" key="${brand.publishableKey}"></usher-experience>`)
  )
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()))),
    () => Effect.sync(() => server.closeAllConnections()).pipe(Effect.andThen(Effect.sync(() => server.close())))
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})

ofPages("A page on a device", (it) => {
  for (const [name, aheadMillis] of Object.entries(clocks)) {
    it.effect(`whose clock ${name} counts down to an opening, and asks no more than else`, () =>
      Effect.gen(function* () {
        const { experienceId } = yield* Fixture.room({ queues: [{ name: "Q", admitRate: 0, openAt: at(595) }] })
        for (const url of [yield* roomUrl(experienceId), yield* shopOf(experienceId)]) {
          const { page, problems } = yield* opened()
          let requests = 0
          yield* Effect.promise(async () => {
            await page.addInitScript(device(aheadMillis))
            await page.goto(url)
            await counts(page)
            page.on("request", () => (requests += 1))
            for (let seconds = 0; seconds < 5; seconds++) await counted(page)
            await counts(page)
          })
          assert.isAtMost(requests, 2)
          assert.deepStrictEqual(problems, [])
        }
      })
    )

    it.effect(`whose clock ${name} counts down the time of a turn`, () =>
      Effect.gen(function* () {
        const queues = [{ name: "Q", admitRate: 6_000, admissionExpirationSeconds: 595 }]
        const { experienceId } = yield* Fixture.room({ queues })
        for (const url of [yield* roomUrl(experienceId), yield* shopOf(experienceId)]) {
          const { page } = yield* opened()
          yield* Effect.promise(async () => {
            await page.addInitScript(device(aheadMillis))
            await page.goto(url)
            await press(page, "Join the queue")
            await sees(page, "It is your turn")
            await counts(page)
          })
        }
      })
    )
  }

  it.effect("counts on when the clock is set meanwhile, forth and back", () =>
    Effect.gen(function* () {
      const { experienceId } = yield* Fixture.room({ queues: [{ name: "Q", admitRate: 0, openAt: at(595) }] })
      for (const url of [yield* roomUrl(experienceId), yield* shopOf(experienceId)]) {
        const { page } = yield* opened()
        yield* Effect.promise(async () => {
          await page.addInitScript(device(0))
          await page.goto(url)
          await counts(page)
          for (const aheadMillis of [60 * minutes, -60 * minutes, 9 * minutes, 0]) {
            await set(page, aheadMillis)
            await counted(page)
            await counts(page)
          }
        })
      }
    })
  )
})
