/**
 * Placeholders of creative documents: `{{name}}` in a text or URL stands for a value of the message. Spaces within the
 * braces are ignored. A placeholder that is unknown or has no value becomes empty. Values are not searched for
 * placeholders.
 */
import { isolated } from "../../../values/Direction.ts"

const pattern = /\{\{([^{}]*)\}\}/g

/** The placeholders of a message about a grant, with their meaning. None is secret. */
export const placeholders = {
  consumerId: "the consumer's id",
  consumerName: "the consumer's full name, else its name",
  organizationName: "the organization's name",
  experienceId: "the experience's id",
  experienceName: "the experience's name",
  sequenceId: "the sequence's id",
  distributionId: "the mechanism's id",
  distributionName: "the mechanism's name",
  distributionType: "`queue`, `draw` or `auction`",
  timeZone: "the mechanism's time zone",
  grantedAt: "when the grant was made, as an ISO 8601 date-time",
  grantedAtText: "the same in words",
  expiresAt: "when the grant expires, as an ISO 8601 date-time; empty if it does not",
  expiresAtText: "the same in words",
  winningBidAmount: "in an auction: the consumer's winning bid",
  currencyCode: "in an auction: its currency"
} as const

/** The values of placeholders. An absent value is empty. */
export type Values = { readonly [Name in keyof typeof placeholders]?: string }

/**
 * Replaces the placeholders of the text. Each value is passed through `encode`. Without it the text is for people, and
 * values of the other direction of writing are isolated.
 */
export const fill = (
  template: string,
  values: Values,
  encode: (value: string) => string = (value) => isolated(value, template)
): string =>
  template.replace(pattern, (_, name: string) => {
    const key = name.trim()
    return Object.hasOwn(values, key) ? encode(values[key as keyof Values] ?? "") : ""
  })

/** Returns the names of the placeholders in a text. */
export const namesIn = (template: string): ReadonlyArray<string> => [
  ...new Set(Array.from(template.matchAll(pattern), ([, name]) => name!.trim()))
]

/** Returns the text on one line, truncated to the length, for a subject or a name. */
export const onOneLine = (text: string, lengthMax: number): string =>
  cut(text.replace(/[\s\p{Cc}]+/gu, " ").trim(), lengthMax)

/** Truncates the text to the number of UTF-16 units, without splitting a surrogate pair. */
export const cut = (text: string, lengthMax: number): string =>
  text.length <= lengthMax ? text : text.slice(0, lengthMax).replace(/[\uD800-\uDBFF]$/, "")
