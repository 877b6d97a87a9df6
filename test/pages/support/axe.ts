/** The rules of accessibility, checked in a browser. */
import { source } from "axe-core"
import type { Page } from "playwright-core"

/** The rules about colors, which alone find more in dark. */
export const rulesOfColors = ["color-contrast", "link-in-text-block"]

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
  const options = { resultTypes: ["violations"], ...(rules.length > 0 && { runOnly: { type: "rule", values: rules } }) }
  if (await page.evaluate("window.axe === undefined")) await page.evaluate(source)
  const { violations } = await page.evaluate<Results>(`axe.run(${JSON.stringify(options)})`)
  return violations.map(({ id, nodes }) => `${where}: ${id} ${nodes[0]?.html}`)
}

interface Results {
  readonly violations: ReadonlyArray<{ readonly id: string; readonly nodes: ReadonlyArray<{ readonly html: string }> }>
}
