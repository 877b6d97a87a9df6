/**
 * Numbers, amounts, instants and durations in the language of a page, by `Intl`. A time that the clock of its zone shows
 * twice, because it is put back, has its offset from UTC with it: `2:30 AM GMT+1`.
 */
import { DateTime, Option, Result } from "effect"
import { SegmentedCache } from "../domain/values/SegmentedCache.ts"
import { digitsOf, type Price } from "../domain/values/Amount.ts"
import { fractionDigitsOf } from "../domain/values/Locale.ts"
import { isShownTwice } from "../domain/values/TimeShownTwice.ts"
import { dayMillis } from "../domain/values/WallClock.ts"
import { directionOf } from "./Words.ts"

/** Making a formatter takes longer than rendering a page, so formatters are cached. */
const cachedMax = 500

/** The formats of one language and one time zone. */
export interface Formats {
  readonly timeZone: string
  readonly number: (value: number) => string
  /** An amount in its currency, in minor units, or with the digits that it was written with if they are more. */
  readonly amount: (text: string, currencyCode: string) => string
  /** The same without the currency and without grouping, as people type it. */
  readonly plainAmount: (text: string, currencyCode: string) => string
  /** Day and time: `21 November 2026 at 18:00`. */
  readonly instant: (at: number, timeZone?: string) => string
  /** The same in figures, always with the zone. */
  readonly short: (at: number, timeZone?: string) => string
  readonly day: (at: number, timeZone?: string) => string
  readonly shortDay: (at: number, timeZone?: string) => string
  readonly time: (at: number, timeZone?: string) => string
  /** A duration in its largest useful unit: `5 minutes`. */
  readonly duration: (seconds: number) => string
  /** A span of time, rounded outwards: `10–13 minutes`. */
  readonly span: (fromSeconds: number, toSeconds: number) => string
}

const cached = new SegmentedCache<Formats>(cachedMax)
const dates = new SegmentedCache<Intl.DateTimeFormat>(cachedMax)
const numbers = new SegmentedCache<Intl.NumberFormat>(cachedMax)

/** Returns the formats. An unknown zone is treated as UTC. */
export const formatsOf = (language: string, timeZone: string): Formats => {
  const key = `${language} ${timeZone}`
  const known = cached.get(key)
  if (known !== undefined) return known
  const made = make(language, timeZone)
  cached.set(key, made)
  return made
}

const make = (language: string, own: string): Formats => {
  /** `named` has the offset, for a time that is shown twice. Its options cannot be added to those of a style. */
  const dated =
    (options: Intl.DateTimeFormatOptions, named: Intl.DateTimeFormatOptions = options) =>
    (at: number, timeZone: string = own) =>
      dateFormat(language, timeZone, named !== options && isTwice(at, timeZone) ? named : options).format(at)
  return {
    timeZone: own,
    number: (value) => numberFormat(language, {}).format(value),
    amount: (text, currency) => {
      const format = numberFormat(language, { style: "currency", currency, ...fractionOf(text, currency) })
      if (directionOf(language) === "ltr") return format.format(text as `${number}`)
      // The sign of a currency may begin with letters: `US$` would be read as `$US` among letters from right to left.
      const parts = format.formatToParts(text as `${number}`)
      return parts.map(({ type, value }) => (type === "currency" ? leftToRight(value) : value)).join("")
    },
    plainAmount: (text, currency) =>
      numberFormat(language, { useGrouping: false, ...fractionOf(text, currency) }).format(text as `${number}`),
    instant: dated(
      { dateStyle: "long", timeStyle: "short" },
      { day: "numeric", month: "long", year: "numeric", ...withOffset }
    ),
    short: dated({ day: "numeric", month: "short", hour: "numeric", minute: "2-digit", timeZoneName: "short" }),
    day: dated({ weekday: "long", day: "numeric", month: "long" }),
    shortDay: dated({ weekday: "short", day: "numeric" }),
    time: dated({ hour: "numeric", minute: "2-digit" }, withOffset),
    duration: (seconds) => {
      if (seconds < 60) return unit(language, Math.max(1, Math.ceil(seconds)), "second")
      const minutes = Math.ceil(seconds / 60)
      return minutes < 90 ? unit(language, minutes, "minute") : unit(language, Math.round(minutes / 30) / 2, "hour")
    },
    span: (from, to) => {
      const [name, seconds, parts] = to <= 90 * 60 ? (["minute", 60, 1] as const) : (["hour", 3_600, 2] as const)
      const least = Math.max(0, Math.floor((from * parts) / seconds)) / parts
      const most = Math.max(1, Math.ceil((to * parts) / seconds)) / parts
      return numberFormat(language, { style: "unit", unit: name, unitDisplay: "long" }).formatRange(least, most)
    }
  }
}

/** Isolates a sign that has letters from left to right. */
const leftToRight = (sign: string): string => (/\p{Script=Latin}/u.test(sign) ? `\u2068${sign}\u2069` : sign)

const fractionOf = (text: Price, currencyCode: string) => {
  const digits = Math.max(digitsOf(text), fractionDigitsOf(currencyCode))
  return { minimumFractionDigits: digits, maximumFractionDigits: digits }
}

const withOffset = { hour: "numeric", minute: "2-digit", timeZoneName: "shortOffset" } as const

const isTwice = (at: number, timeZone: string): boolean => {
  const zone = Option.getOrUndefined(DateTime.zoneMakeNamed(timeZone))
  if (zone === undefined) return false
  const aheadAt = (instant: number) => DateTime.zonedOffset(DateTime.makeZonedUnsafe(instant, { timeZone: zone }))
  return !isSteady(timeZone, Math.floor(at / dayMillis), aheadAt) && isShownTwice(at, aheadAt)
}

/** True if the clock is not changed on this day or on the ones next to it. Clocks are changed at most once a week. */
const isSteady = (timeZone: string, day: number, aheadAt: (at: number) => number): boolean => {
  const key = `${timeZone} ${day}`
  const known = steady.get(key)
  if (known !== undefined) return known
  const made = aheadAt((day - 1) * dayMillis) === aheadAt((day + 2) * dayMillis)
  steady.set(key, made)
  return made
}

const steady = new SegmentedCache<boolean>(cachedMax)

const unit = (language: string, value: number, name: string): string =>
  numberFormat(language, { style: "unit", unit: name, unitDisplay: "long" }).format(value)

const numberFormat = (language: string, options: Intl.NumberFormatOptions): Intl.NumberFormat => {
  const key = `${language} ${JSON.stringify(options)}`
  const known = numbers.get(key)
  if (known !== undefined) return known
  const made = new Intl.NumberFormat(language, options)
  numbers.set(key, made)
  return made
}

const dateFormat = (language: string, timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat => {
  const key = `${language} ${timeZone} ${JSON.stringify(options)}`
  const known = dates.get(key)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat(language, { ...options, timeZone: isZone(timeZone) ? timeZone : "UTC" })
  dates.set(key, made)
  return made
}

/** True if the text names a time zone. */
export const isZone = (name: string): boolean =>
  Result.isSuccess(Result.try(() => Intl.DateTimeFormat("en", { timeZone: name })))
