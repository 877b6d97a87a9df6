/** Writes the preview of a form again whenever something is typed. Without it the page shows the preview of its time. */
import { trustedHtml } from "../trustedHtml.ts"

/** A person who types is not interrupted. */
const quietMillis = 400

export const previews = (): void => {
  const place = document.querySelector<HTMLElement>("[data-preview]")
  const form = place?.closest("form")
  if (!place || !form) return
  let timer: ReturnType<typeof setTimeout> | undefined
  let asked = 0
  const write = async (): Promise<void> => {
    const own = ++asked
    const body = new URLSearchParams()
    for (const [name, value] of new FormData(form)) if (typeof value === "string") body.append(name, value)
    body.set("do", "preview")
    body.delete("confirmed")
    try {
      const response = await fetch(form.action, { method: "POST", body, redirect: "manual" })
      // An answer that comes late does not replace a later one.
      if (response.ok && own === asked) place.innerHTML = trustedHtml(await response.text())
    } catch {
      // The last preview stays.
    }
  }
  form.addEventListener("input", () => {
    clearTimeout(timer)
    timer = setTimeout(() => void write(), quietMillis)
  })
  void write()
}
