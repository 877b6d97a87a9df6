/** Takes a visible page to the shop, once, unless the visitor chooses to stay. The form to the shop has the words. */
import { storedValue } from "./storage.ts"

const continueSeconds = 10

/** Characters of the names of grants that are kept: some twenty. */
const keptLengthMax = 1_000

/** Makes the redirect at a turn in this part of a page. */
export const makeRedirect = (root: HTMLElement | ShadowRoot, language: () => string, say: (text: string) => void) => {
  /** The grants of which the visitor stays, or has gone on with. */
  const stays = storedValue(() => sessionStorage, "usher-stay")
  const keep = (grant: string) => stays.set(`${grant} ${stays.get()}`.slice(0, keptLengthMax))
  let goesOnAt = 0
  let announced: ReadonlyArray<HTMLElement> = []

  /** The visitor has chosen, or goes on. */
  const settle = (form: HTMLFormElement): boolean => {
    for (const one of announced) one.remove()
    return keep(form.dataset["continue"]!)
  }

  /** Adds the time that is left, and a button to stay. */
  const announce = (form: HTMLFormElement): HTMLElement => {
    const text = document.createElement("p")
    text.id = "soon"
    const stay = document.createElement("button")
    stay.className = "quiet"
    stay.textContent = form.dataset["stay"]!
    stay.addEventListener("click", () => {
      settle(form)
      form.querySelector("button")?.focus()
    })
    announced = [text, stay]
    form.after(...announced)
    say(`${root.querySelector("h2")?.textContent} ${soon(form, continueSeconds, language())}`)
    return text
  }

  root.addEventListener("submit", ({ target }) => {
    if ((target as HTMLFormElement).dataset["continue"]) settle(target as HTMLFormElement)
  })

  return {
    /** Called each second. */
    tick: () => {
      const form = root.querySelector<HTMLFormElement>("form[data-soon]")
      if (!form || document.hidden || stays.get().split(" ").includes(form.dataset["continue"]!)) return
      const now = performance.now()
      if (!goesOnAt) {
        // A browser that keeps nothing would go on again after each return.
        if (!keep("")) return
        goesOnAt = now + continueSeconds * 1000
      }
      const text = root.querySelector<HTMLElement>("#soon") ?? announce(form)
      const left = Math.max(0, Math.ceil((goesOnAt - now) / 1000))
      text.textContent = soon(form, left, language())
      if (!left && settle(form)) form.submit()
    },
    /** Called when the visitor's status has changed. */
    reset: () => void (goesOnAt = 0)
  }
}

/** The text with the seconds that are left, in the form of their number. */
const soon = (form: HTMLFormElement, seconds: number, language: string): string => {
  // Either one text or one for each form.
  const forms: Record<string, string> & string = JSON.parse(form.dataset["soon"]!)
  const text = forms[new Intl.PluralRules(language).select(seconds)] ?? forms["other"] ?? forms
  return text.replace("{seconds}", seconds.toLocaleString(language))
}
