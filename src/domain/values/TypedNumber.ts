/** Phone numbers as people type and paste them, before a numbering plan is asked. */
import { trimmed } from "./Text.ts"
import { asciiDigits } from "./TypedCode.ts"

/** A typed number without its separators. */
export interface TypedNumber {
  /** True if a plus sign came before the digits. */
  readonly isInternational: boolean
  readonly digits: string
  /** The digits without a `(0)`, which stands for a zero that is dialled in the country alone. */
  readonly withoutTrunkZero: string | undefined
}

/** No notation of a phone number is longer. */
const lengthMax = 64

/** The separators in their plain form. Everything else in a number is an error: it could be dropped or dialled. */
const plainForms: ReadonlyArray<readonly [RegExp, string]> = [
  [/\p{Cf}/gu, ""],
  [/[\t\p{Zs}]/gu, " "],
  [/[＋﹢⁺➕]/gu, "+"],
  [/[\p{Pd}−ー]/gu, "-"],
  [/[（［[]/gu, "("],
  [/[）］\]]/gu, ")"],
  [/[．·・•]/gu, "."],
  [/[／⁄∕]/gu, "/"]
]

const numberPattern = /^[\d ()./-]*$/

/** Digits before a slash, at most: a country's code and an area's. */
const digitsBeforeSlashMax = 7

/** Returns the number; undefined for letters, extensions, several numbers, and anything else that is no number. */
export const typedNumber = (text: string): TypedNumber | undefined => {
  if (text.length > lengthMax) return undefined
  const typed = trimmed(text).replace(/^tel:/i, "")
  const plain = plainForms.reduce((now, [form, by]) => now.replaceAll(form, by), asciiDigits(typed))
  const digits = digitsOf(plain)
  const plus = plain.indexOf("+")
  if (digits === "" || !numberPattern.test(plain.replace("+", "")) || hasAlternative(plain)) return undefined
  if (plus > 0 && digitsOf(plain.slice(0, plus)) !== "") return undefined
  return {
    isInternational: plus >= 0,
    digits,
    withoutTrunkZero: plain.includes("(0)") ? digitsOf(plain.replace("(0)", "")) : undefined
  }
}

/** True if a slash separates two numbers, or a number and another ending. */
const hasAlternative = (plain: string): boolean => {
  const [before, after, ...more] = plain.split("/")
  if (after === undefined) return false
  return more.length > 0 || digitsOf(before!).length > digitsBeforeSlashMax || digitsOf(after).startsWith("0")
}

const digitsOf = (text: string): string => text.replaceAll(/\D/g, "")
