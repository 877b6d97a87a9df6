/** The head of a drop: its name and state, the way to its room, and its tabs. */
import { kindNames } from "../../../domain/mechanism/Mechanism.ts"
import { type Html, html } from "../../Html.ts"
import type { Screen } from "../Frame.ts"
import { badge, count, type Tone } from "../Parts.ts"
import { zonedInstant } from "../Table.ts"
import { type Drop, isPaused, type Mechanism } from "./Drop.ts"
import { span } from "./KindView.ts"
import type { Tab, TabBody } from "./Tab.ts"

/** The screen of a tab. */
export const screenOf = (drop: Drop, tabs: ReadonlyArray<Tab>, tab: Tab, body: TabBody): Screen => ({
  ...body,
  title: drop.experience.name,
  badge: statePart(drop),
  links: html`<a class="button quiet" href="${drop.roomUrl}" target="_blank" rel="noopener">Open room ↗</a>
    <button type="button" class="quiet" data-copy="${drop.roomUrl}" hidden>Copy link</button>`,
  below: html`<p class="facts-line">${factsOf(drop)}</p>
    <nav class="tabs" aria-label="Drop">
      ${tabs.map((one) => html`<a href="${drop.path}${one.path}" ${one.path === tab.path && html`aria-current="page"`}>${one.title}${behind(one.count?.(drop))}</a> `)}
    </nav>`
})

const behind = (value: number | undefined): string => (value === undefined ? "" : ` ${count(value)}`)

/** The state of all mechanisms together. */
export interface DropState {
  readonly tone: Tone
  readonly word: "Live" | "Paused" | "Next" | "Settling" | "Over" | "Empty"
  /** When it opens, or when it opened. */
  readonly at: number | undefined
}

/** Returns the state of a drop: the liveliest of its mechanisms. */
export const stateOf = (
  mechanisms: ReadonlyArray<Pick<Mechanism, "lifecycle" | "openAt"> & Partial<Mechanism>>
): DropState => {
  const those = (lifecycle: Mechanism["lifecycle"]) => mechanisms.filter((one) => one.lifecycle === lifecycle)
  const earliest = (all: typeof mechanisms) => {
    const times = all.flatMap(({ openAt }) => (openAt === null ? [] : [openAt]))
    return times.length === 0 ? undefined : Math.min(...times)
  }
  const open = those("open")
  if (open.length > 0) {
    const at = earliest(open)
    return open.every((one) => isPaused(one as Mechanism))
      ? { tone: "warn", word: "Paused", at }
      : { tone: "ok", word: "Live", at }
  }
  const next = those("scheduled")
  if (next.length > 0) return { tone: "next", word: "Next", at: earliest(next) }
  if (those("settling").length > 0) return { tone: "warn", word: "Settling", at: earliest(mechanisms) }
  return mechanisms.length === 0
    ? { tone: "over", word: "Empty", at: undefined }
    : { tone: "over", word: "Over", at: earliest(mechanisms) }
}

export const stateBadge = (mechanisms: Parameters<typeof stateOf>[0], now: number): Html => {
  const { tone, word, at } = stateOf(mechanisms)
  const isTimed = at !== undefined && (word === "Live" || word === "Next") && Math.abs(now - at) < spanMax
  return badge(html`${word}${isTimed && ` ${word === "Next" ? "in " : ""}${span(Math.abs(now - at))}`}`, tone)
}

/** The state of a drop, as a part that the script replaces. */
export const statePart = ({ mechanisms, now }: Drop): Html =>
  html`<span data-part="state">${stateBadge(mechanisms, now)}</span>`

/** A longer span says nothing in a badge. */
const spanMax = 365 * 86_400_000

const factsOf = ({ experience, mechanisms }: Drop): Html => {
  const { timeZone } = experience
  const kinds = [...new Set(mechanisms.map(({ type }) => kindNames[type]))].join(", ")
  const ends = endOf(experience, mechanisms)
  const opens = experience.openAt !== null && html` · opens ${zonedInstant(experience.openAt, timeZone)}`
  return html`${kinds === "" ? "Nothing in it yet" : kinds} ${opens}
  ${ends !== undefined && html` · ${ends === "open" ? "open until you end it" : html`closes ${zonedInstant(ends, timeZone)}`}`}
  · ${timeZone}`
}

/**
 * Returns when a drop closes: at its own closing, or with the last of its mechanisms. `open`: one of them stays open until
 * somebody ends it. Undefined: nothing is left to be closed.
 */
export const endOf = (
  { window }: Pick<Drop["experience"], "window">,
  mechanisms: ReadonlyArray<Pick<Mechanism, "type" | "lifecycle" | "closeAt">>
): number | "open" | undefined => {
  const left = mechanisms.filter(({ type, lifecycle }) => type !== "waitlist" && !isOver(lifecycle))
  if (left.length === 0) return undefined
  const closings = left.flatMap(({ closeAt }) => closeAt ?? [])
  const last = closings.length < left.length ? Infinity : Math.max(...closings)
  const end = Math.min(last, window.closeAt ?? Infinity)
  return end === Infinity ? "open" : end
}

const isOver = (lifecycle: Mechanism["lifecycle"]): boolean => lifecycle === "closed" || lifecycle === "settling"
