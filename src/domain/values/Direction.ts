/** Names in texts of the other direction of writing (Unicode Standard Annex 9). */

/** Letters that are written from right to left, by the blocks that Unicode keeps for them. */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/** Characters that change the direction of what follows them. Within an isolated text they could end it. */
const controls = /[\u202a-\u202e\u2066-\u2069]/g

/** A text whose only such characters isolate parts of it, each to its end. */
const isolatesParts =
  /^[^\u202a-\u202e\u2066-\u2069]*(?:\u2068[^\u202a-\u202e\u2066-\u2069]*\u2069[^\u202a-\u202e\u2066-\u2069]*)*$/

/**
 * Returns a value for its place in a text. Where letters of both directions could meet, it is isolated by invisible
 * characters: it keeps its own direction, and the text around it too. Without a letter from right to left it stays as it
 * is. HTML has `<bdi>` and `dir="auto"` for this.
 */
export const isolated = (value: string, around: string): string =>
  /\p{L}/u.test(value) && (rightToLeft.test(value) || rightToLeft.test(around))
    ? `\u2068${isolatesParts.test(value) ? value : value.replaceAll(controls, "")}\u2069`
    : value
