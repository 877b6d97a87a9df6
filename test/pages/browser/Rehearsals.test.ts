/** A brand's new operator rehearses a live drop in the dashboard of a real server, and reads the report. */
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { organization, serving } from "../../cli/servingProcess.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"
import { line, minutesAfter, raffle } from "../../support/coatDrop.ts"
import * as Queue from "../../support/queueOnServer.ts"
import { findingsNow } from "../support/axe.ts"
import { inBrowser, opened, press, sees } from "../support/browserFixture.ts"
import { main, picture } from "../support/screens.ts"
import { hardToSee } from "../support/seeing.ts"

const drop = {
  name: "The coat",
  timeZone: "Europe/Berlin",
  currencyCode: "EUR",
  closeAt: minutesAfter(6 * 60),
  newProducts: [{ name: "Coat", variants: [{ sku: "coat", price: "120", inventoryQuantity: 40 }] }],
  sequences: [
    {
      name: "Everybody",
      queues: [line(30)],
      draws: [raffle(5)]
    }
  ]
}

/** A real server with a live drop, and a window in which its brand is signed in. */
const aWorld = Effect.gen(function* () {
  const { url } = yield* TestDatabase.migratedDatabase
  const settings = { DATABASE_URL: url }
  const server = yield* serving(settings)
  const keys = yield* organization(settings)
  const call = (key: string, method: string, path: string, body?: object) =>
    Effect.promise(() => Queue.send(method, `${server.adminUrl}/api${path}`, { authorization: `Bearer ${key}` }, body))
  const { id } = (yield* call(keys.secretKey, "POST", "/experiences", drop)).body
  const { page, problems, context } = yield* opened({ viewport: { width: 1_280, height: 900 } })
  yield* Effect.promise(async () => {
    await page.goto(`${server.adminUrl}/dashboard/sign-in`)
    await page.getByLabel("Secret key").fill(keys.secretKey)
    await press(page, "Sign in")
    await page.getByRole("link", { name: "New drop" }).first().waitFor()
  })
  return { id, page, context, problems, address: `${server.adminUrl}/dashboard/experiences/${id}`, keys, call }
})

inBrowser("A brand's new operator who rehearses a drop", Layer.empty, (it) => {
  it.effect("presses Rehearse, watches it, and reads the report without documentation", () =>
    Effect.gen(function* () {
      const { page, problems, address } = yield* aWorld
      yield* Effect.promise(async () => {
        await page.goto(`${address}/check`)
        await picture(page, "check")
        await page.getByRole("link", { name: "Rehearse", exact: true }).last().click()
        await page.getByLabel("How many people come").fill("200")
        await picture(page, "form")
        assert.deepStrictEqual(await findingsNow(page, "form"), [])
        await press(page, "Rehearse")
        await sees(page, "200 people rehearse this drop")
        await page.getByText("Its clock shows", { exact: false }).waitFor()
        await picture(page, "progress")
        assert.deepStrictEqual(await findingsNow(page, "progress"), [])
        // It turns into the report by itself.
        await sees(page, "By mechanism")
        await picture(page, "report")
        await sees(page, "The raffle")
        assert.deepStrictEqual(await findingsNow(page, "report"), [])
        const verdict = await page.locator(".verdict span").first().innerText()
        await page.locator(".report").getByRole("link", { name: "Webhooks" }).click()
        await page.getByRole("heading", { name: "Webhooks" }).first().waitFor()
        await page.goBack()
        await page.emulateMedia({ media: "print" })
        await picture(page, "print")
        await page.emulateMedia({ media: "screen", colorScheme: "dark" })
        await picture(page, "report-dark")
        assert.deepStrictEqual(await findingsNow(page, "report in dark"), [])
        await page.emulateMedia({ colorScheme: "light" })
        await page.setViewportSize({ width: 390, height: 844 })
        await picture(page, "report-phone")
        assert.deepStrictEqual(await hardToSee(page, "report on a phone", main), [])
        await page.getByRole("link", { name: "All rehearsals" }).click()
        await sees(page, "Rehearsals of this drop")
        await sees(page, verdict)
        await picture(page, "list-phone")
        assert.deepStrictEqual(await findingsNow(page, "list on a phone"), [])
        assert.deepStrictEqual(await hardToSee(page, "list on a phone", main), [])
        await page.setViewportSize({ width: 1_280, height: 900 })
        await picture(page, "list")
        await page.getByRole("row").last().getByRole("link").click()
        await page.getByRole("link", { name: "Open the page to print" }).click()
        await page.getByRole("heading", { name: "Rehearsal of The coat" }).waitFor()
        await picture(page, "page")
      })
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("is told in words what is in the way, goes on with a tick, and cancels", () =>
    Effect.gen(function* () {
      const { page, problems, address, keys, call } = yield* aWorld
      yield* call(keys.testSecretKey, "POST", "/experiences", { name: "An own test" })
      yield* Effect.promise(async () => {
        await page.goto(`${address}/rehearse`)
        await page.getByLabel("How many people come").fill("3000")
        await press(page, "Rehearse")
        await sees(page, "Test mode has drops of its own.")
        await picture(page, "refused")
        assert.deepStrictEqual(await findingsNow(page, "refused"), [])
        assert.strictEqual(await page.getByLabel("How many people come").inputValue(), "3000")
        await page.getByLabel("Archive them at the end of the rehearsal").check()
        await press(page, "Rehearse")
        await sees(page, "3,000 people rehearse this drop")
        await press(page, "Cancel the rehearsal")
        await sees(page, "This rehearsal broke off")
        await sees(page, "It was cancelled.")
        await picture(page, "cancelled")
      })
      assert.deepStrictEqual(problems, [])
    })
  )
})
