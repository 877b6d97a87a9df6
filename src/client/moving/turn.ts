/** Takes a visible page to the shop, unless the visitor chooses to stay. The form to the shop has the words. */

const continueSeconds = 10

/** The grants of which the visitor stays, or has gone on with. */
const stays = "usher-stay"

/** Makes the steps of a turn in this part of a page. */
export const makeTurn = (root: ParentNode, language: () => string, say: (text: string) => void) => {
  let goesOnAt = 0

  /** The text with the seconds that are left, in the form of their number. */
  const soon = (form: HTMLFormElement, seconds: number): string => {
    const forms: string | Record<string, string> = JSON.parse(form.dataset["soon"]!)
    const text = typeof forms === "string" ? forms : forms[new Intl.PluralRules(language()).select(seconds)]
    const shown = seconds.toLocaleString(language())
    return (text ?? (forms as Record<string, string>)["other"]!).replace("{seconds}", shown)
  }

  /** Adds the time that is left, and a button to stay. */
  const announce = (form: HTMLFormElement, grant: string): HTMLElement => {
    const text = document.createElement("p")
    text.id = "soon"
    const stay = document.createElement("button")
    stay.className = "quiet"
    stay.textContent = form.dataset["stay"]!
    stay.addEventListener("click", () => {
      sessionStorage.setItem(stays, grant)
      text.remove()
      stay.remove()
      form.querySelector("button")?.focus()
    })
    form.after(text, stay)
    say(`${root.querySelector("h2")?.textContent} ${soon(form, continueSeconds)}`)
    return text
  }

  return {
    /** Called each second. */
    goOn: () => {
      const form = root.querySelector<HTMLFormElement>("form[data-continue]")
      const grant = form?.querySelector<HTMLInputElement>("[name=usher_grant]")?.value ?? ""
      if (!form || document.hidden || sessionStorage.getItem(stays) === grant) return
      if (goesOnAt === 0) goesOnAt = Date.now() + continueSeconds * 1000
      const text = root.querySelector<HTMLElement>("#soon") ?? announce(form, grant)
      const left = Math.ceil((goesOnAt - Date.now()) / 1000)
      text.textContent = soon(form, Math.max(0, left))
      if (left > 0) return
      sessionStorage.setItem(stays, grant)
      form.submit()
    },
    /** Called when the visitor's status has changed. */
    reset: () => (goesOnAt = 0)
  }
}
