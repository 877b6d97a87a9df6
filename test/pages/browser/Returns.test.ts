/** Back from the shop: a grant goes there once, however the visitor comes back. And codes as they are pasted. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { Usher } from "../../http/support/usherFixture.ts"
import { ofPages, opened, press, roomUrl, sees, Shop, visiting } from "../support/browserFixture.ts"
import * as Fixture from "../support/roomFixture.ts"

const turning = { queues: [{ name: "Front door", admitRate: 6_000 }] }

/** How visitors come back to the room. */
const returns: { readonly [name: string]: (page: Page, url: string) => Promise<unknown> } = {
  "by going back": (page) => page.goBack(),
  "by going back, and a reload": async (page) => {
    await page.goBack()
    await page.reload()
  },
  "by going back and forth": async (page) => {
    await page.goBack()
    await page.goForward()
    await page.goBack()
  },
  "by a link to the room": (page, url) => page.goto(url),
  "by a link to the place": (page, url) => page.goto(url.replace("?", "/place?"))
}

ofPages("A visitor who comes back from the shop", (it) => {
  for (const [name, comesBack] of Object.entries(returns)) {
    for (const isAutomatic of [false, true]) {
      it.effect(`${name} stays, after it went ${isAutomatic ? "automatically" : "by the button"}`, () =>
        Effect.gen(function* () {
          const { grants } = yield* Shop
          const { page, problems } = yield* visiting(turning)
          const url = page.url()
          const before = grants.length
          yield* Effect.promise(async () => {
            await page.clock.install()
            await page.goto(url)
            await press(page, "Join the queue")
            await sees(page, "It is your turn")
            if (isAutomatic) {
              await sees(page, "Continuing to the shop in 10 seconds.")
              await page.clock.runFor(11_000)
            } else await press(page, "Continue to the shop")
            await sees(page, "Checkout")
            await comesBack(page, url)
            await sees(page, "It is your turn")
            await page.clock.runFor(30_000)
            await sees(page, "It is your turn")
            assert.strictEqual(await page.getByText("Continuing to the shop").filter({ visible: true }).count(), 0)
          })
          assert.strictEqual(grants.length - before, 1)
          assert.deepStrictEqual(problems, [])
        })
      )
    }
  }

  it.effect("does not go there automatically where the browser cannot remember it", () =>
    Effect.gen(function* () {
      const { grants } = yield* Shop
      const { page } = yield* visiting(turning)
      const url = page.url()
      const before = grants.length
      yield* Effect.promise(async () => {
        await page.clock.install()
        await page.addInitScript(`Object.defineProperty(window, "sessionStorage", { get() { throw new Error() } })`)
        await page.goto(url)
        await press(page, "Join the queue")
        await sees(page, "It is your turn")
        await page.clock.runFor(30_000)
        await press(page, "Continue to the shop")
        await sees(page, "Checkout")
      })
      assert.strictEqual(grants.length - before, 1)
    })
  )
})

const inDigitsFrom = (zero: number) => (code: string) =>
  code.replaceAll(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)))

/** Codes as visitors paste and type them. */
const spellings: { readonly [name: string]: (code: string) => string } = {
  "a blank before": (code) => ` ${code}`,
  "a blank after": (code) => `${code} `,
  "blanks between": (code) => [...code].join(" "),
  "a wide blank, and a mark of direction": (code) => `\u200f${code.slice(0, 3)}\u3000${code.slice(3)}`,
  "Arabic digits": inDigitsFrom(0x660),
  "Persian digits": inDigitsFrom(0x6f0),
  "Devanagari digits": inDigitsFrom(0x966),
  "wide digits": inDigitsFrom(0xff10)
}

ofPages("A code is taken", (it) => {
  for (const [name, spell] of Object.entries(spellings)) {
    for (const javaScriptEnabled of [true, false]) {
      it.effect(`with ${name}, ${javaScriptEnabled ? "with" : "without"} a script`, () =>
        Effect.gen(function* () {
          const { experienceId } = yield* Fixture.room({ queues: [{ name: "Q", admitRate: 0 }] })
          const { page } = yield* opened({ javaScriptEnabled })
          const email = `paste-${crypto.randomUUID()}@example.com`
          const url = yield* roomUrl(experienceId, "/place?show=sign-in")
          yield* Effect.promise(async () => {
            await page.goto(url)
            await page.getByLabel("Email address").fill(email)
            await press(page, "Send a code")
            await page.getByLabel("Code").waitFor()
          })
          const code = yield* Fixture.mailedCode(email)
          yield* Effect.promise(async () => {
            await page.getByLabel("Code").focus()
            await page.keyboard.insertText(spell(code))
            await press(page, "Sign in")
            await sees(page, "Sign out")
          })
        })
      )
    }
  }

  it.effect("by the dashboard in the same spellings, and five digits are none", () =>
    Effect.gen(function* () {
      const { adminUrl } = yield* Usher
      for (const [index, spell] of Object.values(spellings).entries()) {
        const email = `paste-${index}@example.com`
        yield* Fixture.brand("POST", "/people", { email, role: "admin" })
        const { page } = yield* opened()
        yield* Effect.promise(async () => {
          await page.goto(`${adminUrl}/dashboard/sign-in`)
          await page.getByLabel("Email").fill(email)
          await press(page, "Send me a code")
          await page.getByLabel("Code").waitFor()
        })
        const code = yield* Fixture.mailedCode(email)
        yield* Effect.promise(async () => {
          await page.getByLabel("Code").fill(spell(code.slice(1)))
          assert.strictEqual(await page.locator("input[name=code]:invalid").count(), 1)
          await page.getByLabel("Code").fill(spell(code))
          await press(page, "Sign in")
          await page.getByRole("link", { name: "New drop" }).first().waitFor()
        })
      }
    })
  )
})
