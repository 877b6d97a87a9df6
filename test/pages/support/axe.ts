/** The rules of accessibility, checked in a browser. */
import { AxeBuilder } from "@axe-core/playwright"
import type { Page } from "playwright-core"

/** What axe finds on the page, in light and in dark. */
export const findings = async (page: Page, where: string): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
    const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze()
    for (const { id, nodes } of violations) found.push(`${where}, ${colorScheme}: ${id} ${nodes[0]?.html}`)
  }
  return found
}
