/** The control room of a drop in a browser: its acts with and without a script, the back button, and two people. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page, Request } from "playwright-core"
import { Usher } from "../../http/support/usherFixture.ts"
import { at, hide, ofPages, opened, press, sees, show, signedIn } from "../support/browserFixture.ts"
import * as Fixture from "../support/roomFixture.ts"

/** A drop with a queue that admits nobody by itself, and people who wait in it. */
const drop = Effect.fnUntraced(function* (waiting: number) {
  const { adminUrl } = yield* Usher
  const { experienceId, sequence } = yield* Fixture.room({ queues: [{ name: "Line", admitRate: 0 }] })
  for (let guests = 0; guests < waiting; guests++) {
    const guest = yield* Fixture.visitor(experienceId)
    yield* guest.submit(yield* guest.get("place"), "Join the queue")
  }
  return { id: sequence.queues[0].id as string, url: `${adminUrl}/dashboard/experiences/${experienceId}` }
})

/** A person at the control room. */
const atRoom = Effect.fnUntraced(function* (url: string, options: { readonly javaScriptEnabled?: boolean } = {}) {
  const window = yield* opened({ viewport: { width: 1_280, height: 900 }, ...options })
  yield* signedIn(window.page)
  yield* Effect.promise(() => window.page.goto(url))
  return window
})

const openForm = (page: Page, title: string) => page.locator("summary", { hasText: title }).click()

/** Fills in an act, whose form is open, and sends it. */
const send = async (page: Page, button: string, fields: { readonly [label: string]: string } = {}) => {
  const form = page.locator("details[open] form")
  await form.getByLabel("Reason").selectOption("HIGH_LOAD")
  for (const [label, value] of Object.entries(fields)) await form.getByLabel(label).fill(value)
  await form.getByRole("button", { name: button, exact: true }).click()
}

const act = async (page: Page, title: string, button: string, fields: { readonly [label: string]: string } = {}) => {
  await openForm(page, title)
  await send(page, button, fields)
}

/** The text of the card with the acts, once it has this. */
const offers = (page: Page, text: string) => page.locator(".steer").getByText(text, { exact: true }).waitFor()

ofPages("The control room of a drop", (it) => {
  for (const javaScriptEnabled of [true, false]) {
    it.effect(
      `steers ${javaScriptEnabled ? "with" : "without"} a script, and acts once on reloads and the way back`,
      () =>
        Effect.gen(function* () {
          const { id, url } = yield* drop(3)
          const { page, problems } = yield* atRoom(url, { javaScriptEnabled })
          const queue = Fixture.brand("GET", `/distributions/${id}`)
          yield* Effect.promise(async () => {
            await act(page, "Admit", javaScriptEnabled ? "Admit 2" : "Admit", { Consumers: "2" })
            await sees(page, "2 consumers were admitted.")
            await page.reload()
            await sees(page, "2 consumers were admitted.")
            await page.goBack()
            await offers(page, "Pause…")
            assert.strictEqual(page.url(), url)
            await page.goForward()
            await offers(page, "Pause…")
          })
          assert.deepInclude((yield* queue).live.counts, { QUEUED: 1, GRANTED: 2 })

          yield* Effect.promise(async () => {
            await act(page, "Pause", "Pause")
            await sees(page, "Line is paused.")
          })
          assert.isNotNull((yield* queue).pausedAt)
          yield* Effect.promise(async () => {
            await press(page, "Undo")
            await sees(page, "Line is resumed.")
            await act(page, "Rate", javaScriptEnabled ? "Set to 7/min" : "Set the rate", {
              "Admissions per minute": "7"
            })
            await sees(page, "The rate is 7 per minute.")
            // The address that the refusal of a form leaves is loaded again.
            await page.goto(`${url}/pause`)
            assert.strictEqual(page.url(), url)
            await act(page, "End…", "End", { "Type END to confirm": "end" })
            await sees(page, "Line has ended.")
            assert.strictEqual(await page.locator(".steer:not([hidden])").count(), 0)
          })
          assert.deepInclude(yield* queue, { admitRate: 7, pausedAt: null, statusOverride: "ended" })
          assert.deepStrictEqual(problems, [])
        })
    )
  }

  it.effect("leads to the sign-in when its session has ended, and says that nothing was changed", () =>
    Effect.gen(function* () {
      const { id, url } = yield* drop(0)
      const { page, context } = yield* atRoom(url, { javaScriptEnabled: false })
      yield* Effect.promise(async () => {
        await context.clearCookies()
        await act(page, "Pause", "Pause")
        await sees(page, "Your session has ended, so nothing was changed.")
      })
      assert.isNull((yield* Fixture.brand("GET", `/queues/${id}`)).pausedAt)
    })
  )

  it.effect("keeps the numbers of a step that cannot be undone right, while its form is open and closed", () =>
    Effect.gen(function* () {
      const { adminUrl } = yield* Usher
      const drawAt = at(3_600)
      const { experienceId } = yield* Fixture.room({ draws: [{ name: "Raffle", winnerCount: 2, drawAt }] })
      const enter = Effect.gen(function* () {
        const guest = yield* Fixture.visitor(experienceId)
        yield* guest.submit(yield* guest.get("place"), "Enter the draw")
      })
      yield* enter
      const { page } = yield* atRoom(`${adminUrl}/dashboard/experiences/${experienceId}`)
      const form = page.locator("details", { hasText: "Draw before the time" }).locator("form")
      const numbers = async (winners: number, entries: number) => {
        await form.getByText(`Draw ${winners} of ${entries}`, { exact: true }).waitFor({ state: "attached" })
        const people = entries === 1 ? "1 person is waiting now." : `${entries} people are waiting now.`
        assert.include(await form.textContent(), people)
        const end = page.locator("form", { hasText: "closes immediately and permanently" })
        await end.getByText(entries === 1 ? "1 person loses" : `${entries} people lose`).waitFor({ state: "attached" })
      }
      yield* Effect.promise(() => numbers(1, 1))
      yield* enter
      yield* Effect.promise(() => numbers(2, 2))
      yield* Effect.promise(() => openForm(page, "Draw before the time"))
      yield* enter
      yield* Effect.promise(() => numbers(2, 3))
    })
  )

  it.effect("shows each of two people the other's step within two seconds, and says which one became pointless", () =>
    Effect.gen(function* () {
      const { url } = yield* drop(1)
      const [first, second] = [(yield* atRoom(url)).page, (yield* atRoom(url)).page]
      yield* Effect.promise(async () => {
        const delays: Array<number> = []
        const steps = [
          [first, second, "Pause", "Pause", "Resume…"],
          [second, first, "Paused", "Resume at 0/min", "Pause…"]
        ] as const
        for (const [own, other, title, button, offered] of [...steps, ...steps]) {
          await act(own, title, button)
          await own.locator(".result").waitFor()
          const doneAt = Date.now()
          await offers(other, offered)
          delays.push(Date.now() - doneAt)
        }
        // A machine that is busy with other tests may be late once.
        assert.isBelow(Math.min(...delays), 2_000)
        await second.locator(".happened").getByText("The shop resumed Line at 0/min").first().waitFor()
        await second.locator(".happened").getByText("The shop paused Line").first().waitFor()

        await openForm(second, "Pause")
        await act(first, "Pause", "Pause")
        await sees(second, "Somebody has changed this meanwhile.")
        await send(second, "Pause")
        await sees(second, "Nothing was changed, because Line was paused already.")
        await offers(second, "Resume…")
      })
    })
  )

  it.effect("follows one stream while it is visible, and asks every second where there is none", () =>
    Effect.gen(function* () {
      const { id, url } = yield* drop(0)
      const { page } = yield* atRoom(url)
      const { page: polling } = yield* opened({ viewport: { width: 1_280, height: 900 } })
      yield* Effect.promise(async () => {
        await polling.addInitScript("delete window.EventSource")
      })
      yield* signedIn(polling)
      yield* Effect.promise(async () => {
        const stream = page.waitForResponse(/\/events$/)
        await page.goto(url)
        const answer = await stream
        assert.strictEqual(answer.headers()["content-type"], "text/event-stream")
        assert.include(answer.headers()["cache-control"], "no-store")
        await polling.goto(url)
        await polling.waitForResponse(/\/figures$/)
        await polling.waitForResponse(/\/figures$/)
      })
      yield* Fixture.brand("POST", `/queues/${id}/pause`)
      yield* Effect.promise(async () => {
        await offers(page, "Resume…")
        await offers(polling, "Resume…")
        const isStream = (request: Request) => request.url().endsWith("/events")
        const ended = Promise.race([
          page.waitForEvent("requestfailed", isStream),
          page.waitForEvent("requestfinished", isStream)
        ])
        await hide(page)
        await ended
      })
      yield* Fixture.brand("POST", `/queues/${id}/resume`)
      yield* Effect.promise(async () => {
        const another = page.waitForRequest(/\/events$/)
        await show(page)
        await another
        await offers(page, "Pause…")
      })
    })
  )
})
