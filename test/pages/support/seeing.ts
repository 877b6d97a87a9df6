/** What is wrong in a page for people who see little, choose their colors, or bear no motion. */
import type { Page } from "playwright-core"

/** The narrowest page: 1,280 pixels at a zoom of 400 %. */
export const narrow = { width: 320, height: 640 }

/** The part of the page that is looked at, as a script. A widget is in the shadow root of its element. */
export const inPage = "document"
export const inWidget = `document.querySelector("usher-experience").shadowRoot`

/** Finds what is wrong, and says where. */
export type Find = (page: Page, name: string, part?: string) => Promise<ReadonlyArray<string>>

/** Evaluates a script about `part` that returns what is wrong. */
const wrong =
  (script: string): Find =>
  async (page, name, part = inPage) => {
    const found = await page.evaluate<ReadonlyArray<string>>(`((part) => ${script})(${part})`)
    return found.map((what) => `${name}: ${what}`)
  }

/** Contents that need scrolling to the side in a narrow page. */
export const tooWide = wrong(`document.documentElement.scrollWidth > ${narrow.width}
  ? [document.documentElement.scrollWidth + " pixels wide"] : []`)

/** Controls and lines of charts that are not seen in colors that the system forces. */
export const unseen = wrong(`[
    ...part.querySelectorAll("button, .button, input:not([type=hidden]), select, textarea, polyline")
  ].filter((control) => {
    const style = getComputedStyle(control)
    if (control.matches("polyline")) return style.stroke !== getComputedStyle(document.documentElement).color
    const { borderTopWidth, borderTopStyle, borderTopColor, textDecorationLine } = style
    const hasBorder = parseFloat(borderTopWidth) > 0 && borderTopStyle !== "none"
    const behind = getComputedStyle(document.documentElement).backgroundColor
    // The system draws boxes to check.
    if (control.type === "checkbox" || control.type === "radio") return false
    // What looks like a link is underlined.
    return !(hasBorder && borderTopColor !== behind) && textDecorationLine !== "underline"
  })
  .map(({ outerHTML }) => outerHTML)`)

/** Controls that are hard to hit: less than 44 pixels. */
export const small = wrong(`[...part.querySelectorAll("button, .button, input, select, summary, nav a")]
  .filter((control) => {
    // A box is ticked through its label.
    const target = (control.type === "checkbox" && control.closest("label")) || control
    const { width, height } = target.getBoundingClientRect()
    return width > 0 && height > 0 && (width < 43.9 || height < 43.9)
  })
  .map(({ outerHTML }) => outerHTML)`)

/** Elements that move. */
export const moving = wrong(`[...part.querySelectorAll("*")]
  .filter((element) => {
    const { transitionDuration, animationName } = getComputedStyle(element)
    return parseFloat(transitionDuration) > 0 || animationName !== "none"
  })
  .map(({ outerHTML }) => outerHTML)`)

/** All of this in one page, which is narrow, has forced colors and is to move nothing. */
export const hardToSee: Find = async (page, name, part) => {
  const before = page.viewportSize()!
  await page.setViewportSize(narrow)
  await page.emulateMedia({ forcedColors: "active", reducedMotion: "reduce" })
  const found = [
    ...(await tooWide(page, name, part)),
    ...(await unseen(page, name, part)),
    ...(await small(page, name, part)),
    ...(await moving(page, name, part))
  ]
  await page.emulateMedia({ forcedColors: null, reducedMotion: null })
  await page.setViewportSize(before)
  return found
}
