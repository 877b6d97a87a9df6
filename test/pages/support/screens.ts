/** Screens of the dashboard, in every look that staff have. */
import { mkdirSync } from "node:fs"
import type { Page } from "playwright-core"
import { findingsNow, rulesOfColors } from "./axe.ts"
import { hardToSee } from "./seeing.ts"

/** The size of the first look. */
export const wide = { width: 1_280, height: 900 }

const looks = [
  { look: "1280-light", colorScheme: "light", size: wide },
  { look: "1280-dark", colorScheme: "dark", size: wide },
  { look: "390-light", colorScheme: "light", size: { width: 390, height: 900 } },
  { look: "390-dark", colorScheme: "dark", size: { width: 390, height: 900 } }
] as const

/** Where pictures of the screens go, if somebody wants to look at them. */
const folder = process.env["SCREEN_PICTURES"]

export const picture = async (page: Page, name: string): Promise<void> => {
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
}

/** The part of a screen that is its own, without the tabs above it. */
export const main = `({
  querySelectorAll: (selector) =>
    [...document.querySelector("main").querySelectorAll(selector)].filter((one) => !one.closest(".tabs"))
})`

/** Takes pictures of the screen in every look, and returns what is wrong. The screen is wide and light again afterwards. */
export const wrongInLooks = async (page: Page, name: string): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const { look, colorScheme, size } of looks) {
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
    await picture(page, `${name}-${look}`)
    found.push(...(await findingsNow(page, `${name}, ${look}`, colorScheme === "dark" ? rulesOfColors : [])))
  }
  await page.setViewportSize(wide)
  await page.emulateMedia({ colorScheme: "light" })
  return [...found, ...(await hardToSee(page, name, main))]
}

/** Opens everything that the screen shows on request. */
export const openDetails = (page: Page) =>
  page.evaluate(`document.querySelectorAll("details").forEach((one) => (one.open = true))`)
