/** Reads amounts as people type them. */

/**
 * Returns the amount with a point before its fraction: `1.234,50`, `1,234.50`, `1 234,50` and `1234.5` are amounts. The
 * last point or comma separates the fraction, unless it stands alone before three digits or is repeated. Undefined if
 * the text is no amount.
 */
export const normalAmount = (typed: string): string | undefined => {
  const text = western(typed).replaceAll(/[\s\u00a0\u202f'’]/g, "")
  if (!/^\d[\d.,]*$/.test(text)) return undefined
  const last = Math.max(text.lastIndexOf("."), text.lastIndexOf(","))
  if (last < 0) return text
  const separator = text[last]!
  const others = text.slice(0, last)
  const isGrouped = /^\d{1,3}$/.test(others) && /^\d{3}$/.test(text.slice(last + 1)) && separator === ","
  const isFraction = !others.includes(separator) && !isGrouped
  const whole = (isFraction ? others : text).replaceAll(/[.,]/g, "")
  const fraction = isFraction ? text.slice(last + 1) : ""
  return fraction === "" ? whole : `${whole}.${fraction}`
}

/** Replaces the digits of Arabic and Persian. */
const western = (text: string): string =>
  text
    .replaceAll(/[٠-٩]/g, (digit) => `${digit.charCodeAt(0) - 0x660}`)
    .replaceAll(/[۰-۹]/g, (digit) => `${digit.charCodeAt(0) - 0x6f0}`)
    .replaceAll("٫", ".")
    .replaceAll("٬", ",")
