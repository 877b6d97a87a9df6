/** The notification of the browser at the visitor's turn. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { type Language, languages, wordsIn } from "../../../src/pages/Words.ts"
import { hide, leave, ofPages, opened, press, roomUrl, sees, show } from "../support/browserFixture.ts"
import * as Fixture from "../support/roomFixture.ts"

/**
 * Stands for the notifications of a browser, which headless ones do not show: a visitor that is asked for the permission
 * gives this answer. What is shown is kept in `window.shown`.
 */
const notifications = (permission: "default" | "denied", answer: "granted" | "denied") => `
  window.shown = []
  window.Notification = class {
    static permission = sessionStorage.getItem("permission") ?? "${permission}"
    static async requestPermission() {
      this.permission = "${answer}"
      sessionStorage.setItem("permission", "${answer}")
      return this.permission
    }
    constructor(title, { body } = {}) {
      this.addEventListener = () => {}
      if (Notification.permission === "granted") shown.push([title, body])
    }
  }
`

const button = (page: Page, language: Language = "en") =>
  page.getByRole("button", { name: wordsIn(language).notifyMe, exact: true })

const waiting = Effect.fnUntraced(function* (script: string) {
  const { experienceId, sequence } = yield* Fixture.room({ queues: [{ name: "Front door", admitRate: 0 }] })
  const { page, problems } = yield* opened()
  const url = yield* roomUrl(experienceId)
  yield* Effect.promise(async () => {
    await page.addInitScript(script)
    await page.goto(url)
    await press(page, "Join the queue")
    await sees(page, "You are in line")
  })
  return { page, problems, url, queueId: sequence.queues[0].id as string }
})

ofPages("A visitor in line", (it) => {
  it.effect("is notified of its turn in a hidden window, once, if it has asked for that", () =>
    Effect.gen(function* () {
      const { page, problems, queueId } = yield* waiting(notifications("default", "granted"))
      const shown = () => page.evaluate<ReadonlyArray<unknown>>("shown")
      yield* Effect.promise(async () => {
        await button(page).click()
        await sees(page, wordsIn("en").notified)
        assert.strictEqual(await button(page).count(), 0)
        // The wish outlives a reload, and the window still follows its place when it is hidden.
        await page.reload()
        await sees(page, wordsIn("en").notified)
        await hide(page)
        assert.deepStrictEqual(await shown(), [])
      })
      yield* Fixture.asBrandServer("POST", `/queues/${queueId}/admit`, { count: 1 })
      yield* Effect.promise(async () => {
        await page.getByRole("heading", { name: "It is your turn" }).waitFor()
        assert.lengthOf(await shown(), 1)
        await show(page)
        await leave(page, "Give up my place")
        await sees(page, "You have left")
        assert.deepStrictEqual(await shown(), [["It is your turn", "Spring drop"]])
      })
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("is asked in every language, and sees no button once it has refused", () =>
    Effect.gen(function* () {
      const { page, url } = yield* waiting(notifications("default", "denied"))
      yield* Effect.promise(async () => {
        for (const language of Object.keys(languages) as ReadonlyArray<Language>) {
          await page.goto(`${url}/place?lang=${language}`)
          await button(page, language).waitFor()
        }
        await button(page, "he").click()
        await button(page, "he").waitFor({ state: "hidden" })
        await page.goto(`${url}/place`)
        await sees(page, "You are in line")
        assert.isFalse(await button(page).isVisible())
      })
    })
  )

  for (const [state, script] of [
    ["without notifications", "delete window.Notification"],
    ["that has denied them", notifications("denied", "denied")],
    [
      "that refuses to make one",
      "window.Notification = class { static permission = 'default'; constructor() { throw new TypeError() } }"
    ]
  ] as const) {
    it.effect(`sees no button in a browser ${state}`, () =>
      Effect.gen(function* () {
        const { page, problems } = yield* waiting(script)
        assert.isFalse(yield* Effect.promise(() => button(page).isVisible()))
        assert.deepStrictEqual(problems, [])
      })
    )
  }
})
