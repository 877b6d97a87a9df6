/**
 * Keeps a room up to date. The page works without it: this script sends the same forms, replaces the visitor's part
 * when it changes, and counts down. After any failure, the last known state stays shown.
 */
import { solve } from "../../client/challenge.ts"
import { askedSeconds, follow, pause, pauseSecondsMax, Refusal } from "../../client/follow.ts"
import { serverNow, takeServerTime } from "../../client/clock.ts"
import { countdownText } from "../../client/countdown.ts"
import { makeRedirect } from "../../client/redirect.ts"
import { fill, language } from "./formats.ts"
import { makeNotification } from "./notification.ts"
import { makePosition, type Standing } from "./position.ts"
import { trustedHtml } from "./trustedHtml.ts"

const box = document.getElementById("room")!
const said = document.getElementById("said")!
const broken = document.getElementById("link")!
const words: Record<string, string> = JSON.parse(document.getElementById("words")!.textContent)
const base = /^\/e\/[^/]+/.exec(location.pathname)![0]

/** Milliseconds between two reads of the public facts, and of those of a page with an auction. */
const factsMillis = 20_000
const auctionFactsMillis = 5_000

let swaps = 0
/** Ends with the answer to the visitor's last action. */
let asked: Promise<void> | undefined
let seenAt = performance.now()

const isShell = () => box.dataset["shell"] !== undefined
const mayHavePlace = () => /(?:^|; )usher-here=1/.test(document.cookie)
const pieces = () => box.firstElementChild as HTMLElement
const all = <E extends HTMLElement>(selector: string) => [...box.querySelectorAll<E>(selector)]
const say = (text: string) => {
  if (said.textContent !== text) said.textContent = text
}

const redirect = makeRedirect(box, () => language, say)
const notification = makeNotification(box, base)
const position = makePosition(say)

/** The address of the visitor's part; for a visitor without a place, of the public facts. */
const partUrl = () => base + (isShell() && !mayHavePlace() ? "/now" : "/place") + location.search

/** Fetches a part, again and again while the server is out of reach or busy. */
async function part(url: string, init?: RequestInit): Promise<string> {
  for (let seconds = 1; ; seconds = Math.min(pauseSecondsMax, seconds * 2)) {
    let asked = 0
    try {
      const reply = await fetch(url, {
        ...init,
        headers: { accept: "text/html;part=room" },
        credentials: "same-origin"
      })
      takeServerTime(reply)
      if (reply.status !== 429 && reply.status < 500) {
        broken.hidden = true
        return await reply.text()
      }
      asked = askedSeconds(reply)
    } catch {}
    broken.hidden = false
    await pause(seconds, undefined, asked)
  }
}

/** Replaces the visitor's part. `isAsked`: the visitor has done something, so the focus moves to the outcome. */
async function swap(isAsked = false, actionUrl?: string, init?: RequestInit): Promise<void> {
  // The outcome of an action is shown, and has the focus, although a stream may tell of it earlier.
  if (!isAsked) await asked
  // An action changes the address of the page.
  const url = actionUrl ?? partUrl()
  const mine = ++swaps
  const html = await part(url, init)
  // A later request has the later state.
  if (mine !== swaps) return
  const before = pieces().dataset["statuses"]
  const typed = all<HTMLInputElement>("input:not([type=hidden]),select").map(
    (field) => [keyOf(field), field.value, field.checked] as const
  )
  const opened = all<HTMLDetailsElement>("details").map(({ open }) => open)
  const focused = document.activeElement as HTMLElement
  const focusKey = box.contains(focused) ? keyOf(focused) : ""
  box.innerHTML = trustedHtml(html)
  if (mayHavePlace() && !url.startsWith(`${base}/now`)) leaveShell()
  const fields = all<HTMLInputElement>("input:not([type=hidden]),select,button,a,summary,h2")
  if (!isAsked) {
    for (const [key, value, checked] of typed)
      for (const field of fields) if (keyOf(field) === key) Object.assign(field, { value, checked })
    all<HTMLDetailsElement>("details").forEach((details, index) => (details.open = opened[index] ?? details.open))
  }
  const heading = box.querySelector<HTMLElement>("[data-acted] h2") || box.querySelector<HTMLElement>("h2")
  seenAt = performance.now()
  const hasChanged = pieces().dataset["statuses"] !== before
  notification.show()
  const mustMove = isAsked || (hasChanged && box.querySelector("[data-continue]"))
  // A control that is gone leaves its focus to the heading.
  const same = mustMove ? undefined : fields.find((field) => keyOf(field) === focusKey)
  if (mustMove || focusKey) (same || box.querySelector<HTMLElement>("[role=alert]") || heading || box).focus()
  if (hasChanged) {
    redirect.reset()
    position.reset()
    say(heading?.textContent ?? "")
    if (box.querySelector("[data-status=GRANTED]"))
      notification.notify(heading!.textContent, document.querySelector("h1")!.textContent)
  }
  tick()
  watch()
}

/** For what all visitors see at once: their pages come over two seconds, when caches are a second old. */
const swapSoon = (times = 1) => setTimeout(swap as () => void, (1100 + Math.random() * 2000) * times)

/** From now on the page is the visitor's own. */
function leaveShell(): void {
  delete box.dataset["shell"]
  hideLink()
}

/** The link to the place is for visitors whose page cannot tell whether they have one. */
function hideLink(): void {
  document.getElementById("to-place")?.remove()
}

/** Names a control in its card, or a heading. */
const keyOf = (field: HTMLElement) => {
  const { id, name, href } = field as HTMLInputElement & HTMLAnchorElement
  return [id, field.closest<HTMLElement>("[data-id]")?.dataset["id"], name, href].join()
}

/** Forms go out without leaving the page, else the browser sends them. A first entry has a name, so it can be repeated. */
document.addEventListener("submit", (event) => {
  const form = event.target as HTMLFormElement
  const isOwn = form.method === "post" && form.action.startsWith(location.origin)
  if (!isOwn || "whole" in form.dataset || /sign-out/.test(form.action)) return
  event.preventDefault()
  const button = form.querySelector("button")
  if (button?.ariaDisabled === "true") return
  if (button) button.ariaDisabled = "true"
  const body = new URLSearchParams(new FormData(form) as never)
  if (!mayHavePlace() && "randomUUID" in crypto) body.set("attempt", crypto.randomUUID())
  send(form.action, body).catch(() => form.submit())
})

/** Sends a form. A challenge is solved, and the form sent again; one of a provider needs a page of its own. */
async function send(url: string, body: URLSearchParams): Promise<void> {
  await (asked = swap(true, url, { method: "POST", body }))
  leaveShell()
  box.querySelector<HTMLFormElement>("form[data-whole]")?.submit()
  // A screen that the address asks for has served its purpose.
  history.replaceState("", "", base + "/place" + new URL(url).search)
  const challenge = box.querySelector<HTMLElement>("[data-challenge]")?.dataset["challenge"]
  const solution = challenge && (await solve(challenge))
  if (!solution) return
  body.set("solution", solution)
  await send(url, body)
}

/** The reported facts of a place. */
interface PlaceState {
  readonly status?: string
  readonly isEntered?: boolean
  readonly position?: number | null
  readonly estimatedWaitTimeInSeconds?: number
  readonly waitRange?: Standing["waitRange"]
}

/** The last report of each kind. */
const known = new Map<string, string>()

/** The report of the stream, or of a poll, about the visitor's place. */
function onState(kind: string, state: PlaceState): void {
  broken.hidden = true
  const card = box.querySelector<HTMLElement>(`[data-kind="${kind}"]`)
  const status = state.isEntered !== undefined ? (state.isEntered ? "LISTED" : "NOT_LISTED") : state.status
  const shown = status === "QUEUED" && state.position === undefined ? "LOBBY" : status
  const before = known.get(kind)
  known.set(kind, JSON.stringify(state))
  const hasChanged = before !== undefined && before !== known.get(kind)
  if (card?.dataset["status"] !== shown) {
    // Those who leave a lobby do so at once.
    if (card?.dataset["status"] === "LOBBY") swapSoon()
    else void swap()
  } else if (typeof state.position === "number") {
    position.show(card!, state as Standing)
    // The rate is another one, or paused. All that wait learn of it at once, and what is cached is seconds old.
    if (hasChanged && JSON.parse(before).position === state.position)
      setTimeout(refreshFacts as () => void, 3000 + Math.random() * 2000)
  } else if (hasChanged) void swap()
}

/** The place that is followed, as `{kind}.{id}`. */
let followed: { readonly of: string; readonly stop: () => void } | undefined

function unfollow(): void {
  followed?.stop()
  followed = undefined
}

/** Follows the place that the page names, if there is one and the page is seen or is to notify of the turn. */
function watch(): void {
  const of = document.hidden && !notification.isAsked() ? undefined : pieces().dataset["live"]
  if (followed?.of === of) return
  unfollow()
  if (of === undefined) return
  const stop = follow<PlaceState>(
    {
      name: `usher ${base} ${of}`,
      open: (signal) => fetch(`${base}/live?of=${of}`, { signal, credentials: "same-origin" }),
      ask: () => placeState(of)
    },
    {
      onState: (state) => onState(of.slice(0, of.indexOf(".")), state),
      // No further event will come: the page shows the outcome of the place.
      onEnd: () => {
        followed = undefined
        swapSoon()
      },
      onFailure: () => (broken.hidden = false)
    }
  )
  followed = { of, stop }
}

/** Asks for the place once. */
async function placeState(of: string): Promise<PlaceState | undefined> {
  const reply = await fetch(`${base}/state`, { credentials: "same-origin" })
  if (!reply.ok) throw new Refusal(reply)
  const { places } = (await reply.json()) as { readonly places: ReadonlyArray<PlaceState & { readonly id: string }> }
  return places.find(({ id }) => of.endsWith(id))
}

/** How often each instant has passed. A page that stays as it is asks less and less often. */
const passed: Record<string, number> = {}

/** Counts down by the server's clock, and announces the last minute. */
function tick(): void {
  for (const time of all<HTMLTimeElement>("time[data-until]")) {
    const left = Math.max(0, Date.parse(time.dateTime) - serverNow())
    const shown = countdownText(Math.ceil(left / 1000), language)
    if (!time.dataset["until"] && time.textContent !== shown) time.textContent = shown
    if (left === 0) {
      delete time.dataset["until"]
      swapSoon((passed[time.dateTime] = (passed[time.dateTime] || 0) + 1))
    } else if (left <= 60_000 && time.dataset["warn"] !== undefined) {
      say(time.dataset["warn"])
      delete time.dataset["warn"]
    }
  }
  for (const time of all<HTMLTimeElement>("time[data-zone]:empty")) {
    const at = new Date(time.dateTime)
    const here = Intl.DateTimeFormat().resolvedOptions().timeZone
    const text = at.toLocaleString(language, {
      weekday: "short",
      hour: "numeric",
      minute: "2-digit",
      timeZoneName: "short"
    })
    if (here !== time.dataset["zone"]) time.textContent = fill(words["inYourZone"]!, { time: text })
  }
  redirect.tick()
}

/**
 * Reads the public facts, which caches answer. A mechanism that opens, closes or sells out needs another page; a fact,
 * such as the highest bid, changes only its text.
 */
async function readFacts(): Promise<void> {
  const reply = await fetch(`${base}/now${location.search}`, { headers: { accept: "text/html;part=room" } })
  if (!reply.ok) return
  takeServerTime(reply)
  const shown = document.createElement("template")
  shown.innerHTML = trustedHtml(await reply.text())
  for (const theirs of shown.content.querySelectorAll<HTMLElement>("[data-id]")) {
    const mine = box.querySelector<HTMLElement>(`[data-id="${theirs.dataset["id"]}"]`)
    if (!mine) continue
    if (mine.dataset["open"] !== theirs.dataset["open"]) return swap()
    for (const fact of theirs.querySelectorAll<HTMLElement>("[data-fact]")) {
      const field = mine.querySelector(`[data-fact="${fact.dataset["fact"]}"]`)
      const isTime = fact instanceof HTMLTimeElement
      if (!field || (!isTime && field.textContent === fact.textContent)) continue
      // At a falling price the form has the price too.
      if (fact.dataset["fact"] === "price") return swap()
      if (isTime) (field as HTMLTimeElement).dateTime = fact.dateTime
      else field.replaceChildren(...fact.childNodes)
    }
  }
}

function refreshFacts(): Promise<void> {
  seenAt = performance.now()
  return readFacts().catch(() => {})
}

setInterval(() => {
  tick()
  const every = box.querySelector("[data-kind=auction]") ? auctionFactsMillis : factsMillis
  if (!document.hidden && performance.now() - seenAt >= every && box.querySelector("[data-id]")) void refreshFacts()
}, 1000)

/** A device that wakes up has a dead stream that looks alive: ask at once, and open another. */
const wake = () => {
  if (document.hidden) return watch()
  unfollow()
  // A visitor who types a code may come back from its mail.
  if (!box.querySelector('[data-statuses=""] input')) void swap()
}
document.addEventListener("visibilitychange", wake)
addEventListener("pageshow", (event) => event.persisted && wake())
addEventListener("online", wake)

if (isShell() && mayHavePlace()) void swap()
else {
  hideLink()
  watch()
}
notification.show()
// The device's clock may be wrong, so a page that counts down asks early.
if (box.querySelector("[data-until='']")) seenAt -= factsMillis - Math.random() * 3000
tick()
