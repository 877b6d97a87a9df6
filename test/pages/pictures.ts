/**
 * `npm run pictures -- --out FOLDER`: brings about the states of a room, of the dashboard and of a rehearsal on a real
 * server, and writes pictures of them in light, in dark and from right to left. A person looks at them; no test compares them.
 */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { parseArgs } from "node:util"
import type { Browser, Page } from "playwright-core"
import { Apis } from "../e2e/support/Apis.ts"
import * as FreshDatabase from "../e2e/support/FreshDatabase.ts"
import { type Keys, ServerUnderTest } from "../e2e/support/ServerUnderTest.ts"
import { find, launch } from "./support/chromium.ts"
import { bringAbout, prepare, type Rooms } from "./support/bringing.ts"
import { others } from "./support/others.ts"
import { drops } from "./support/drops.ts"
import { rehearsalPage } from "./support/rehearsal.ts"
import { draw, press, queue, sale, sees, states } from "./support/roomStates.ts"

// `--only` takes the beginnings of states' names, or `kinds`, `dashboard` and `rehearsal`, with commas.
const { values } = parseArgs({
  options: { out: { type: "string", default: ".pictures" }, only: { type: "string", default: "" } }
})

const phone = { width: 360, height: 780 }
const desktop = { width: 1_280, height: 900 }

const isWanted = (name: string): boolean => values.only.split(",").some((beginning) => name.startsWith(beginning))

/** The document of a page. */
const blocks = [
  { type: "heading", level: 2, content: "Two pairs, once a year" },
  { type: "p", content: "Made in a small workshop." },
  { type: "place" },
  { type: "products" },
  { type: "rules" }
]

/** Seconds that the chart of the control room shows. */
const samples = 12

/** Writes a picture of the page in each look. */
const take = async (page: Page, name: string, looks: ReadonlyArray<"light" | "dark" | "ar">): Promise<void> => {
  for (const look of looks) {
    await page.emulateMedia({ colorScheme: look === "dark" ? "dark" : "light", reducedMotion: "reduce" })
    if (look === "ar") {
      const url = new URL(page.url())
      url.searchParams.set("lang", "ar")
      await page.goto(url.href)
    }
    await page.screenshot({ path: join(values.out, `${name}-${look}.png`), fullPage: true, timeout: 0 })
  }
}

const ofRoom = async (rooms: Rooms): Promise<void> => {
  for (const [name, state] of Object.entries(states).filter(([name]) => isWanted(name))) {
    const { page, context } = await bringAbout(rooms, state, { viewport: phone })
    await page.setViewportSize(desktop)
    await take(page, `room-${name}-wide`, ["light"])
    if (name.startsWith("stage")) {
      await page.setViewportSize({ ...phone, width: 320 })
      await take(page, `room-${name}-narrow`, ["light"])
    }
    await page.setViewportSize(phone)
    if (name === "stage-waiting") await page.screenshot({ path: join(values.out, "room.png"), timeout: 0 })
    await take(page, `room-${name}`, state.isAnswer ? ["light", "dark"] : ["light", "dark", "ar"])
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
  await page.setViewportSize(phone)
  await take(page, "dashboard-home-phone", ["light"])
  await page.setViewportSize(desktop)
  await open("/new", "new-drop")
  await page.goto(`${adminUrl}/dashboard/experiences/${id}`)
  const points = page.locator("polyline.first").first()
  for (let sample = 2; sample <= samples; sample++) {
    for (const [group, path, entering] of [
      ["queues", "queues", 8],
      ["draws", "draws", 2],
      ["timedReleases", "timed-releases", 1]
    ] as const) {
      const mechanism = `/${path}/${made![0]![group]![0]!.id}`
      await others({ apis, mechanism }, entering)
    }
    while (((await points.getAttribute("points")) ?? "").split(" ").length < sample) await page.waitForTimeout(50)
  }
  await page.emulateMedia({ colorScheme: "light" })
  await take(page, "dashboard-control-room", ["light", "dark"])
  await page.setViewportSize(phone)
  await take(page, "dashboard-control-room-phone", ["light"])
  await page.setViewportSize(desktop)
  const pageId = await apis.create("/experience-pages", {
    experienceId: id,
    slug: "soon",
    title: "Spring drop",
    creativeDocument: { schemaVersion: 1, kind: "experience-page", editor: "rich-content-v0", body: { blocks } }
  })
  await page.goto(`${adminUrl}/dashboard/pages/${pageId}`)
  await page.frameLocator("iframe").getByRole("heading", { name: "Two pairs" }).waitFor()
  // A frame is drawn only where the window shows it.
  await page.setViewportSize({ ...desktop, height: 2_000 })
  await take(page, "dashboard-page-preview", ["light", "dark"])
  await page.setViewportSize(desktop)
  await page.goto(`${adminUrl}/dashboard/experiences/${id}`)
  for (const sign of await page.locator(".act summary").all()) await sign.click()
  await take(page, "dashboard-acts", ["light", "dark"])
  for (const tab of ["people", "look", "results"]) {
    await open(`/experiences/${id}/${tab}`, tab)
    await page.setViewportSize(phone)
    await take(page, `dashboard-${tab}-phone`, ["light"])
    await page.setViewportSize(desktop)
  }
  await context.close()
}

/** The tabs of a drop of each kind, with people in it. */
const ofKinds = async (browser: Browser, { adminUrl }: ServerUnderTest, apis: Apis, keys: Keys): Promise<void> => {
  const context = await browser.newContext({ viewport: desktop, locale: "en-US" })
  const page = await context.newPage()
  await page.goto(`${adminUrl}/dashboard/sign-in`)
  await page.getByLabel("Secret key").fill(keys.secretKey)
  await press(page, "Sign in")
  await sees(page, "New drop")
  for (const [name, one] of Object.entries(drops)) {
    const { id, sequences } = await apis.createRecord("/experiences", {
      name: one.name,
      sequences: [{ name: "Everyone", ...one.sequence() }]
    })
    const isOf = ([, made]: [string, unknown]) => Array.isArray(made) && made.length > 0
    const [group, [made]] = Object.entries(sequences![0]!).find(isOf) ?? [
      "waitlists",
      [sequences![0]!["waitlist"] as unknown as { readonly id: string }]
    ]
    const path = group.replace("timedReleases", "timed-releases")
    await one.enter({ apis, mechanism: `/${path}/${made!.id}` })
    if (name === "queue") {
      await page.emulateMedia({ colorScheme: "light" })
      await page.goto(`${adminUrl}/dashboard/experiences/${id}`)
      await page.screenshot({ path: join(values.out, "control-room.png"), timeout: 0 })
    }
    for (const tab of ["", "/people", "/look", "/schedule", "/check", "/results"]) {
      await page.goto(`${adminUrl}/dashboard/experiences/${id}${tab}`)
      await take(page, `kind-${name}-${tab.slice(1) || "now"}`, ["light", "dark"])
      await page.setViewportSize(phone)
      await take(page, `kind-${name}-${tab.slice(1) || "now"}-phone`, ["light"])
      await page.setViewportSize(desktop)
    }
    await page.goto(`${adminUrl}/dashboard/new?part=${one.part}`)
    await take(page, `kind-${name}-new`, ["light"])
    console.log(name)
  }
  await context.close()
}

/** The report of a rehearsal, as one file. */
const ofRehearsal = async (browser: Browser, html: string): Promise<void> => {
  const page = await browser.newPage({ viewport: desktop })
  await page.setContent(html)
  await page.screenshot({ path: join(values.out, "rehearsal.png"), timeout: 0 })
  await take(page, "rehearsal", ["light", "dark"])
  await page.setViewportSize(phone)
  await take(page, "rehearsal-phone", ["light"])
  await page.close()
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
  await apis.change("/organizations/me", { name: "Maison Aurore", allowedOrigins: ["https://shop.example"] })
  await ofRoom({ browser, consumerUrl: server.consumerUrl, apis, productId: await prepare(apis) })
  if (isWanted("kinds")) await ofKinds(browser, server, apis, keys)
  if (isWanted("dashboard")) await ofDashboard(browser, server, apis, keys)
  if (isWanted("rehearsal")) await ofRehearsal(browser, await rehearsalPage(server, keys, apis))
} finally {
  await browser.close()
  await server[Symbol.asyncDispose]()
  await FreshDatabase.disposeAll()
}
