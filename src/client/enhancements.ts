/**
 * Countdowns and announcements for screen readers in the widget, the redirect to the shop if the shop's page asks for
 * it (`auto-continue`), and the theme of the experience (`theme`). The widget works without this module.
 */
import { countdownText } from "./countdown.ts"
import { makeRedirect } from "./redirect.ts"

/** Milliseconds between two announcements of a position, which also needs a tenth of the way. */
const announceMillis = 60_000

const hidden = "position:absolute;width:1px;height:1px;margin:0;overflow:hidden;clip-path:inset(50%);white-space:nowrap"

/** How a theme's variables are used. A page without one keeps its own colors. */
const themeStyle = `:host([theme]){background:var(--bg);color:var(--fg);font-family:var(--font)}
:host([theme]) .card{background:var(--surface);border-radius:var(--radius,.5rem)}
:host([theme]) [part~=button]{background:var(--primary,CanvasText);color:var(--on-primary,Canvas)}
:host([theme]) button,:host([theme]) .button{border-radius:var(--radius,.5rem)}`

/** Returns what the widget calls each second, with the time of the server. */
export function enhance(host: HTMLElement, root: ShadowRoot, language: () => string): (now: number) => void {
  const said = document.createElement("p")
  said.role = "status"
  said.style.cssText = hidden
  root.append(said)
  const sheet = new CSSStyleSheet()
  root.adoptedStyleSheets.push(sheet)
  const say = (text: string) => {
    if (said.textContent !== text) said.textContent = text
  }
  const redirect = makeRedirect(root, language, say)
  const position = makePosition(root, say)
  let statuses: string | undefined
  let look: string | undefined

  /** Says what the visitor's status has become. */
  const announce = (): void => {
    const now = root.querySelector<HTMLElement>("[data-statuses]")?.dataset["statuses"]
    if (now === statuses) return
    if (statuses !== undefined) say(root.querySelector("h2")?.textContent ?? "")
    statuses = now
    redirect.reset()
    position.reset()
  }

  const paint = (): void => {
    const now = root.querySelector<HTMLElement>("[data-look]")?.dataset["look"] ?? ""
    if (now === look) return
    look = now
    sheet.replaceSync(now && now.replace(":root", ":host([theme])") + themeStyle)
  }

  return (now) => {
    paint()
    countDown(root, language(), now, say)
    announce()
    position.announce()
    if (host.hasAttribute("auto-continue")) redirect.tick()
  }
}

/** Counts down by the server's clock, and announces the last minute. */
const countDown = (root: ParentNode, language: string, now: number, say: (text: string) => void): void => {
  for (const time of root.querySelectorAll<HTMLTimeElement>("time[data-until]")) {
    const left = Math.max(0, Date.parse(time.dateTime) - now)
    const { until, warn } = time.dataset
    if (!until) time.textContent = countdownText(Math.ceil(left / 1000), language)
    // A slot that has begun cannot be booked.
    else if (!left) time.closest("li")?.remove()
    if (warn && left <= announceMillis) {
      delete time.dataset["warn"]
      say(warn)
    }
  }
}

/** Says the position once a minute at most, and after a tenth of the way. */
const makePosition = (root: ParentNode, say: (text: string) => void) => {
  let announcedAt = 0
  let announced = Infinity
  return {
    announce: (): void => {
      const field = root.querySelector<HTMLElement>("[data-said]")
      if (!field) return
      const position = Number(field.dataset["value"])
      const now = performance.now()
      if (announced < Infinity) {
        if (now - announcedAt < announceMillis || position > announced * 0.9) return
        say(field.dataset["said"]!.replace("{position}", field.textContent))
      }
      announcedAt = now
      announced = position
    },
    reset: () => (announced = Infinity)
  }
}
