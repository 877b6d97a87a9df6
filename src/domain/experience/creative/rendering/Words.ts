/** The text of an email's nodes, shared by HTML and plain text: instants, labels and URLs. */
import { DateTime, Option } from "effect"
import { byKind, declarations, kindNames } from "../../../mechanism/Mechanism.ts"
import { anyInstantOf, type Millis } from "../../../values/Time.ts"
import type { EmailNode } from "../EmailNode.ts"
import { fill, type Values } from "./Placeholders.ts"

/** The format of an instant: `at` in words, `locale` in figures. */
export type InstantFormat = "at" | "locale"

const localPattern = /^\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)?$/

/**
 * Formatters by format and zone. Creating one takes longer than rendering an email. Their number is bounded by the
 * number of zones.
 */
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
 * Formats ISO 8601 text in a time zone, such as `November 21, 2026 at 6:00 PM UTC`. Text without an offset is local
 * time in that zone. Text that is not an instant is returned unchanged. An unknown zone is treated as UTC.
 */
export const instantText = (iso: string, timeZone: string, format: InstantFormat): string => {
  const zone = zoneOf(timeZone)
  const at = instantIn(iso, zone)
  return at === undefined ? iso : formatterOf(zone.id, format).format(at).replaceAll("\u202f", " ")
}

/** Limit of different instants per email that are formatted; each takes about 50 µs. */
const instantsMax = 100

/** Returns the text of a `date-time` node. `known` caches the instants of its email. */
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

const zoneOf = (timeZone: string): DateTime.TimeZone.Named =>
  Option.getOrElse(DateTime.zoneMakeNamed(timeZone), () => DateTime.zoneMakeNamedUnsafe("UTC"))

/** Returns the instant of ISO 8601 text. Text without an offset is local time in the zone. Undefined if it is none. */
export const instantOf = (iso: string, timeZone: string): Millis | undefined => instantIn(iso.trim(), zoneOf(timeZone))

const instantIn = (iso: string, timeZone: DateTime.TimeZone): Millis | undefined => {
  if (!localPattern.test(iso)) return anyInstantOf(iso)
  const at = anyInstantOf(iso.length === "YYYY-MM-DD".length ? `${iso}T00:00Z` : `${iso}Z`)
  if (at === undefined) return undefined
  return DateTime.toEpochMillis(DateTime.makeZonedUnsafe(at, { timeZone, adjustForTimeZone: true }))
}

const invitations = byKind((kind) => declarations[kind].invitation)

/** Returns the text of a `dynamic-text` node for a kind of mechanism. Other input is returned unchanged. */
export const dynamicText = (transform: "distribution-type-label" | "waitlist-action-text", input: string): string => {
  const texts: { readonly [type: string]: string } = transform === "distribution-type-label" ? kindNames : invitations
  const type = input.trim().toLowerCase().replaceAll(/[- ]/g, "_")
  return Object.hasOwn(texts, type) ? texts[type]! : input
}

const linkProtocols: ReadonlySet<string> = new Set(["https:", "http:", "mailto:", "tel:"])
const imageProtocols: ReadonlySet<string> = new Set(["https:", "http:"])

/** Returns the URL of a link; undefined unless it is absolute and has a scheme that an email may link to. */
export const linkAddress = (template: string, values: Values): string | undefined =>
  addressOf(template, values, linkProtocols)

/** Returns the URL of an image, likewise. */
export const imageAddress = (template: string, values: Values): string | undefined =>
  addressOf(template, values, imageProtocols)

/** Returns the address of a footer's support as a link; undefined if the text is not an email address. */
export const mailAddress = (text: string): string | undefined =>
  /^[^\s@<>"?&]+@[^\s@<>"?&]+$/.test(text) ? `mailto:${text}` : undefined

/** Values are encoded within a URL, so they cannot add a path, a query or another address. */
const addressOf = (template: string, values: Values, protocols: ReadonlySet<string>): string | undefined => {
  const text = fill(template, values, encodeURIComponent).trim()
  if (!URL.canParse(text)) return undefined
  const { protocol, href } = new URL(text)
  return protocols.has(protocol) ? href : undefined
}
