/** What an operation says about an input, in the words of the person who typed it. */
import type { Issue } from "../api/Errors.ts"

/** The words for settings in messages of the API. */
const words: { readonly [name: string]: string } = {
  openAt: "the opening",
  closeAt: "the closing",
  drawAt: "the drawing",
  settleAt: "the end",
  lobbyOpenAt: "the opening of the lobby",
  slotsFrom: "the first day",
  slotsUntil: "the last day",
  startPrice: "the starting price",
  floorPrice: "the lowest price",
  shiftSeconds: "the shift",
  idleSeconds: "the time without a request",
  maxSeconds: "the longest stay",
  admitBurst: "a burst",
  standby: "that who need not wait passes unseen",
  admissionRenewal: "a time without a request",
  admissionExpirationSeconds: "minutes to buy"
}

/** Returns the name of a field, such as "Allowed origins". A list adds the number of the item. */
export const nameOf = (path: ReadonlyArray<string>): string => {
  const index = path.at(-1)
  const isItem = index !== undefined && /^\d+$/.test(index)
  const key = path.findLast((one) => !/^\d+$/.test(one)) ?? "value"
  const name = spaced(key)
  return `${name[0]!.toUpperCase()}${name.slice(1)}${isItem ? ` ${Number(index) + 1}` : ""}`
}

/** Returns one sentence about an issue. */
export const sentenceOf = ({ kind, type, expected, received, message }: Issue): string => {
  const isAbsent = received === "undefined" || received === '""' || received === "null"
  if (isAbsent && (kind === "schema" || /^>=\d/.test(expected))) return "This is needed."
  const bound = /^([<>]=?)(-?[\d.]+)$/.exec(expected)
  if (bound !== null) return boundOf(bound[1]!, bound[2]!, type)
  if ((type === "integer" || type === "number") && message !== expected) return "Enter a whole number."
  if (type === "amount" && (expected === "amount" || expected.startsWith("a decimal"))) {
    return "Enter an amount such as 129.00."
  }
  const text = spelt(message === expected ? message : expected)
  return message === expected ? sentence(text) : `It must be ${text}.`
}

const boundOf = (sign: string, bound: string, type: string): string => {
  const unit = type.endsWith("length") ? " characters" : ""
  const than = { ">=": "At least", "<=": "At most", ">": "More than", "<": "Less than" }[sign]!
  return `${than} ${bound}${unit}.`
}

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`

/** The text with names of settings as words. */
const spelt = (text: string): string =>
  text.replace(/\b(?:[a-z]+[A-Z][A-Za-z]*|standby)\b/g, (name) => words[name] ?? spaced(name))

const spaced = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
