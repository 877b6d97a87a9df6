/**
 * `npm run pictures -- --out FOLDER`: brings about the states of a room and of the dashboard on a real server, and writes
 * pictures of them in light, in dark and from right to left. A person looks at them; no test compares them.
 */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { parseArgs } from "node:util"
import type { Browser, Page } from "playwright-core"
import { Apis } from "../e2e/support/Apis.ts"
import * as FreshDatabase from "../e2e/support/FreshDatabase.ts"
import { type Keys, ServerUnderTest } from "../e2e/support/ServerUnderTest.ts"
import { find, launch } from "./support/chromium.ts"

// `--only` takes the beginning of a state's name, or `dashboard`.
const { values } = parseArgs({
  options: { out: { type: "string", default: ".pictures" }, only: { type: "string", default: "" } }
})

const phone = { width: 390, height: 844 }
const desktop = { width: 1_280, height: 900 }

/** Seconds that the chart of the control room shows. */
const samples = 12

const after = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString()

/** What a state needs: its room's address, the visitor's page, and the calls of the brand and of other visitors. */
interface At {
  readonly url: string
  readonly page: Page
  readonly apis: Apis
  /** The first mechanism: its path at the Consumer API. */
  readonly mechanism: string
}

interface State {
  readonly sequence: () => object
  readonly bring: (at: At) => Promise<unknown>
}

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).first().click()
const sees = (page: Page, text: string) => page.getByText(text).first().waitFor()

/** Presses these buttons one after the other, and waits for the text. */
const pressing =
  (text: string, ...buttons: ReadonlyArray<string>) =>
  async ({ page }: At) => {
    for (const button of buttons) await press(page, button)
    await sees(page, text)
  }

/** Lets other guests enter. */
const others = async ({ apis, mechanism }: At, count: number, action = "enter", body?: object) => {
  for (let made = 0; made < count; made++) {
    const answer = await apis.doAs(await apis.guest(), `${mechanism}/${action}`, body)
    if (answer.status >= 300) throw new Error(`${mechanism}/${action}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }
}

const queue = (own: object = {}) => ({ queues: [{ name: "Front door", admitRate: 0, ...own }] })
const draw = (closeIn: number) => ({
  draws: [{ name: "Raffle", winnerCount: 1, closeAt: after(closeIn), drawAt: after(closeIn + 1) }]
})
const auction = (settleIn: number) => ({
  auctions: [{ name: "Lot 1", startPrice: "10.00", minBidIncrement: "1.00", settleAt: after(settleIn) }]
})
const sale = (capacity: number) => ({ timedReleases: [{ name: "Sale", capacity, closeAt: after(7_200) }] })
const fitting = () => ({
  appointments: [{ name: "Fitting", slotDurationMinutes: 120, slotsFrom: after(0), slotsUntil: after(3 * 86_400) }]
})

const bid = async ({ page }: At, amount: string) => {
  await page.getByLabel("Your bid").fill(amount)
  await press(page, "Place a bid")
}

const drawn = (text: string, entered: number): State => ({
  sequence: () => draw(6),
  bring: async (at) => {
    if (entered > 0) await pressing("You are entered", "Enter the draw")(at)
    await others(at, 3)
    await sees(at.page, text)
  }
})

const states: { readonly [name: string]: State } = {
  "queue-scheduled": { sequence: () => queue({ openAt: after(3_700) }), bring: ({ page }) => sees(page, "Opens in") },
  "queue-open": { sequence: () => queue({ admitRate: 60 }), bring: ({ page }) => sees(page, "Join the queue") },
  "queue-lobby": {
    sequence: () => queue({ lobbyOpenAt: after(1), openAt: after(600) }),
    bring: async ({ page, url }) => {
      while (!(await page.getByRole("button", { name: "Join the queue" }).isVisible())) await page.goto(`${url}/place`)
      await press(page, "Join the queue")
      await sees(page, "You are in the lobby")
    }
  },
  "queue-waiting": {
    sequence: () => queue({ admitRate: 30 }),
    bring: async (at) => {
      await others(at, 120)
      await pressing("You are in line", "Join the queue")(at)
    }
  },
  "queue-turn": {
    sequence: () => queue({ admitRate: 600, admissionExpirationSeconds: 600 }),
    bring: async (at) => {
      await pressing("It is your turn", "Join the queue")(at)
      await press(at.page, "Stay here")
    }
  },
  "queue-left": { sequence: () => queue(), bring: pressing("You have left", "Join the queue", "Leave the line") },
  "queue-closed": { sequence: () => queue({ closeAt: after(3) }), bring: ({ page }) => sees(page, "This ended") },
  "draw-open": { sequence: () => draw(600), bring: ({ page }) => sees(page, "Enter the draw") },
  "draw-entered": { sequence: () => draw(600), bring: pressing("You are entered", "Enter the draw") },
  "draw-outcome": drawn("Proof of the draw", 1),
  "draw-closed": drawn("Proof of the draw", 0),
  "draw-proof": {
    sequence: () => draw(6),
    bring: async (at) => {
      await drawn("Proof of the draw", 1).bring(at)
      await at.page.getByRole("link", { name: "Proof of the draw" }).click()
      await sees(at.page, "The draw holds")
    }
  },
  "auction-open": { sequence: () => auction(600), bring: ({ page }) => sees(page, "Highest bid") },
  "auction-confirm": {
    sequence: () => auction(600),
    bring: async (at) => {
      await bid(at, "12.50")
      await sees(at.page, "Do you bid")
    }
  },
  "auction-winning": {
    sequence: () => auction(600),
    bring: async (at) => {
      await bid(at, "12.50")
      await pressing("You are among the winners", "Yes, bid $12.50")(at)
    }
  },
  "auction-outbid": {
    sequence: () => auction(600),
    bring: async (at) => {
      await states["auction-winning"]!.bring(at)
      await others(at, 1, "bid", { amount: "20" })
      await sees(at.page, "You have been outbid")
    }
  },
  "auction-too-low": {
    sequence: () => auction(600),
    bring: async (at) => {
      await bid(at, "2")
      await pressing("The bid is too low", "Yes, bid $2.00")(at)
    }
  },
  "auction-won": {
    sequence: () => auction(8),
    bring: async (at) => {
      await states["auction-winning"]!.bring(at)
      await sees(at.page, "You have won")
      await press(at.page, "Stay here")
    }
  },
  "auction-dutch": {
    sequence: () => {
      const falling = { startPrice: "100", floorPrice: "40", priceDropAmount: "15", priceDropIntervalSeconds: 60 }
      const times = { openAt: after(1), settleAt: after(3_600) }
      return { auctions: [{ name: "Falling", auctionType: "dutch", quantity: 3, ...times, ...falling }] }
    },
    bring: ({ page }) => sees(page, "Current price")
  },
  "sale-open": { sequence: () => sale(5), bring: ({ page }) => sees(page, "Choose") },
  "sale-turn": {
    sequence: () => sale(5),
    bring: async (at) => {
      await pressing("Chosen:", "Get access")(at)
      await press(at.page, "Stay here")
    }
  },
  "sale-sold-out": {
    sequence: () => sale(1),
    bring: async (at) => {
      await others(at, 1)
      await pressing("Sold out", "Get access")(at)
    }
  },
  "appointment-open": { sequence: fitting, bring: ({ page }) => sees(page, "Free slots") },
  "appointment-booked": {
    sequence: fitting,
    bring: async ({ page }) => {
      await page.locator(".slots button").first().click()
      await sees(page, "You are booked")
    }
  },
  "waitlist-open": {
    sequence: () => ({ waitlist: { name: "Tell me", supportsGuest: false } }),
    bring: ({ page }) => sees(page, "Join the waitlist")
  },
  "waitlist-code": {
    sequence: () => ({ waitlist: { name: "Tell me", supportsGuest: false } }),
    bring: async (at) => {
      await at.page.getByLabel("Email address").fill("ada@example.com")
      await pressing("We have sent a code", "Join the waitlist")(at)
    }
  },
  "sign-in": { sequence: () => queue(), bring: ({ page, url }) => page.goto(`${url}/place?show=sign-in`) },
  "not-found": { sequence: () => queue(), bring: ({ page, url }) => page.goto(`${url}/nothing`) }
}

/** Writes a picture of the page in each look. */
const take = async (page: Page, name: string, looks: ReadonlyArray<"light" | "dark" | "ar">): Promise<void> => {
  for (const look of looks) {
    await page.emulateMedia({ colorScheme: look === "dark" ? "dark" : "light", reducedMotion: "reduce" })
    if (look === "ar") {
      const url = new URL(page.url())
      url.searchParams.set("lang", "ar")
      await page.goto(url.href)
    }
    await page.screenshot({ path: join(values.out, `${name}-${look}.png`), fullPage: true })
  }
}

const ofRoom = async (browser: Browser, server: ServerUnderTest, apis: Apis, productId: string): Promise<void> => {
  for (const [name, state] of Object.entries(states).filter(([name]) => name.startsWith(values.only))) {
    const body = {
      name: "Spring drop",
      sequences: [{ name: "Everyone", ...state.sequence() }],
      products: [{ productId }]
    }
    const { id, sequences } = await apis.createRecord("/experiences", body)
    const [group, [made]] = Object.entries(sequences![0]!).find(
      ([, made]) => Array.isArray(made) && made.length > 0
    ) ?? ["waitlists", [{ id: "" }]]
    const path = group.replace("timedReleases", "timed-releases")
    const context = await browser.newContext({ viewport: phone, locale: "en-US" })
    const page = await context.newPage()
    const url = `${server.consumerUrl}/e/${id}`
    await page.goto(url)
    await state.bring({ url, page, apis, mechanism: `/${path}/${made!.id}` })
    await take(page, `room-${name}`, ["light", "dark", "ar"])
    if (name === "queue-waiting") {
      await page.goto(`${url}/place`)
      await page.screenshot({ path: join(values.out, "room.png") })
    }
    await context.close()
    console.log(name)
  }
}

const ofDashboard = async (browser: Browser, { adminUrl }: ServerUnderTest, apis: Apis, keys: Keys): Promise<void> => {
  const context = await browser.newContext({ viewport: desktop, locale: "en-US" })
  const page = await context.newPage()
  const open = async (path: string, name: string) => {
    await page.goto(`${adminUrl}/dashboard${path}`)
    await take(page, `dashboard-${name}`, ["light", "dark"])
  }
  await open("/sign-in", "sign-in")
  await page.getByLabel("Secret key").fill(keys.secretKey)
  await press(page, "Sign in")
  await sees(page, "New drop")
  const sequences = [{ name: "Everyone", ...queue({ admitRate: 30 }), ...draw(3_600), ...sale(50) }]
  const { id, sequences: made } = await apis.createRecord("/experiences", { name: "Spring drop", sequences })
  await open("", "home")
  await open("/new", "new-drop")
  await page.goto(`${adminUrl}/dashboard/experiences/${id}`)
  const points = page.locator("polyline.waiting")
  for (let sample = 2; sample <= samples; sample++) {
    for (const [group, path, entering] of [
      ["queues", "queues", 8],
      ["draws", "draws", 2],
      ["timedReleases", "timed-releases", 1]
    ] as const) {
      const mechanism = `/${path}/${made![0]![group]![0]!.id}`
      await others({ apis, page, url: "", mechanism }, entering)
    }
    while (((await points.getAttribute("points")) ?? "").split(" ").length < sample) await page.waitForTimeout(50)
  }
  await page.emulateMedia({ colorScheme: "light" })
  const clip = { x: 0, y: 0, width: desktop.width, height: 1_200 }
  await page.screenshot({ path: join(values.out, "control-room.png"), fullPage: true, clip })
  await take(page, "dashboard-control-room", ["light", "dark"])
  await page.setViewportSize(phone)
  await take(page, "dashboard-control-room-phone", ["light"])
  await page.setViewportSize(desktop)
  await press(page, "Pause…")
  await take(page, "dashboard-confirm", ["light", "dark"])
  await context.close()
}

const found = await find()
if (found === undefined) throw new Error("no Chromium on this machine: set CHROMIUM_PATH")
await mkdir(values.out, { recursive: true })
const server = await ServerUnderTest.make()
const browser = await launch(found)
try {
  await server.start()
  const keys = await server.createOrganization()
  using apis = new Apis(server, keys)
  const variants = ["42", "43"].map((sku) => ({ sku, price: "129.00" }))
  const productId = await apis.create("/products", { name: "Sneaker", url: "https://shop.example/sneaker", variants })
  await ofRoom(browser, server, apis, productId)
  if (values.only === "" || values.only === "dashboard") await ofDashboard(browser, server, apis, keys)
} finally {
  await browser.close()
  await server[Symbol.asyncDispose]()
  await FreshDatabase.disposeAll()
}
