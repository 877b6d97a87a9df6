/** A page that is seen goes on to the shop by itself, unless the visitor stays. */
import { fillCounted } from "./formats.ts"

const continueSeconds = 10

/** The grants of which the visitor stays, or has gone on with. */
const stays = "usher-stay"

export const makeTurn = (box: HTMLElement, words: Record<string, string>, say: (text: string) => void) => {
  let goesOnAt = 0

  /** Adds the time that is left, and a button to stay. */
  const announce = (form: HTMLFormElement, grant: string): HTMLElement => {
    const text = document.createElement("p")
    text.id = "soon"
    const stay = document.createElement("button")
    stay.className = "quiet"
    stay.textContent = words["stay"]!
    stay.addEventListener("click", () => {
      sessionStorage.setItem(stays, grant)
      text.remove()
      stay.remove()
      form.querySelector("button")?.focus()
    })
    form.after(text, stay)
    const soon = fillCounted(words["continueSoon"]!, "seconds", continueSeconds)
    say(`${box.querySelector("h2")?.textContent} ${soon}`)
    return text
  }

  return {
    /** Called each second. */
    goOn: () => {
      const form = box.querySelector<HTMLFormElement>("form[data-continue]")
      const grant = form?.querySelector<HTMLInputElement>("[name=usher_grant]")?.value ?? ""
      if (!form || document.hidden || sessionStorage.getItem(stays) === grant) return
      if (goesOnAt === 0) goesOnAt = Date.now() + continueSeconds * 1000
      const text = box.querySelector<HTMLElement>("#soon") ?? announce(form, grant)
      const left = Math.ceil((goesOnAt - Date.now()) / 1000)
      text.textContent = fillCounted(words["continueSoon"]!, "seconds", Math.max(0, left))
      if (left > 0) return
      sessionStorage.setItem(stays, grant)
      form.submit()
    },
    /** Called when the visitor's status has changed. */
    reset: () => (goesOnAt = 0)
  }
}
