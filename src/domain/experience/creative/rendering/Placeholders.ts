/**
 * Placeholders of creative documents: `{{name}}` in any text or address of a document stands for a value of the message.
 * Spaces within the braces do not matter. A placeholder that is unknown, or has no value, becomes empty. A value is never
 * searched for placeholders itself.
 */

/** The placeholders of a message about a grant, each with what it stands for. None of them is a secret. */
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

/** The values that placeholders stand for; an absent one is empty. */
export type Values = { readonly [Name in keyof typeof placeholders]?: string }

/** The text with its placeholders filled in; each value passes through `encode` first. */
export const fill = (template: string, values: Values, encode: (value: string) => string = (value) => value): string =>
  template.replace(/\{\{([^{}]*)\}\}/g, (_, name: string) => {
    const key = name.trim()
    return Object.hasOwn(values, key) ? encode(values[key as keyof Values] ?? "") : ""
  })

/** The text on one line, at most so long: for a subject or a name. */
export const onOneLine = (text: string, lengthMax: number): string =>
  cut(text.replace(/[\s\p{Cc}]+/gu, " ").trim(), lengthMax)

/** The beginning of the text, at most so many UTF-16 units long, without half of a surrogate pair at its end. */
export const cut = (text: string, lengthMax: number): string =>
  text.length <= lengthMax ? text : text.slice(0, lengthMax).replace(/[\uD800-\uDBFF]$/, "")
