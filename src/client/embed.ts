/**
 * `<usher-experience experience url key language>`: the visitor's part of a room inside a shop's page. The room writes
 * the pieces, in its words and languages; this shows them in a shadow root, and sends their forms.
 */
import { type ExperienceStore, Usher } from "./client.ts"
import { serverNow } from "./clock.ts"
import { answerTo, UsherError } from "./requests.ts"
import type { Call } from "./sessions.ts"
import { ifAllowed } from "./storage.ts"
import { fieldsOf, statusOf } from "./view.ts"

interface Policies {
  createPolicy(name: string, rules: object): { createHTML(html: string): string }
}

const element = "usher-experience"

/** A page may load this module again, from another address or of another version. */
const isFirst = !customElements.get(element)

/** It takes font and colors from the page around it; `::part` changes the rest. */
const style = `
:host{display:block;--line:color-mix(in srgb,currentColor 25%,transparent)}
:host([hidden]),.way,.ends,[data-text=ahead],[data-range] .muted{display:none}
*{box-sizing:border-box}
.card{border:1px solid var(--line);border-radius:10px;padding:1rem;margin:0 0 1rem}
h2{font-size:1.3em;margin:0 0 .75rem}
.big{font-size:2.2em;font-weight:700;margin:0;font-variant-numeric:tabular-nums}
.muted{opacity:.75}
label{display:block;margin-block:.5rem}
input,select,button,.button,.choice label{font:inherit;min-height:44px;padding:.5rem .75rem;border:1px solid var(--line);border-radius:10px}
input,select{display:block;width:100%}
button,.button,.choice label{display:inline-block;cursor:pointer;color:inherit;background:none}
.choice{border:0;padding:0}
.choice input{all:revert}
.plain{border:0;padding:0;text-decoration:underline}
.small{margin-block-start:1.5rem;font-size:.9em}
[part~=button]{background:CanvasText;color:Canvas}
[role=alert]{border-inline-start:4px solid #a61414;padding-inline-start:.75rem}
nav a{display:inline-block;line-height:44px}`

const sheet = new CSSStyleSheet()
sheet.replaceSync(style)

/** Pieces come from Usher, which has escaped them. A page may refuse the policy, and have one for all HTML. */
const policy = ifAllowed(() =>
  isFirst
    ? (globalThis as { readonly trustedTypes?: Policies }).trustedTypes?.createPolicy("usher", {
        createHTML: (html: string) => html
      })
    : undefined
)

/** The clients of the page. Its widgets share a session, also where the browser keeps none. */
const ushers: { [of: string]: Usher | undefined } = {}

/** The names for `::part`. */
const parts = {
  card: ".card",
  heading: "h2",
  button: "button:not(.quiet,.plain),.button",
  "quiet-button": ".quiet,.plain",
  field: "input,select,.choice label",
  alert: "[role=alert]"
}

class UsherExperience extends HTMLElement {
  readonly #root = this.attachShadow({ mode: "open" })
  /** The contents of the room. */
  readonly #box = document.createElement("div")
  #enhance: ((now: number) => void) | undefined
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
    const [url, publishableKey] = [named("url"), named("key")]
    this.#usher ??= ushers[url + publishableKey] ??= ifAllowed(() => new Usher({ url, publishableKey }))
    // The link stays in a page that names no Usher.
    if (!this.#usher) return
    this.#store ??= this.#usher.experience(named("experience"))
    const stop = this.#store.subscribe(() => this.#changed())
    const timer = setInterval(() => this.#tick(), 1000)
    import("./enhancements.ts").then(
      ({ enhance }) => {
        this.#enhance ??= enhance(this, this.#root, () => this.#language)
        this.#tick()
      },
      () => {}
    )
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
    const { admissionGrant: grant, position } = fieldsOf(view.places[0] ?? {})
    const standing = view.places.map((place) => {
      const { id, state, actions, lifecycle, facts } = place
      const { minimumBid, currentPrice, isFull, admitRate, paused, soldOut } = facts ?? {}
      const terms = [minimumBid, currentPrice, isFull, admitRate, paused, soldOut?.mayReturn]
      return [id, state, actions, lifecycle, statusOf(place), ...terms]
    })
    const now = [view.state, view.session?.consumerId, view.session?.type, standing].join()
    if (now !== this.#shown && view.experience) {
      this.#shown = now
      this.#tell("usher-state", view)
      if (grant) this.#tell("usher-granted", { grant, experienceId: this.#store!.id })
      this.#show(view.session ? "place" : "now")
    }
    const text = this.#root.querySelector<HTMLElement>("[data-text=position]")
    if (text && typeof position === "number") {
      text.textContent = position.toLocaleString(this.#language)
      text.dataset["value"] = `${position}`
    }
  }

  /** The language of the piece, which the room has chosen. */
  get #language(): string {
    return this.#root.querySelector<HTMLElement>("[lang]")?.lang || "en"
  }

  /** Replaces the piece, if the page takes it. */
  #show(path: string): void {
    this.#swap(path).catch(this.#failed)
  }

  readonly #failed = (error: unknown): void => this.#tell("usher-error", error)

  /** Replaces the piece by the room's answer. */
  async #swap(path: string, call: Call = {}): Promise<void> {
    const mine = ++this.#swaps
    const target = new URL(`/e/${this.#store!.id}/${path}`, this.#usher!.sessions.url)
    target.searchParams.set("return", location.href)
    target.searchParams.set("lang", this.getAttribute("language") ?? document.documentElement.lang)
    const { sessions } = this.#usher!
    const as = path === "now" ? "nobody" : "consumer"
    const headers = { accept: "text/html;part=room" }
    // A piece is asked for until another one is. A form is sent until it is answered.
    const fetching = async () =>
      call.method || mine === this.#swaps
        ? sessions.fetch(target.pathname + target.search, { as, ...call, headers })
        : new Response()
    const reached = () => this.#failed(new UsherError(503, { code: "UNREACHABLE" }))
    const html = await (await answerTo(fetching, { reached })).text()
    // A later request has the later state.
    if (mine !== this.#swaps) return
    const template = document.createElement("template")
    template.innerHTML = policy?.createHTML(html) ?? html
    for (const [part, selector] of Object.entries(parts)) {
      for (const one of template.content.querySelectorAll(selector)) one.part.add(part)
    }
    for (const name of ["href", "action"])
      for (const one of template.content.querySelectorAll(`[${name}]`))
        one.setAttribute(name, new URL(one.getAttribute(name)!, target).href)
    const focused = this.#root.activeElement
    this.#box.replaceChildren(template.content)
    this.#tick()
    // After an action the focus is on its outcome. Else it stays where it is, as far as that is still there.
    const same = !call.method && focused?.id && this.#root.getElementById(focused.id)
    const changed = this.#root.querySelector<HTMLElement>("[role=alert],[data-acted] h2")
    if (call.method || focused) (same || changed || this.#root.querySelector("h2"))?.focus()
  }

  /** Links to other screens of the room stay inside. */
  #clicked(event: Event): void {
    const link = (event.target as Element).closest("a")
    if (!link || new URL(link.href).pathname !== `/e/${this.#store!.id}/place`) return
    event.preventDefault()
    void this.#usher!.sessions.start({}).then(() => this.#show(`place${new URL(link.href).search}`))
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
      .catch(this.#failed)
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
    // The next form need not wait for this.
    this.#store!.load().catch(this.#failed)
  }

  /** Signs in. The tokens belong to the client. */
  async #signedIn(fields: URLSearchParams): Promise<boolean> {
    const value = (name: string) => fields.get(name) ?? ""
    const to = fields.has("phone") ? { phone: value("phone") } : { email: value("email") }
    const code = this.#usher!.verifyCode(to, value("code"), {}, value("request"))
    return code.then(
      () => true,
      () => false
    )
  }

  /** Countdowns and announcements. */
  #tick(): void {
    this.#enhance?.(serverNow())
  }
}

if (isFirst) customElements.define(element, UsherExperience)
