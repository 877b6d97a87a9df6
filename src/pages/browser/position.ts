/** The position of a visitor in line, as it moves. */
import { clock, duration, fill, formOf, language, number, span } from "./formats.ts"
import { serverNow } from "../../client/clock.ts"

/** The visitor's choice: milliseconds between two announcements, of which each needs a tenth of the way too. */
const every = document.getElementById("every") as HTMLSelectElement

/** Where a place stands, as the stream reports it. */
export interface Standing {
  readonly position: number
  readonly estimatedWaitTimeInSeconds?: number
  readonly waitRange?: { readonly earliest: string; readonly latest: string }
}

/** Makes the steps of a position that is shown in a card, and said at times. */
export const makePosition = (say: (text: string) => void) => {
  let announcedAt = -Infinity
  let announced = Infinity

  const announce = (said: string, position: number): void => {
    const now = performance.now()
    if (now - announcedAt < Number(every.value) || position > announced * 0.9) return
    if (announcedAt > 0) say(said)
    announcedAt = now
    announced = position
  }

  return {
    /** Shows where the visitor is, and how long it waits if that is known. A card in words has no number. */
    show: (card: HTMLElement, { position, estimatedWaitTimeInSeconds: seconds, waitRange }: Standing): void => {
      const text = (name: string, value: string) => {
        const field = card.querySelector<HTMLElement>(`[data-text="${name}"]`)
        if (field && field.textContent !== value) field.textContent = value
        return field
      }
      const shown = number.format(position)
      const field = text("position", shown)
      if (!field) {
        const lead = card.querySelector<HTMLElement>("[data-later]")
        // The card asks something instead.
        if (!lead) return
        const { seconds: most, soon, later } = lead.dataset
        lead.textContent = (seconds! <= Number(most) ? soon : later)!
        return
      }
      const ahead = card.querySelector<HTMLElement>("[data-forms]")!
      const { none, forms } = ahead.dataset
      const count = position - 1
      ahead.textContent = count ? fill(formOf(JSON.parse(forms!), count), { count: number.format(count) }) : none!
      const wait = text("wait", seconds === undefined ? "" : duration(seconds))!
      wait.parentElement!.hidden = seconds === undefined || waitRange !== undefined
      showRange(card.querySelector<HTMLElement>("[data-range]")!, waitRange)
      move(card.querySelector<SVGElement>(".way"), position)
      document.title = document.title.replace(/^(\([^)]*\) )?/, `(${shown}) `)
      announce(fill(field.dataset["said"]!, { position: shown }), position)
    },
    /** Called when the visitor's status has changed. */
    reset: () => {
      announcedAt = -Infinity
      announced = Infinity
      document.title = document.title.replace(/^\([^)]*\) /, "")
    }
  }
}

/** Shows about when the turn comes, by the visitor's clock, and the span in which it comes. */
function showRange(field: HTMLElement, range: Standing["waitRange"]): void {
  field.hidden = !range
  if (!range) return
  const [earliest, latest] = [Date.parse(range.earliest), Date.parse(range.latest)]
  const now = serverNow()
  const [about, within] = field.children
  about!.textContent = fill(field.dataset["about"]!, {
    time: clock(new Date((earliest + latest) / 2), language, field.dataset["zone"])
  })
  within!.textContent = `· ${span((earliest - now) / 1000, (latest - now) / 1000)}`
}

/** Moves the dot on the way from where the visitor joined to its turn. */
function move(way: SVGElement | null, position: number): void {
  if (!way) return
  const joined = Number(way.dataset["joined"])
  const done = `${Math.round((100 * Math.max(0, joined - position)) / joined)}%`
  way.children[1]!.setAttribute("x2", done)
  way.children[2]!.setAttribute("cx", done)
}
