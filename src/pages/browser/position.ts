/** The position of a visitor in line, as it moves. */
import { duration, fill, number } from "./formats.ts"

/** The visitor's choice: milliseconds between two announcements, of which each needs a tenth of the way too. */
const every = document.getElementById("every") as HTMLSelectElement

/** Makes the steps of a position that is shown in a card, and said at times. */
export const makePosition = (say: (text: string) => void) => {
  let first = 0
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
    show: (card: HTMLElement, position: number, seconds: number | undefined): void => {
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
      first = Math.max(first, position)
      const wait = text("wait", seconds === undefined ? "" : duration(seconds))!
      wait.parentElement!.hidden = seconds === undefined
      const progress = card.querySelector("progress")!
      progress.max = first
      progress.value = first - position
      document.title = document.title.replace(/^(\([^)]*\) )?/, `(${shown}) `)
      announce(fill(field.dataset["said"]!, { position: shown }), position)
    },
    /** Called when the visitor's status has changed. */
    reset: () => {
      first = 0
      announcedAt = -Infinity
      announced = Infinity
      document.title = document.title.replace(/^\([^)]*\) /, "")
    }
  }
}
