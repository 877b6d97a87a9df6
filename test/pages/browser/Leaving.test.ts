/** The ways out of a place: apart from the way on, small, and confirmed, in a room and in the widget. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { at, leave, ofPages, press, sees, visiting } from "../support/browserFixture.ts"
import * as Fixture from "../support/roomFixture.ts"
import { embedded } from "../support/widgetFixture.ts"

/** The least distance between two buttons, in CSS pixels. */
const distanceMin = 12

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true })

/** Fails unless the way out is below all other buttons of its card, apart from them, and in smaller letters. */
const standsApart = async (page: Page, out: string, on: string): Promise<void> => {
  const letters = (name: string) =>
    button(page, name).evaluate((element) => {
      const { getComputedStyle } = globalThis as unknown as { getComputedStyle(of: unknown): { fontSize: string } }
      return Number.parseFloat(getComputedStyle(element).fontSize)
    })
  const card = page.locator("[data-kind]").filter({ has: button(page, out) })
  // At one instant, because the page may still move.
  const boxes = await card.getByRole("button").evaluateAll((buttons) =>
    buttons.map((each) => {
      const { top, bottom } = each.getBoundingClientRect()
      return { text: each.textContent?.trim(), top, bottom, isShown: each.getClientRects().length > 0 }
    })
  )
  const way = boxes.find(({ text }) => text === out)!
  for (const { text, bottom, isShown } of boxes) {
    if (isShown && text !== out) assert.isAtLeast(way.top - bottom, distanceMin, `${out} below ${text}`)
  }
  assert.isBelow(await letters(out), await letters(on))
}

ofPages("The way out of a place", (it) => {
  it.effect("stands apart from the way on at a turn, and asks first: in a room", () =>
    Effect.gen(function* () {
      const sale = { timedReleases: [{ name: "Sale", capacity: 5, closeAt: at(7_200) }] }
      for (const [sequence, enter] of [
        [{ queues: [{ name: "Front door", admitRate: 600 }] }, "Join the queue"],
        [sale, "Get access"]
      ] as const) {
        const { page } = yield* visiting(sequence)
        yield* Effect.promise(async () => {
          await press(page, enter)
          await press(page, "Stay here")
          await standsApart(page, "Give up my place", "Continue to the shop")
          await press(page, "Give up my place")
          await sees(page, "Your place goes to someone else, and you may not get another.")
          await page.getByRole("link", { name: "Back" }).click()
          await sees(page, "It is your turn")
          await leave(page, "Give up my place")
          await sees(page, "You have left")
        })
      }
    })
  )

  it.effect("is the last on its card while a visitor waits, and the question stays while the line moves", () =>
    Effect.gen(function* () {
      const { page, problems, sequence, experienceId } = yield* visiting({ queues: [{ name: "Line", admitRate: 0 }] })
      const rival = yield* Fixture.visitor(experienceId)
      yield* rival.submit(yield* rival.get("place"), "Join the queue")
      yield* Effect.promise(async () => {
        await press(page, "Join the queue")
        await sees(page, "You are in line")
        const last = page.locator("[data-kind=queue] button").last()
        assert.strictEqual(await last.textContent(), "Leave the line")
        await press(page, "Leave the line")
        await sees(page, "If you join again, you start at the end of the line.")
      })
      const moved = page.waitForResponse((answer) => answer.url().includes("/now"))
      yield* Fixture.asBrandServer("POST", `/queues/${sequence.queues[0].id}/admit`, { count: 1 })
      yield* Effect.promise(async () => {
        await moved
        assert.isTrue(await page.getByText("Are you sure?").first().isVisible())
        await press(page, "Leave the line")
        await sees(page, "You have left")
      })
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("stands apart from the way on at a turn, and asks first: in the widget", () =>
    Effect.gen(function* () {
      const { page, problems, url, queueId } = yield* embedded()
      yield* Effect.promise(async () => {
        await page.goto(url)
        await press(page, "Join the queue")
        await sees(page, "You are in line")
      })
      yield* Fixture.asBrandServer("POST", `/queues/${queueId}/admit`, { count: 1 })
      yield* Effect.promise(async () => {
        await sees(page, "It is your turn")
        await standsApart(page, "Give up my place", "Continue to the shop")
        await press(page, "Give up my place")
        await sees(page, "Are you sure?")
        await page.getByRole("link", { name: "Back" }).click()
        await sees(page, "It is your turn")
        await leave(page, "Give up my place")
        await sees(page, "You have left")
      })
      assert.deepStrictEqual(problems, [])
    })
  )
})
