/** A notification of the browser at the visitor's turn, for a visitor that asks for it. */
import { ifAllowed, storedValue } from "../../client/storage.ts"
import { language } from "./formats.ts"

/**
 * Whether the visitor may ask for a notification. Browsers of phones may have the interface, and throw when it is used.
 * Without the permission this test shows nothing.
 */
const canAsk = (): boolean => {
  if (!("Notification" in window)) return false
  if (Notification.permission !== "default") return Notification.permission === "granted"
  return ifAllowed(() => new Notification("")) !== undefined
}

/** Makes the steps of a notification for a room, in this part of its page. */
export const makeNotification = (box: HTMLElement, room: string) => {
  const can = canAsk()
  /** The room of whose next turn this tab notifies. */
  const asked = storedValue(() => sessionStorage, "usher-notify")
  const isAsked = () => can && Notification.permission === "granted" && asked.get() === room

  /** Shows the button, or that the visitor has asked. The piece has both, hidden. */
  const show = (): void => {
    const ask = box.querySelector<HTMLElement>("[data-notified]")
    if (!ask) return
    ask.hidden = !can || Notification.permission === "denied"
    if (isAsked()) ask.textContent = ask.dataset["notified"]!
  }

  box.addEventListener("click", ({ target }) => {
    if ((target as HTMLElement).id !== "notify") return
    void Notification.requestPermission().then(() => {
      asked.set(room)
      show()
      box.querySelector("h2")!.focus()
    })
  })

  return {
    isAsked,
    show,
    /** Notifies once, if the visitor has asked. A second window of the room replaces the notification. */
    notify: (title: string, body: string) => {
      if (!isAsked()) return
      asked.set("")
      ifAllowed(() => new Notification(title, { body, tag: room, lang: language }))?.addEventListener("click", () =>
        focus()
      )
    }
  }
}
