/** Brings about a state of a room in a window, on a real server. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import type { Apis } from "../../e2e/support/Apis.ts"
import { waitMillisMax } from "./browserFixture.ts"

/** What a state needs: its room's address, the visitor's page, and the calls of the brand and of other visitors. */
export interface At {
  readonly url: string
  readonly page: Page
  readonly apis: Apis
  /** The first mechanism: its path at both APIs. */
  readonly mechanism: string
}

export interface State {
  readonly sequence: () => object
  /** Further settings of the experience. */
  readonly experience?: object
  /** True for a page that answers a form: its address leads elsewhere. */
  readonly isAnswer?: true
  readonly bring: (at: At) => Promise<unknown>
}

/** What every room has: the organization's provider of the gate, and a product in two sizes. */
export const prepare = async (apis: Apis): Promise<string> => {
  const challenge = { mode: "off", provider: "turnstile", siteKey: "site", secretKey: "secret" }
  await apis.change("/organizations/me", { challenge })
  const variants = ["42", "43"].map((sku) => ({ sku, price: "129.00" }))
  return apis.create("/products", { name: "Sneaker", url: "https://shop.example/sneaker", variants })
}

export interface Rooms {
  readonly browser: Browser
  readonly consumerUrl: string
  readonly apis: Apis
  readonly productId: string
}

/** Brings about a state in a window of its own. */
export const bringAbout = async (
  { browser, consumerUrl, apis, productId }: Rooms,
  state: State,
  options: BrowserContextOptions
) => {
  const { id, sequences } = await apis.createRecord("/experiences", {
    name: "Spring drop",
    sequences: [{ name: "Everyone", ...state.sequence() }],
    products: [{ productId }],
    ...state.experience
  })
  const [group, [made]] = Object.entries(sequences![0]!).find(([, made]) => Array.isArray(made) && made.length > 0) ?? [
    "waitlists",
    [{ id: "" }]
  ]
  const path = group.replace("timedReleases", "timed-releases")
  const context = await browser.newContext({ locale: "en-US", ...options })
  context.setDefaultTimeout(waitMillisMax)
  // A headless browser denies notifications, and a page has no button for them then.
  await context.addInitScript(`Object.defineProperty(Notification, "permission", { value: "granted" })`)
  const page = await context.newPage()
  const url = `${consumerUrl}/e/${id}`
  await page.goto(url)
  await state.bring({ url, page, apis, mechanism: `/${path}/${made!.id}` })
  return { url, page, context }
}
