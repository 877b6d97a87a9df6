/** A person who uses a page with the keys of a keyboard alone. */
import type { Page } from "playwright-core"
import { waitMillisMax } from "./browserFixture.ts"

/** A control that has the focus, as assistive technology sees it. */
interface Control {
  readonly role: string
  readonly name: string
}

/** Presses of Tab after which a control counts as out of reach. */
const pressesMax = 150

/** Roles of controls that a key uses. */
const usable: ReadonlySet<string> = new Set(["button", "link", "DisclosureTriangle"])

/** Tells whether this element looks other than without the focus. It has lost the focus if the page has changed. */
const marks = `function () {
  const look = () => {
    const { outlineStyle, outlineWidth, outlineColor, boxShadow } = getComputedStyle(this)
    return outlineStyle === "none" ? boxShadow : [outlineStyle, outlineWidth, outlineColor, boxShadow].join(" ")
  }
  if (document.activeElement !== this) return "lost"
  const focused = look()
  this.blur()
  const plain = look()
  this.focus({ preventScroll: true })
  return focused === plain ? "none" : "some"
}`

/** Returns the keys of a page. Each control that they reach must have a name, and must show that it has the focus. */
export const keysOf = async (page: Page) => {
  const session = await page.context().newCDPSession(page)

  /** Waits until the focus is on something whose text begins so. A page that opens sets it as it is drawn. */
  const isOn = async (text: string): Promise<void> => {
    const focused = `document.activeElement === document.body ? "" : document.activeElement.textContent.trim()`
    let found = ""
    // A wait within the page would be an evaluation that its policy forbids.
    for (const begun = performance.now(); performance.now() - begun < waitMillisMax;) {
      // A page that is left has no focus.
      found = await page.evaluate<string>(focused).catch(() => "")
      if (found.startsWith(text)) return
    }
    throw new Error(`The focus is not on "${text}", but on "${found}"`)
  }

  /** Dates that were looked at. A look moves the focus back to the first part of a date, which has several. */
  const dates = new Set<string>()

  /** The focused control, after a look at it; undefined if there is none. */
  const focused = async (): Promise<Control | undefined> => {
    const expression = "document.activeElement === document.body ? undefined : document.activeElement"
    const { objectId } = (await session.send("Runtime.evaluate", { expression })).result
    if (objectId === undefined) return undefined
    const { nodes } = await session.send("Accessibility.getPartialAXTree", { objectId, fetchRelatives: false })
    const [role, name] = [nodes[0]?.role?.value ?? "", nodes[0]?.name?.value ?? ""]
    if (/^(Date|InputTime)/.test(role) && dates.has(name)) return { role, name }
    dates.add(name)
    const { result } = await session.send("Runtime.callFunctionOn", { objectId, functionDeclaration: marks })
    if (result.value === "lost") return undefined
    if (name === "" || result.value !== "some") throw new Error(`"${name}" (${role}): no name, or no visible focus`)
    return { role, name }
  }

  /** Presses Tab until a control has the focus whose name is this, or begins with it. */
  const reach = async (name: string, key: "Tab" | "Shift+Tab" = "Tab", only?: ReadonlySet<string>): Promise<void> => {
    const met: Array<string> = []
    for (let presses = 0; presses < pressesMax; presses++) {
      await page.keyboard.press(key)
      const control = await focused()
      if (control === undefined) continue
      const isNamed = control.name === name || control.name.startsWith(`${name} `)
      if (isNamed && only?.has(control.role) !== false) return
      met.push(`${control.role} ${control.name}`)
    }
    throw new Error(`"${name}" cannot be reached among ${[...new Set(met)].join(", ")}`)
  }

  return {
    isOn,
    reach,
    /** Reaches a button, a link or a summary, and uses it. */
    use: async (name: string, key: "Enter" | "Space" = "Enter"): Promise<void> => {
      await reach(name, "Tab", usable)
      await page.keyboard.press(key)
    },
    /** Reaches a field, and replaces its contents. */
    fill: async (name: string, text: string): Promise<void> => {
      await reach(name)
      await page.keyboard.press("Control+A")
      await page.keyboard.type(text)
    },
    press: (key: string) => page.keyboard.press(key)
  }
}
