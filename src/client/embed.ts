/**
 * `<usher-experience experience url key language>`: the visitor's part of a room inside a shop's page. The room writes
 * the pieces, in its words and languages; this shows them in a shadow root, and sends their forms.
 */
import { type ExperienceStore, Usher } from "./client.ts"
import { style } from "./embedStyle.ts"
import { askedSeconds, pause, pauseSecondsMax } from "./follow.ts"
import type { Call } from "./sessions.ts"

const sheet = new CSSStyleSheet()
sheet.replaceSync(style)

interface Policies {
  createPolicy(name: string, rules: object): { createHTML(html: string): string }
}

/** Pieces come from Usher, which has escaped them. */
const policy = (globalThis as { readonly trustedTypes?: Policies }).trustedTypes?.createPolicy("usher", {
  createHTML: (html: string) => html
})

/** The names for `::part`. */
const parts = {
  card: ".card",
  heading: "h2",
  button: "button:not(.quiet,.plain),.button",
  "quiet-button": ".quiet,.plain",
  field: "input,select",
  alert: "[role=alert]"
}

class UsherExperience extends HTMLElement {
  readonly #root = this.attachShadow({ mode: "open" })
  /** The contents of the room. */
  readonly #box = document.createElement("div")
  #alive: ((aheadMillis: number) => void) | undefined
  #usher: Usher | undefined
  #store: ExperienceStore | undefined
  #stop: (() => void) | undefined
  #shown = ""
  #swaps = 0
  #isSending = false

  constructor() {
    super()
    this.#root.adoptedStyleSheets = [sheet]
    // The link inside stays until there is more to show.
    this.#box.append(document.createElement("slot"))
    this.#root.append(this.#box)
    this.#root.addEventListener("submit", (event) => this.#submitted(event as SubmitEvent))
    this.#root.addEventListener("click", (event) => this.#clicked(event))
  }

  connectedCallback(): void {
    const named = (name: string) => this.getAttribute(name) ?? ""
    this.#usher ??= new Usher({ url: named("url"), publishableKey: named("key") })
    this.#store ??= this.#usher.experience(named("experience"))
    const stop = this.#store.subscribe(() => this.#changed())
    const timer = setInterval(() => this.#tick(), 1000)
    void import("./alive.ts").then(({ enliven }) => {
      this.#alive ??= enliven(this, this.#root, () => this.#language || "en")
      this.#tick()
    })
    this.#stop = () => {
      stop()
      clearInterval(timer)
    }
  }

  disconnectedCallback(): void {
    this.#stop?.()
  }

  #tell(type: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }))
  }

  /** Shows what has changed: the piece again, or only the position in it. */
  #changed(): void {
    const view = this.#store!.getSnapshot()
    const [first] = view.places
    const standing = view.places.map(({ id, state, lifecycle, own, facts }) => [
      [id, state, lifecycle, own && "status" in own && own.status, facts?.minimumBid, facts?.currentPrice],
      [facts?.unitsLeft === 0, facts?.admitRate, facts?.paused]
    ])
    const now = [view.state, view.session?.consumerId, view.session?.type, ...standing].join()
    if (now !== this.#shown && view.experience) {
      this.#shown = now
      this.#tell("usher-state", view)
      if (view.state === "granted" && first?.own && "admissionGrant" in first.own) {
        this.#tell("usher-granted", { grant: first.own.admissionGrant, experienceId: this.#store!.id })
      }
      void this.#swap(view.session ? "place" : "now")
    }
    const position = first?.own && "position" in first.own ? first.own.position : undefined
    const text = this.#root.querySelector<HTMLElement>("[data-text=position]")
    if (text && typeof position === "number") {
      text.textContent = position.toLocaleString(this.#language)
      text.dataset["value"] = `${position}`
    }
  }

  get #language(): string {
    return this.getAttribute("language") ?? document.documentElement.lang
  }

  /** Replaces the piece by the room's answer. */
  async #swap(path: string, call: Call = {}): Promise<void> {
    const mine = ++this.#swaps
    const target = new URL(`/e/${this.#store!.id}/${path}`, this.#usher!.sessions.url)
    target.searchParams.set("return", location.href)
    if (this.#language) target.searchParams.set("lang", this.#language)
    const html = await this.#fetched(target, call, () => mine === this.#swaps)
    // A later request has the later state.
    if (mine !== this.#swaps) return
    const template = document.createElement("template")
    template.innerHTML = policy?.createHTML(html) ?? html
    for (const [part, selector] of Object.entries(parts)) {
      for (const one of template.content.querySelectorAll(selector)) one.part.add(part)
    }
    for (const link of template.content.querySelectorAll("a"))
      link.href = new URL(link.getAttribute("href")!, target).href
    for (const form of template.content.querySelectorAll("form"))
      form.action = new URL(form.getAttribute("action")!, target).href
    const focused = this.#root.activeElement
    this.#box.replaceChildren(template.content)
    this.#tick()
    // After an action the focus is on its outcome. Else it stays where it is, as far as that is still there.
    const same = !call.method && focused?.id && this.#root.getElementById(focused.id)
    const changed = this.#root.querySelector<HTMLElement>("[role=alert],[data-acted] h2")
    if (call.method || focused) (same || changed || this.#root.querySelector("h2"))?.focus()
  }

  /** Asks for a piece until the room answers, or another piece is wanted. A form is sent until it is answered. */
  async #fetched({ pathname, search }: URL, call: Call, isWanted: () => boolean): Promise<string> {
    for (let seconds = 1; call.method || isWanted(); seconds = Math.min(pauseSecondsMax, seconds * 2)) {
      let asked = 0
      try {
        const reply = await this.#usher!.sessions.fetch(pathname + search, {
          as: pathname.endsWith("/now") ? "nobody" : "consumer",
          ...call,
          headers: { accept: "text/html;part=room" }
        })
        if (reply.status < 500 && reply.status !== 429) return await reply.text()
        asked = askedSeconds(reply)
        throw new Error(`${reply.status}`)
      } catch (error) {
        this.#tell("usher-error", error)
      }
      await pause(seconds, undefined, asked)
    }
    return ""
  }

  /** Links to other screens of the room stay inside. */
  #clicked(event: Event): void {
    const link = (event.target as Element).closest("a")
    if (!link || new URL(link.href).pathname !== `/e/${this.#store!.id}/place`) return
    event.preventDefault()
    void this.#usher!.sessions.start({}).then(() => this.#swap(`place${new URL(link.href).search}`))
  }

  /** Sends the forms of the room as the consumer. The form to the shop goes its own way. */
  #submitted(event: SubmitEvent): void {
    const form = event.target as HTMLFormElement
    const { pathname, search, origin } = new URL(form.action)
    const [, , id, action] = pathname.split("/")
    if (origin !== new URL(this.#usher!.sessions.url).origin || id !== this.#store!.id || !action) return
    event.preventDefault()
    if (this.#isSending) return
    this.#isSending = true
    const fields = new URLSearchParams(new FormData(form) as never)
    this.#send(action, action + search, fields)
      .catch((error: unknown) => this.#tell("usher-error", error))
      .finally(() => (this.#isSending = false))
  }

  async #send(action: string, path: string, fields: URLSearchParams): Promise<void> {
    const usher = this.#usher!
    if (action === "sign-out") return usher.signOut()
    await usher.sessions.start({})
    if (action === "code") {
      const isIn = await this.#signedIn(fields)
      const then = fields.get("then")
      if (isIn) return then ? this.#send(then, then, fields) : undefined
      // The room says that the code is wrong. It must not count as wrong twice.
      fields.set("code", "")
    }
    await this.#swap(path, { method: "POST", form: fields })
    const challenge = this.#root.querySelector<HTMLElement>("[data-challenge]")?.dataset["challenge"]
    const solution = challenge && (await (await import("./challenge.ts")).solve(challenge))
    if (solution) {
      fields.set("solution", solution)
      return this.#send(action, path, fields)
    }
    await this.#store!.load()
  }

  /** Signs in. The tokens belong to the client. */
  async #signedIn(fields: URLSearchParams): Promise<boolean> {
    const value = (name: string) => fields.get(name) ?? ""
    const to = fields.has("phone") ? { phone: value("phone") } : { email: value("email") }
    const code = this.#usher!.verifyCode(to, value("code").trim(), {}, value("request"))
    return code.then(
      () => true,
      () => false
    )
  }

  /** Countdowns and announcements. */
  #tick(): void {
    this.#alive?.(this.#store!.getSnapshot().aheadMillis)
  }
}

customElements.define("usher-experience", UsherExperience)
