/**
 * A browser that visits pages over both APIs, with a clock that tests move, and a shop that takes grants. Tests of one
 * file share one browser, one server and one shop.
 */
import { describe, it, layer as sharing } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { addresses } from "../../http/challenge/fakeProvider.ts"
import { Usher } from "../../http/support/usherFixture.ts"
import { movableClock } from "../../support/movableClock.ts"
import { find, launch } from "./chromium.ts"
import * as Fixture from "./roomFixture.ts"

const found = await find()

/** The longest wait for something that a page shows. A slow machine needs a fraction of it. */
export const waitMillisMax = 120_000

export class Browsing extends Context.Service<Browsing, { readonly browser: Browser }>()("usher/test/pages/Browsing") {
  static readonly layer = Layer.effect(
    Browsing,
    Effect.acquireRelease(
      Effect.map(
        Effect.promise(() => launch(found!)),
        (browser) => ({ browser })
      ),
      ({ browser }) => Effect.promise(() => browser.close())
    )
  )
}

/** A shop: one page, to which browsers post grants. */
export class Shop extends Context.Service<Shop, { readonly url: string; readonly grants: Array<string> }>()(
  "usher/test/pages/Shop"
) {
  static readonly layer = Layer.effect(
    Shop,
    Effect.gen(function* () {
      const grants: Array<string> = []
      const server = createServer((request, response) => {
        let text = ""
        request.setEncoding("utf8").on("data", (chunk) => (text += chunk))
        request.on("end", () => {
          const grant = new URLSearchParams(text).get("usher_grant")
          if (request.method === "POST" && grant !== null) grants.push(grant)
          response.setHeader("content-type", "text/html").end("<!doctype html><title>Shop</title><h1>Checkout</h1>")
        })
      })
      yield* Effect.acquireRelease(
        Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()))),
        () => Effect.sync(() => server.closeAllConnections()).pipe(Effect.andThen(Effect.sync(() => server.close())))
      )
      return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/checkout`, grants }
    })
  )
}

/** The clock of the servers. */
export const clock = movableClock()

/** An instant these seconds from now, on that clock. */
export const at = (seconds: number) => new Date(clock.now() + seconds * 1000).toISOString()

/** The pages over both APIs, with the clock that tests move. */
export const pages = Layer.mergeAll(Fixture.layer.pipe(Layer.provide([clock.layer, addresses])), Shop.layer)

type Methods<R> = Parameters<Parameters<ReturnType<typeof sharing<R, never>>>[1]>[0]

type Declare = <A, E>(title: string, services: Layer.Layer<A, E>, define: (it: Methods<A | Browsing>) => void) => void

const declared: Declare = (title, services, define) =>
  describe(title, () => {
    sharing(Layer.merge(services, Browsing.layer), { excludeTestServices: true })(define as never)
  })

const declaredMissing: Declare = (title) => {
  const missing = "no Chromium on this machine: set CHROMIUM_PATH"
  const test = process.env["CI"] ? it : it.skip
  test(`${title} [skipped: ${missing}]`, () => {
    throw new Error(missing)
  })
}

/** Declares tests in a browser, with other services. Without a browser they are skipped, and with `CI` set they fail. */
export const inBrowser: Declare = found === undefined ? declaredMissing : declared

/** Declares tests of pages in a browser. */
export const ofPages = (title: string, define: (it: Methods<Layer.Success<typeof pages> | Browsing>) => void): void =>
  inBrowser(title, pages, define)

/** How the console begins to say what a policy refused. */
export const refused = "refused by the policy:"

const reportRefusals = `addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
  console.error("${refused}", violatedDirective, blockedURI))`

/** Opens a window of a new visitor. It closes with the test. `problems` are errors of scripts, and what a policy refused. */
export const opened = Effect.fnUntraced(function* (options: BrowserContextOptions = {}) {
  const { browser } = yield* Browsing
  const context = yield* Effect.acquireRelease(
    Effect.promise(() => browser.newContext({ locale: "en-US", viewport: { width: 390, height: 844 }, ...options })),
    (context) => Effect.promise(() => context.close())
  )
  context.setDefaultTimeout(waitMillisMax)
  const problems: Array<string> = []
  context.on("weberror", (error) => problems.push(String(error.error())))
  context.on("dialog", (dialog) => void (problems.push(dialog.message()), dialog.dismiss()))
  context.on("console", (message) => {
    if (message.text().startsWith(refused)) problems.push(message.text())
  })
  yield* Effect.promise(() => context.addInitScript(reportRefusals))
  return { context, page: yield* Effect.promise(() => context.newPage()), problems }
})

/** What rooms and the widget say to screen readers alone. It keeps its words while the screen changes. */
const announcements = "#said, usher-experience [role=status]"

/** Waits until the screen shows the text. */
export const sees = (page: Page, text: string) =>
  page
    .getByText(text)
    .and(page.locator(`:not(${announcements})`))
    .first()
    .waitFor()

/** Presses the button with this text. */
export const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).first().click()

/** Presses this button, and confirms it. */
export const leave = async (page: Page, name: string) => {
  await press(page, name)
  await sees(page, "Are you sure?")
  await press(page, name)
}

const becomes = (page: Page, isHidden: boolean) =>
  page.evaluate(`
    Object.defineProperty(document, "hidden", { configurable: true, get: () => ${isHidden} })
    document.dispatchEvent(new Event("visibilitychange"))
  `)

/** Hides the page, as another window or the lock of a phone does. Headless browsers show every page. */
export const hide = (page: Page) => becomes(page, true)

/** Shows the page again. */
export const show = (page: Page) => becomes(page, false)

/** The address of a room. */
export const roomUrl = (experienceId: string, path = "") =>
  Effect.map(Usher, ({ consumerUrl }) => `${consumerUrl}/e/${experienceId}${path}`)

/** A room whose visitors go back to the shop, and a window at its shell. */
export const visiting = Effect.fnUntraced(function* (sequence: object, sizes: ReadonlyArray<string> = ["42"]) {
  const { url: shopUrl } = yield* Shop
  yield* Fixture.brand("PUT", "/organizations/me", { allowedOrigins: [new URL(shopUrl).origin] })
  const { id: productId, variants } = yield* Fixture.product(sizes)
  const room = yield* Fixture.room(sequence, { products: [{ productId }] })
  const window = yield* opened()
  const url = yield* roomUrl(room.experienceId, `?return=${encodeURIComponent(shopUrl)}`)
  yield* Effect.promise(() => window.page.goto(url))
  return { ...room, ...window, variants }
})

/** The id of the consumer whose session a page has. */
export const consumerIn = async (page: Page): Promise<string> => {
  const token = (await page.context().cookies()).find(({ value }) => value.split(".").length === 3)!.value
  return JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString()).consumerId
}

/** Goes on to the shop, and returns the grant that the browser brought there. */
export const goneOn = Effect.fnUntraced(function* (page: Page) {
  const { grants } = yield* Shop
  const before = grants.length
  yield* Effect.promise(async () => {
    await press(page, "Continue to the shop")
    await page.getByText("Checkout").waitFor()
  })
  return grants[before]!
})

/** Signs in to the dashboard. */
export const signedIn = Effect.fnUntraced(function* (page: Page) {
  const { adminUrl, brand } = yield* Usher
  yield* Effect.promise(async () => {
    await page.goto(`${adminUrl}/dashboard/sign-in`)
    await page.getByLabel("Secret key").fill(brand.secretKey)
    await press(page, "Sign in")
    await page.getByRole("link", { name: "New drop" }).first().waitFor()
  })
})
