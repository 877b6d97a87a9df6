/**
 * What the nodes of an email say, whether it is written as HTML or as plain text: instants, labels and addresses.
 */
import { DateTime, Option } from "effect"
import type { Millis } from "../../../values/Time.ts"
import type { EmailNode } from "../EmailNode.ts"
import { fill, type Values } from "./Placeholders.ts"

/** How an instant is written: `at` in words, `locale` in figures. */
export type InstantFormat = "at" | "locale"

const instantPattern = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/

/** Formatters by format and zone: to make one takes longer than to write an email. There are as many as there are zones. */
const formatters = new Map<string, Intl.DateTimeFormat>()

const formatterOf = (timeZone: string, format: InstantFormat): Intl.DateTimeFormat => {
  const key = `${format} ${timeZone}`
  const known = formatters.get(key)
  if (known !== undefined) return known
  const formatter = new Intl.DateTimeFormat("en-US", {
    year: "numeric",
    month: format === "at" ? "long" : "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
    timeZoneName: "short",
    timeZone
  })
  formatters.set(key, formatter)
  return formatter
}

/**
 * ISO 8601 text in words of a time zone, such as `November 21, 2026 at 6:00 PM UTC`. Text without an offset is local time
 * in that zone; text that is no instant is left as it is. A zone that is not known is taken for UTC.
 */
export const instantText = (iso: string, timeZone: string, format: InstantFormat): string => {
  const zone = Option.getOrElse(DateTime.zoneMakeNamed(timeZone), () => DateTime.zoneMakeNamedUnsafe("UTC"))
  const at = instantOf(iso, zone)
  return at === undefined ? iso : formatterOf(zone.id, format).format(at).replaceAll("\u202f", " ")
}

/** Different instants of one email that are put into words: it takes some 50 µs each. */
const instantsMax = 100

/** The text of a `date-time` node. `known` remembers the instants of its email. */
export const dateTimeText = (
  { iso, timeZone, format = "at" }: Extract<EmailNode, { readonly type: "date-time" }>,
  { values, known }: { readonly values: Values; readonly known: Map<string, string> }
): string => {
  const [instant, zone] = [fill(iso, values).trim(), fill(timeZone, values).trim()]
  const key = JSON.stringify([instant, zone, format])
  const text = known.get(key) ?? (known.size < instantsMax ? instantText(instant, zone, format) : instant)
  if (known.size < instantsMax) known.set(key, text)
  return text
}

const instantOf = (iso: string, timeZone: DateTime.TimeZone): Millis | undefined => {
  const match = instantPattern.exec(iso)
  if (match === null) return undefined
  const isLocal = match[1] === undefined
  const at = Date.parse(isLocal && iso.includes("T") ? `${iso}Z` : iso)
  if (Number.isNaN(at) || !isLocal) return Number.isNaN(at) ? undefined : at
  return DateTime.toEpochMillis(DateTime.makeZonedUnsafe(at, { timeZone, adjustForTimeZone: true }))
}

const distributionTypeLabels: { readonly [type: string]: string } = {
  queue: "Queue",
  draw: "Draw",
  auction: "Auction",
  appointment: "Appointment",
  timed_release: "Timed release",
  waitlist: "Waitlist"
}

const waitlistActionTexts: { readonly [type: string]: string } = {
  queue: "Join the queue",
  draw: "Enter the draw",
  auction: "Place a bid",
  appointment: "Book an appointment",
  timed_release: "Shop now",
  waitlist: "Join the waitlist"
}

/** The text of a `dynamic-text` node for a kind of mechanism; an input that is none is left as it is. */
export const dynamicText = (transform: "distribution-type-label" | "waitlist-action-text", input: string): string => {
  const texts = transform === "distribution-type-label" ? distributionTypeLabels : waitlistActionTexts
  const type = input.trim().toLowerCase().replaceAll(/[- ]/g, "_")
  return Object.hasOwn(texts, type) ? texts[type]! : input
}

const linkProtocols: ReadonlySet<string> = new Set(["https:", "http:", "mailto:", "tel:"])
const imageProtocols: ReadonlySet<string> = new Set(["https:", "http:"])

/** The address that a link leads to; undefined unless it is absolute and of a kind that an email may link to. */
export const linkAddress = (template: string, values: Values): string | undefined =>
  addressOf(template, values, linkProtocols)

/** The address that an image is loaded from, likewise. */
export const imageAddress = (template: string, values: Values): string | undefined =>
  addressOf(template, values, imageProtocols)

/** The address of a footer's support as a link; undefined if the text is no email address. */
export const mailAddress = (text: string): string | undefined =>
  /^[^\s@<>"?&]+@[^\s@<>"?&]+$/.test(text) ? `mailto:${text}` : undefined

/** A value in an address is a part of it: it cannot add a path, a query or another address. */
const addressOf = (template: string, values: Values, protocols: ReadonlySet<string>): string | undefined => {
  const text = fill(template, values, encodeURIComponent).trim()
  if (!URL.canParse(text)) return undefined
  const { protocol, href } = new URL(text)
  return protocols.has(protocol) ? href : undefined
}
