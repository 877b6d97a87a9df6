/** What a script adds to single elements of the dashboard. */
import { localTime } from "../formats.ts"

/** Shows times in the zone of the browser. A clock of a drop stays in the zone of the drop. */
export const localTimes = (root: ParentNode): void => {
  root.querySelectorAll<HTMLTimeElement>("time:not([data-clock])").forEach((time) => {
    const at = new Date(time.dateTime)
    if (Number.isNaN(at.getTime())) return
    time.title = time.textContent ?? ""
    time.textContent = localTime(at, undefined, {
      day: "numeric",
      month: "short",
      year: "numeric",
      hour: "numeric",
      minute: "2-digit"
    })
  })
}

/** Shows the buttons that copy an address, which only a script can do. */
export const copyButtons = (): void => {
  document.querySelectorAll<HTMLElement>("[data-copy]").forEach((button) => {
    button.hidden = !("clipboard" in navigator)
    button.addEventListener("click", () => {
      const said = button.textContent
      void navigator.clipboard.writeText(button.dataset["copy"]!).then(() => {
        button.textContent = "Copied"
        setTimeout(() => (button.textContent = said), 2_000)
      })
    })
  })
}

/**
 * Lets a reload and the way back ask for an address. A page that answers a form would send the form again, and the browser
 * would ask about that first. A page that the browser has kept whole may be of a session that has ended.
 */
export const afresh = (): void => {
  history.replaceState(history.state, "")
  addEventListener("pageshow", ({ persisted }) => persisted && location.reload())
}

/** Shows what a form sends to a frame in a new frame. In the same one each would be a step of the way back. */
export const freshFrames = (): void => {
  document.addEventListener("submit", ({ submitter }) => {
    const name = submitter?.getAttribute("formtarget")
    const frame = name && document.querySelector<HTMLIFrameElement>(`iframe[name="${name}"]`)
    if (!frame) return
    const fresh = frame.cloneNode() as HTMLIFrameElement
    fresh.removeAttribute("src")
    frame.replaceWith(fresh)
  })
}

/** Puts the typed number into the button that uses it. */
export const numberedButtons = (): void => {
  document.querySelectorAll<HTMLElement>("[data-numbered]").forEach((button) => {
    const input = button.closest("form")?.querySelector<HTMLInputElement>("input[type=number]")
    if (input === null || input === undefined) return
    const said = button.textContent
    const write = () => {
      const isNumber = /^\d+$/.test(input.value)
      button.textContent = isNumber ? button.dataset["numbered"]!.replace("{n}", input.value) : said
    }
    input.addEventListener("input", write)
    write()
  })
}

/** The key `/` leads to the search of everything, in the rail. */
export const searchKey = (): void => {
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof Element && event.target.closest("input,select,textarea") !== null
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
    const search = document.querySelector<HTMLElement>("input[type=search]")
    if (search === null) return
    event.preventDefault()
    search.focus()
  })
}

/** Removes what may be done for some seconds only, unless a person is on it. */
export const passing = (): void => {
  document.querySelectorAll<HTMLElement>("[data-seconds]").forEach((one) => {
    setTimeout(
      () => {
        if (!one.contains(document.activeElement)) one.remove()
      },
      Number(one.dataset["seconds"]) * 1_000
    )
  })
}
