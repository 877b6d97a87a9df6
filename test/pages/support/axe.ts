/** The rules of accessibility, checked in a browser. */
import { AxeBuilder } from "@axe-core/playwright"
import type { Page } from "playwright-core"

/** The rules about colors, which alone find more in dark. */
const rulesOfColors = ["color-contrast", "link-in-text-block"]

/** What axe finds on the page, in light and in dark. */
export const findings = async (page: Page, where: string): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
    found.push(...(await findingsNow(page, `${where}, ${colorScheme}`, colorScheme === "dark" ? rulesOfColors : [])))
  }
  return found
}

/** What axe finds on the page as it is, by these rules; without any, by all. */
export const findingsNow = async (
  page: Page,
  where: string,
  rules: ReadonlyArray<string> = []
): Promise<ReadonlyArray<string>> => {
  const axe = new AxeBuilder({ page }).setLegacyMode()
  const { violations } = await (rules.length > 0 ? axe.withRules([...rules]) : axe).analyze()
  return violations.map(({ id, nodes }) => `${where}: ${id} ${nodes[0]?.html}`)
}
