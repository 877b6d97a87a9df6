/** The widget in pages of shops that lack something, forbid something, or load it in other ways. It never breaks them. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Frame, Page } from "playwright-core"
import { Usher } from "../../http/support/usherFixture.ts"
import { ofPages, opened, refused } from "../support/browserFixture.ts"
import * as Fixture from "../support/roomFixture.ts"

/** A page of a shop. */
interface Shop {
  /** The attributes of the page, and of the widget. */
  readonly html?: string
  readonly widget?: string
  /** The elements that load the module. */
  readonly scripts?: (url: string) => string
  /** Runs before the page. */
  readonly before?: string
  readonly policy?: (usherUrl: string) => string
  /** The page is in a frame with these permissions. */
  readonly sandbox?: string
}

const loaded = (url: string) => `<script type="module" src="${url}"></script>`

/** A room with one visitor in line, and a window at the shop's page with its widget. */
const visited = Effect.fnUntraced(function* (shop: Shop) {
  const { consumerUrl, brand } = yield* Usher
  yield* Fixture.brand("PUT", "/organizations/me", { allowedOrigins: null })
  const { experienceId, sequence, postOnce } = yield* Fixture.room({ queues: [{ name: "Front door", admitRate: 0 }] })
  const [{ id: queueId }] = sequence.queues
  yield* postOnce("enter", { at: queueId, attempt: crypto.randomUUID() })
  const widget = `<usher-experience experience="${experienceId}" url="${consumerUrl}" key="${brand.publishableKey}" ${shop.widget ?? ""}>
    <a href="${consumerUrl}/e/${experienceId}">To the drop</a></usher-experience>`
  const content = `<!doctype html><html ${shop.html ?? 'lang="en"'}><title>Shop</title>
    ${shop.before === undefined ? "" : `<script>${shop.before}</script>`}
    ${(shop.scripts ?? loaded)(`${consumerUrl}/embed/v1.js`)}<main>${widget}</main>`
  const framed = `<!doctype html><html lang="en"><title>Shop</title><iframe sandbox="${shop.sandbox}" src="/widget"></iframe>`
  const server = createServer(({ url }, response) => {
    if (shop.policy !== undefined) response.setHeader("content-security-policy", shop.policy(consumerUrl))
    const isOuter = shop.sandbox !== undefined && url !== "/widget"
    response.setHeader("content-type", "text/html").end(isOuter ? framed : content)
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()))),
    () => Effect.sync(() => server.closeAllConnections()).pipe(Effect.andThen(Effect.sync(() => server.close())))
  )
  const { page, problems } = yield* opened()
  yield* Effect.promise(() => page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
  const inner = shop.sandbox === undefined ? page : yield* Effect.promise(() => innerOf(page))
  const admit = Fixture.asBrandServer("POST", `/queues/${queueId}/admit`, { count: 1 })
  return { page, inner, problems, widget, admit }
})

const innerOf = async (page: Page): Promise<Frame> => {
  await page.frameLocator("iframe").locator("usher-experience").waitFor({ state: "attached" })
  return page.frames()[1]!
}

const position = (page: Page | Frame) => page.locator("usher-experience [data-text=position]").first()

const enters = async (page: Page | Frame) => {
  await page.locator("usher-experience form[action*=enter] button").first().click()
  await position(page).waitFor()
}

const showsPosition = (page: Page | Frame, text: string) => position(page).filter({ hasText: text }).waitFor()

/** Errors of scripts, without what the page's own policy has refused. */
const errorsIn = (problems: ReadonlyArray<string>) => problems.filter((problem) => !problem.startsWith(refused))

const denied = `throw new DOMException("denied", "SecurityError")`

const working: { readonly [name: string]: Shop } = {
  "without a language": { html: "" },
  "with an empty language": { html: 'lang=""' },
  "with a language in another notation": { html: 'lang="en_US"' },
  "with a language that is none": { html: 'lang="x"' },
  "with a language that nobody speaks": { html: 'lang="zz-Zzzz-123-"' },
  "with another notation at the widget": { widget: 'language="en_GB"' },
  "with a language of the other direction": { widget: 'language="he"' },
  "with a full storage": {
    before: `for (let n = 0, size = 1 << 20; size > 0;) try { localStorage.setItem("fill" + n++, "x".repeat(size)) } catch { size >>= 1 }`
  },
  "with a forbidden storage": {
    before: `for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, { get() { ${denied} } })`
  },
  "without a storage": { before: `Object.defineProperty(window, "localStorage", { value: null })` },
  "with a storage that only reads": { before: `Storage.prototype.setItem = () => { ${denied} }` },
  "with a storage that forgets": { before: `setInterval(() => localStorage.clear(), 20)` },
  "with denied locks": { before: `LockManager.prototype.request = async () => { ${denied} }` },
  "without locks": { before: `Object.defineProperty(navigator, "locks", { value: undefined })` },
  "with denied channels": { before: `window.BroadcastChannel = function () { ${denied} }` },
  "in a frame of its own origin": { sandbox: "allow-scripts allow-forms" },
  "in a frame that may do more": { sandbox: "allow-scripts allow-forms allow-same-origin allow-popups" },
  "in a frame of its own origin, without a language": { html: "", sandbox: "allow-scripts allow-forms" },
  "that loads the module under two addresses": { scripts: (url) => loaded(url) + loaded(`${url}?ver=6.4`) },
  "that loads it three times": {
    scripts: (url) => `${loaded(url)}${loaded(url)}<script>import("${url}?1"); import("${url}?2")</script>`
  },
  "that loads it at once": { scripts: (url) => `<script type="module" async src="${url}"></script>` },
  "that loads it late": {
    scripts: (url) => `<script>addEventListener("load", () => setTimeout(() => import("${url}"), 200))</script>`
  },
  "that has defined the policy already": {
    before: `trustedTypes.createPolicy("usher", {})`,
    policy: () => "trusted-types usher"
  },
  "that has a policy for all HTML": {
    before: `trustedTypes.createPolicy("default", { createHTML: (html) => html })`,
    policy: () => "require-trusted-types-for 'script'; trusted-types default"
  },
  "that forbids styles": { policy: () => "style-src 'none'" },
  "that forbids the countdowns": { policy: (url) => `script-src ${url}/embed/v1.js` }
}

/** Takes the address away before the element is defined. */
const noUsher = `new MutationObserver(() => document.querySelector("usher-experience")?.removeAttribute("url"))
  .observe(document, { childList: true, subtree: true })`

/** Pages that make the widget impossible. */
const forbidding: { readonly [name: string]: Shop } = {
  "takes no HTML": { policy: () => "require-trusted-types-for 'script'; trusted-types other" },
  "forbids requests": { policy: () => "connect-src 'none'" },
  "names no Usher": { before: noUsher },
  "forbids its module": { policy: () => "script-src 'self'" }
}

ofPages("The widget", (it) => {
  for (const [name, shop] of Object.entries(working)) {
    it.effect(`lets a visitor in, whose place moves, in a page ${name}`, () =>
      Effect.gen(function* () {
        const { inner, problems, admit } = yield* visited(shop)
        yield* Effect.promise(() => enters(inner))
        yield* Effect.promise(() => showsPosition(inner, "2"))
        yield* admit
        yield* Effect.promise(() => showsPosition(inner, "1"))
        assert.deepStrictEqual(errorsIn(problems), [])
      })
    )
  }

  for (const [name, shop] of Object.entries(forbidding)) {
    it.effect(`leaves its link, and no error, in a page that ${name}`, () =>
      Effect.gen(function* () {
        const { page, problems } = yield* visited(shop)
        yield* Effect.promise(async () => {
          await page.waitForLoadState("networkidle")
          await page.getByRole("link", { name: "To the drop" }).waitFor()
        })
        assert.deepStrictEqual(errorsIn(problems), [])
      })
    )
  }

  it.effect("goes on after it was taken out of the page and put back", () =>
    Effect.gen(function* () {
      const { page, problems, admit } = yield* visited({})
      yield* Effect.promise(async () => {
        await enters(page)
        await page.evaluate(`{
          const widget = document.querySelector("usher-experience")
          widget.remove()
          document.body.append(widget)
          document.querySelector("main").append(widget)
        }`)
        await showsPosition(page, "2")
      })
      yield* admit
      yield* Effect.promise(() => showsPosition(page, "1"))
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("shares its session with the other widgets of the page, also without a storage", () =>
    Effect.gen(function* () {
      for (const before of ["", working["with a forbidden storage"]!.before!]) {
        const { page, problems, widget } = yield* visited({ before })
        yield* Effect.promise(async () => {
          await page.evaluate(`document.body.insertAdjacentHTML("beforeend", ${JSON.stringify(widget)})`)
          await enters(page)
          await page.locator("usher-experience").nth(1).locator("[data-text=position]").waitFor()
        })
        assert.deepStrictEqual(problems, [])
      }
    })
  )
})
