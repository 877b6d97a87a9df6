/** The widget in a shop's page, which is of another origin, in a real browser. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { findings } from "../support/axe.ts"
import { leave, ofPages, press, sees } from "../support/browserFixture.ts"
import * as Fixture from "../support/roomFixture.ts"
import { hardToSee, inWidget } from "../support/seeing.ts"
import { embedded } from "../support/widgetFixture.ts"

ofPages("The widget of a shop", (it) => {
  it.effect("enters, signs in with a mailed code, is admitted, and has its place after a reload", () =>
    Effect.gen(function* () {
      const { page, problems, url, queueId } = yield* embedded()
      yield* Effect.promise(async () => {
        await page.goto(url)
        await press(page, "Join the queue")
        await sees(page, "You are in line")
        await page.getByRole("link", { name: "Keep my place on another device" }).click()
        await page.getByLabel("Email address").fill("widget@example.com")
        await press(page, "Send a code")
        await sees(page, "We have sent a code to widget@example.com.")
        assert.deepStrictEqual(await hardToSee(page, "code", inWidget), [])
      })
      const code = yield* Fixture.mailedCode("widget@example.com")
      yield* Effect.promise(async () => {
        await page.getByLabel("Code").fill(code)
        await press(page, "Sign in")
        await sees(page, "Sign out")
        await sees(page, "You are in line")
      })
      const admitted = yield* Fixture.asBrandServer("POST", `/queues/${queueId}/admit`, { count: 10 })
      assert.strictEqual(admitted.admitted, 1)
      const [grant] = yield* Effect.promise(async () => {
        await sees(page, "It is your turn")
        const grants = await page.evaluate<ReadonlyArray<string>>("grants")
        await page.reload()
        await sees(page, "It is your turn")
        assert.deepStrictEqual(await hardToSee(page, "turn", inWidget), [])
        return grants
      })
      assert.isTrue(yield* Fixture.isValid(`/queues/${queueId}`, grant!))
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("opens the shop automatically if the page asks for it, tells screen readers so, and has the theme", () =>
    Effect.gen(function* () {
      const theme = { primary: "#b4002d", background: "#fff7f0" }
      const { page, problems, url, queueId, sold } = yield* embedded({ attributes: "auto-continue theme", theme })
      const said = (text: string) => page.getByRole("status").filter({ hasText: text }).waitFor()
      const look = (selector: string) => {
        const element = `document.querySelector("usher-experience")${selector}`
        return page.evaluate<string>(`getComputedStyle(${element}).backgroundColor`)
      }
      yield* Effect.promise(async () => {
        await page.clock.install()
        await page.goto(url)
        await press(page, "Join the queue")
        await said("You are in line")
        assert.strictEqual(await look(""), "rgb(255, 247, 240)")
        assert.deepStrictEqual(await findings(page, "widget"), [])
        assert.deepStrictEqual(await hardToSee(page, "widget", inWidget), [])
      })
      yield* Fixture.asBrandServer("POST", `/queues/${queueId}/admit`, { count: 1 })
      yield* Effect.promise(async () => {
        await said("It is your turn Continuing to the shop in 10 seconds.")
        assert.strictEqual(await look(".shadowRoot.querySelector('#continue')"), "rgb(180, 0, 45)")
        const gone = page.waitForRequest((request) => request.method() === "POST" && request.url() === url)
        await page.clock.runFor(11_000)
        await gone
        await page.getByRole("heading", { name: "It is your turn" }).waitFor()
      })
      assert.isTrue(yield* Fixture.isValid(`/queues/${queueId}`, sold[0]!))
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("keeps the focus of a keyboard inside, on the outcome of each action", () =>
    Effect.gen(function* () {
      const { page, url } = yield* embedded()
      const inside = `document.querySelector("usher-experience").shadowRoot.activeElement?.textContent`
      const use = async (name: string) => {
        while ((await page.evaluate(inside)) !== name) await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
      }
      yield* Effect.promise(async () => {
        await page.goto(url)
        await sees(page, "Join the queue")
        // The client learns of the place after the answer, and shows it again.
        const again = page.waitForResponse((answer) => answer.url().includes("/place"))
        await use("Join the queue")
        await again
        await page.waitForFunction(`${inside} === "You are in line"`)
        await use("Keep my place on another device")
        await sees(page, "Email address")
        assert.strictEqual(await page.evaluate(inside), "Sign in")
      })
    })
  )

  it.effect("tells the shop's page of each state and of what cannot be fetched, which it sends again", () =>
    Effect.gen(function* () {
      const { page, url } = yield* embedded()
      yield* Effect.promise(async () => {
        await page.addInitScript(`
          window.told = []
          for (const type of ["usher-state", "usher-error"]) {
            document.addEventListener(type, ({ detail }) => told.push(detail.state ?? type))
          }`)
        await page.goto(url)
        await page.route(/\/e\/[^/]*\/enter/, (route) => route.abort(), { times: 1 })
        await press(page, "Join the queue")
        await page.waitForFunction(`["usher-error", "enterable", "waiting"].every((state) => told.includes(state))`)
        await page.evaluate("told.length = 0")
        await page.route(/\/place/, (route) => route.abort())
        await page.getByRole("link", { name: "Keep my place on another device" }).click()
        await page.waitForFunction(`told.includes("usher-error")`)
        await page.unroute(/\/place/)
        await sees(page, "Email address")
      })
    })
  )

  it.effect("shows a link to the room if its module cannot be loaded", () =>
    Effect.gen(function* () {
      const { page, url } = yield* embedded()
      yield* Effect.promise(async () => {
        await page.route(/\/embed\//, (route) => route.abort())
        await page.goto(url)
        await page.getByRole("link", { name: "To the drop" }).click()
        await sees(page, "Join the queue")
      })
    })
  )

  it.effect("works in a page that takes HTML only from a policy", () =>
    Effect.gen(function* () {
      const { page, problems, url } = yield* embedded({ policy: "require-trusted-types-for 'script'" })
      yield* Effect.promise(async () => {
        await page.goto(url)
        await press(page, "Join the queue")
        await sees(page, "You are in line")
        await leave(page, "Leave the line")
        await sees(page, "You have left")
      })
      assert.deepStrictEqual(problems, [])
    })
  )
})
