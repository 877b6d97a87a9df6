/**
 * Keeps a room alive. The page works without it: this script sends the same forms, replaces the visitor's part when it
 * changes, and counts down. Whatever fails, the last known state stays shown.
 */
import { solve } from "../../client/challenge.ts"
import { clock } from "../../client/moving/clock.ts"
import { makeTurn } from "../../client/moving/turn.ts"
import { duration, fill, language, number } from "./formats.ts"
import { follow, type Told } from "./live.ts"
import { look } from "./look.ts"
import { trusted } from "./trusted.ts"

const box = document.getElementById("room")!
const said = document.getElementById("said")!
const broken = document.getElementById("link")!
const words: Record<string, string> = JSON.parse(document.getElementById("words")!.textContent)
const base = /^\/e\/[^/]+/.exec(location.pathname)![0]

/** Seconds between two looks at a page, and at one with an auction. */
const lookSeconds = 20
const auctionLookSeconds = 5
const announceMillis = 60_000
const cachedMillis = 3_000

/** Milliseconds by which the server's clock is ahead. */
let ahead = 0
let announcedAt = 0
let announced = Infinity
let first = 0
let swaps = 0
let swappedAt = 0

const isShell = () => box.dataset["shell"] !== undefined
const mayHavePlace = () => /(?:^|; )usher-here=1/.test(document.cookie)
const pieces = () => box.firstElementChild as HTMLElement
const all = <E extends HTMLElement>(selector: string) => [...box.querySelectorAll<E>(selector)]
const wait = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis * (0.75 + Math.random() / 2)))
const say = (text: string) => {
  if (said.textContent !== text) said.textContent = text
}

const turn = makeTurn(box, () => language, say)

/** Where the visitor's part is; for a visitor without a place, what everybody sees. */
const partUrl = () => base + (isShell() && !mayHavePlace() ? "/now" : "/place") + location.search

/** Fetches a part, again and again while the server is out of reach or busy. */
async function part(url: string, init?: RequestInit): Promise<string> {
  for (let pause = 1; ; pause = Math.min(60, pause * 2)) {
    let seconds = pause
    try {
      const reply = await fetch(url, {
        ...init,
        headers: { accept: "text/html;part=room" },
        credentials: "same-origin"
      })
      const date = Date.parse(reply.headers.get("date") ?? "")
      if (date > 0 && reply.headers.get("cache-control") === "no-store") ahead = date + 500 - Date.now()
      if (reply.status !== 429 && reply.status < 500) {
        broken.hidden = true
        return await reply.text()
      }
      seconds = Number(reply.headers.get("retry-after")) || pause
    } catch {}
    broken.hidden = false
    await wait(seconds * 1000)
  }
}

/** Replaces the visitor's part. `isAsked`: the visitor has done something, so the focus moves to the outcome. */
async function swap(isAsked = false, url = partUrl(), init?: RequestInit): Promise<void> {
  const mine = ++swaps
  const html = await part(url, init)
  // A later request has the later state.
  if (mine !== swaps) return
  const before = pieces().dataset["statuses"]
  const typed = all<HTMLInputElement>("input:not([type=hidden]),select").map(
    (field) => [keyOf(field), field.value] as const
  )
  const opened = all<HTMLDetailsElement>("details").map(({ open }) => open)
  const focused = document.activeElement
  const focusKey = focused instanceof HTMLElement && box.contains(focused) ? keyOf(focused) : ""
  box.innerHTML = trusted(html)
  if (mayHavePlace() && !url.startsWith(`${base}/now`)) leaveShell()
  const fields = all<HTMLInputElement>("input:not([type=hidden]),select,button")
  if (!isAsked) {
    for (const [key, value] of typed) for (const field of fields) if (keyOf(field) === key) field.value = value
    all<HTMLDetailsElement>("details").forEach((details, index) => (details.open = opened[index] ?? details.open))
  }
  const heading = box.querySelector<HTMLElement>("h2")
  const wasOnHeading = focusKey !== "" && focused?.tagName === "H2"
  swappedAt = Date.now()
  const hasChanged = pieces().dataset["statuses"] !== before
  if (isAsked || wasOnHeading || (hasChanged && box.querySelector("[data-continue]")))
    (box.querySelector<HTMLElement>("[role=alert]") ?? heading)?.focus()
  else fields.find((field) => focusKey !== "" && keyOf(field) === focusKey)?.focus()
  if (hasChanged) {
    first = 0
    turn.reset()
    document.title = document.title.replace(/^\([^)]*\) /, "")
    announced = Infinity
    say(heading?.textContent ?? "")
  }
  tick()
  watch()
}

/** From now on the page is the visitor's own. */
function leaveShell(): void {
  delete box.dataset["shell"]
  document.getElementById("to-place")?.remove()
}

const keyOf = (field: HTMLElement) =>
  field.id || `${(field as HTMLInputElement).form?.action} ${(field as HTMLInputElement).name}`

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
  await swap(true, url, { method: "POST", body })
  leaveShell()
  box.querySelector<HTMLFormElement>("form[data-whole]")?.submit()
  if (history.state !== "place" && !location.pathname.endsWith("/place")) {
    history.replaceState("place", "", base + "/place" + new URL(url).search)
  }
  const challenge = box.querySelector<HTMLElement>("[data-challenge]")?.dataset["challenge"]
  const solution = challenge === undefined ? undefined : await solve(challenge)
  if (solution === undefined) return
  body.set("solution", solution)
  await send(url, body)
}

/** What was told last of each kind. */
const known = new Map<string, string>()

/** What the stream, or a poll, tells of the visitor's place. */
function told(kind: string, state: Told): void {
  broken.hidden = true
  const card = box.querySelector<HTMLElement>(`[data-kind="${kind}"]`)
  const status = state.isEntered !== undefined ? (state.isEntered ? "LISTED" : "NOT_LISTED") : state.status
  const shown = status === "QUEUED" && state.position === undefined ? "LOBBY" : status
  if (card?.dataset["status"] !== shown) {
    // Those who leave a lobby do so at once. Their pages come over two seconds.
    if (card?.dataset["status"] === "LOBBY") void wait(1000).then(() => swap())
    else void swap()
  } else if (typeof state.position === "number") place(card!, state.position, state.estimatedWaitTimeInSeconds)
  else if (known.has(kind) && known.get(kind) !== JSON.stringify(state)) void swap()
  known.set(kind, JSON.stringify(state))
}

function place(card: HTMLElement, position: number, seconds: number | undefined): void {
  const text = (name: string, value: string) => {
    const field = card.querySelector(`[data-text="${name}"]`)
    if (field && field.textContent !== value) field.textContent = value
  }
  const shown = number.format(position)
  first = Math.max(first, position)
  text("position", shown)
  if (seconds !== undefined) text("wait", duration(seconds))
  const progress = card.querySelector("progress")
  if (progress) {
    progress.max = first
    progress.value = first - position
    document.title = document.title.replace(/^(\([^)]*\) )?/, `(${shown}) `)
  }
  // Once a minute at most, and after a tenth of the way.
  const now = Date.now()
  if (announced !== Infinity && (now - announcedAt < announceMillis || position > announced * 0.9)) return
  if (announced !== Infinity)
    say(fill(card.querySelector<HTMLElement>("[data-said]")!.dataset["said"]!, { position: shown }))
  announcedAt = now
  announced = position
}

/** Follows the place that the page names, if there is one and the page is seen. */
function watch(): void {
  const of = document.hidden ? undefined : pieces().dataset["live"]
  follow(base, of, {
    told,
    // No further event will come: the page says what became of the place.
    ended: () => void wait(1000).then(() => swap()),
    failed: () => (broken.hidden = false)
  })
}

/** Counts down by the server's clock, and announces the last minute. */
function tick(): void {
  const now = Date.now() + ahead
  for (const time of all<HTMLTimeElement>("time[data-until]")) {
    const left = Math.max(0, Date.parse(time.dateTime) - now)
    const shown = clock(Math.ceil(left / 1000), language)
    if (time.textContent !== shown) time.textContent = shown
    if (left === 0) {
      delete time.dataset["until"]
      // What opens, opens for all: their pages come over two seconds, and what is cached is a second old.
      void wait(1500).then(() => swap())
    } else if (left <= 60_000 && time.dataset["warn"] !== undefined) {
      say(time.dataset["warn"])
      delete time.dataset["warn"]
    }
  }
  for (const time of all<HTMLTimeElement>("time[data-zone]:empty")) {
    const at = new Date(time.dateTime)
    const here = Intl.DateTimeFormat().resolvedOptions().timeZone
    const text = at.toLocaleString(language, { weekday: "short", hour: "numeric", minute: "2-digit" })
    if (here !== time.dataset["zone"]) time.textContent = fill(words["inYourZone"]!, { time: text })
  }
  turn.goOn()
}

let looks = 0
setInterval(() => {
  tick()
  looks += 1
  const every = box.querySelector("[data-kind=auction]") ? auctionLookSeconds : lookSeconds
  // What was fetched a moment ago may be newer than what caches have.
  const isRecent = Date.now() - swappedAt < cachedMillis
  if (!document.hidden && !isRecent && looks % every === 0 && box.querySelector("[data-id]"))
    look(`${base}/now${location.search}`, box, trusted, () => swap()).catch(() => {})
}, 1000)

/** A device that wakes up has a dead stream that looks alive: ask at once, and open another. */
const wake = () => {
  if (document.hidden) watch()
  else void swap()
}
document.addEventListener("visibilitychange", wake)
addEventListener("pageshow", (event) => event.persisted && wake())
addEventListener("online", wake)

if (isShell() && mayHavePlace()) void swap()
else watch()
tick()
