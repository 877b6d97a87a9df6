/** Reads amounts as people type them, by the language of the page and the currency. */
import type { Price } from "../domain/values/Amount.ts"
import { fractionDigitsOf } from "../domain/values/Locale.ts"
import { SegmentedCache } from "../domain/values/SegmentedCache.ts"

/** Characters that are read. Longer texts are no amounts. */
const lengthMax = 60

/** Digits before the point of an amount. */
const wholeDigitsMax = 12

/**
 * Returns the amount with a point before its fraction; undefined if the text is none, or could be two. A separator
 * before exactly three digits may group thousands or begin a fraction: in `1.500` the language decides. A separator that
 * the language has for neither is no amount then, and so is a fraction that is finer than the currency's minor unit.
 */
export const amountOf = (typed: string, language: string, currencyCode: string): Price | undefined => {
  const text = plain(typed, currencyCode)
  const readings = decimals.flatMap((decimal) => readingBy(text, decimal))
  const [first, second] = readings.filter(
    ({ whole, fraction }, index) =>
      readings.findIndex((other) => other.whole === whole && other.fraction === fraction) === index
  )
  if (first === undefined) return undefined
  const digits = fractionDigitsOf(currencyCode)
  const meant = second === undefined ? first : byLanguage(text, [first, second], language, digits)
  if (meant === undefined || meant.whole.length > wholeDigitsMax || /[1-9]/.test(meant.fraction.slice(digits))) {
    return undefined
  }
  return meant.fraction === "" ? meant.whole : `${meant.whole}.${meant.fraction}`
}

/** The characters that begin a fraction somewhere. */
const decimals = [".", ",", "٫"]

/** The characters that group digits somewhere. */
const groupings = new Set([".", ",", "'", " "])

/** The digits before and after the point. */
interface Reading {
  readonly whole: string
  readonly fraction: string
}

/** Reads the text with this decimal separator; empty if it is no number then. */
const readingBy = (text: string, decimal: string): ReadonlyArray<Reading> => {
  const [grouped = "", fraction, ...others] = text.split(decimal)
  if (others.length > 0 || (fraction !== undefined && !/^\d+$/.test(fraction))) return []
  const separators = new Set(grouped.replaceAll(/\d/g, ""))
  const [separator] = separators
  if (separators.size > 1) return []
  if (separator !== undefined && !(groupings.has(separator) && isGrouped(grouped.split(separator)))) return []
  const whole = separator === undefined ? grouped : grouped.replaceAll(separator, "")
  return whole === "" ? [] : [{ whole, fraction: fraction ?? "" }]
}

/** True if the digits stand in threes, or as in India in twos before the last three. */
const isGrouped = (groups: ReadonlyArray<string>): boolean => {
  const lengths = groups.map(({ length }) => length)
  const [first = 0, ...rest] = lengths
  if (groups[0]!.startsWith("0") || first === 0 || rest.at(-1) !== 3) return false
  const isOf = (length: number) => first <= length && rest.slice(0, -1).every((one) => one === length)
  return isOf(3) || isOf(2)
}

/** Decides between a group and a fraction of three digits. */
const byLanguage = (
  text: string,
  readings: readonly [Reading, Reading],
  language: string,
  fractionDigits: number
): Reading | undefined => {
  const { group, decimal } = separatorsOf(language)
  const isFine = fractionDigits >= 3
  // Arabic is written with either separator before a fraction, depending on the country.
  if (isFine && language === "ar") return undefined
  const [grouped, fractional] = readings[0].fraction === "" ? readings : [readings[1], readings[0]]
  if (text.includes(group)) return grouped
  return isFine && text.includes(decimal) ? fractional : undefined
}

interface Separators {
  readonly group: string
  readonly decimal: string
}

const cached = new SegmentedCache<Separators>(100)

/** The separators of a language. A group that is a space, or an apostrophe, is never ambiguous. */
const separatorsOf = (language: string): Separators => {
  const known = cached.get(language)
  if (known !== undefined) return known
  const parts = new Intl.NumberFormat(language).formatToParts(1_234_567.5)
  const of = (type: Intl.NumberFormatPartTypes) => parts.find((part) => part.type === type)!.value
  const separators = { group: of("group"), decimal: of("decimal") }
  cached.set(language, separators)
  return separators
}

/** The text with western digits, one kind of space and apostrophe, and without the currency's sign or code. */
const plain = (typed: string, currencyCode: string): string => {
  if (typed.length > lengthMax) return ""
  const text = typed
    .replaceAll(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replaceAll(/\p{Nd}/gu, western)
    .replaceAll(/\p{Bidi_Control}/gu, "")
    .replaceAll(/\s/g, " ")
    .replaceAll(/[’٬]/g, "'")
    .trim()
    .toUpperCase()
  const marks = [currencyCode, ...new Set(text.match(/\p{Sc}/gu))]
  const mark = marks.find((one) => text.startsWith(one) || text.endsWith(one)) ?? ""
  return (text.startsWith(mark) ? text.slice(mark.length) : text.slice(0, -mark.length)).trim()
}

/** The value of a digit of any script. A script's digits follow each other, from its zero on. */
const western = (digit: string): string => {
  const code = digit.codePointAt(0)!
  let value = 0
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value++
  return `${value}`
}
