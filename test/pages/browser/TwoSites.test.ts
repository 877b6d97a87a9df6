/** A shop behind a gate, and the room on another site: what a real browser does with their cookies, over HTTPS. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { IpNetwork } from "effect/net"
import type { BrowserContext, Page } from "playwright-core"
import { layerWith } from "../../http/support/usherFixture.ts"
import { inBrowser, opened, press, sees } from "../support/browserFixture.ts"
import { opening, roomHost, shopHost } from "../support/twoSites.ts"

const usher = layerWith({
  publicUrl: `https://${roomHost}`,
  trustedProxies: [IpNetwork.fromStringUnsafe("127.0.0.0/8")]
})

const checkout = `https://${shopHost}/checkout?a=1`

/** The cookies that the shop's host has set, by the beginning of their names. */
const cookiesOf = async (context: BrowserContext, prefix: string) =>
  (await context.cookies(checkout)).filter(({ name }) => name.startsWith(prefix))

const isAtShop = (page: Page) => page.waitForURL(checkout).then(() => sees(page, "Checkout"))

/** Comes to the full shop, and is led to a place in the room. */
const waits = async (page: Page) => {
  await page.goto(checkout)
  await page.waitForURL((url) => url.host === roomHost)
  await page.locator("[data-kind]").first().waitFor()
  const join = page.getByRole("button", { name: "Join the queue" })
  if (await join.isVisible()) await press(page, "Join the queue")
  await sees(page, "Your place in line")
}

inBrowser("A gate whose room is another site", usher, (it) => {
  it.effect("lets a browser return with its grant, and no other browser", () =>
    Effect.gen(function* () {
      const { browserOptions, letIn } = yield* opening
      const inside = yield* opened(browserOptions)
      const second = yield* opened(browserOptions)
      const third = yield* opened(browserOptions)
      const other = yield* opened(browserOptions)
      yield* Effect.promise(async () => {
        await inside.page.goto(checkout)
        await isAtShop(inside.page)
        const [grant] = await cookiesOf(inside.context, "__Host-usher-grant-")
        assert.deepInclude(grant, { domain: shopHost, path: "/", httpOnly: true, secure: true, sameSite: "Lax" })
      })

      yield* Effect.promise(async () => {
        await waits(second.page)
        const [state] = await cookiesOf(second.context, "__Host-usher-state")
        assert.deepInclude(state, { domain: shopHost, httpOnly: true, secure: true, sameSite: "None" })
      })
      yield* letIn(2)
      yield* Effect.promise(async () => {
        await isAtShop(second.page)
        assert.lengthOf(await cookiesOf(second.context, "__Host-usher-grant-"), 1)
        assert.lengthOf(await cookiesOf(second.context, "__Host-usher-state"), 0)
      })

      yield* Effect.promise(() => waits(third.page))
      // The browser must not go on by itself before its form was read.
      yield* Effect.promise(() => third.page.route(`https://${shopHost}/**`, (route) => route.abort()))
      yield* letIn(3)
      yield* Effect.promise(async () => {
        const field = third.page.locator("input[name=usher_grant]")
        await field.waitFor({ state: "attached" })
        const form = third.page.locator("form", { has: field })
        const [action, grant] = [await form.getAttribute("action"), await field.inputValue()]
        const { page, context } = other
        const fields = `<input name="usher_grant" value="${grant}"><button>Go</button>`
        await page.setContent(`<form method="post" action="${action!.replaceAll("&", "&amp;")}">${fields}</form>`)
        await press(page, "Go")
        await page.waitForURL((url) => url.host === roomHost)
        assert.lengthOf(await cookiesOf(context, "__Host-usher-grant-"), 0)
        assert.lengthOf(await cookiesOf(context, "__Host-usher-state"), 1)
        assert.deepStrictEqual([...second.problems, ...inside.problems], [])
      })
    })
  )
})
