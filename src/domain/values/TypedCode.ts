/**
 * Codes as people type and paste them: with blanks in between, with invisible characters that a page or a message puts
 * around them, and in the digits and wide letters of their keyboard.
 */
import { Schema, SchemaTransformation } from "effect"

/** Everything that shows nothing: blanks of any width, line ends, marks of direction, and other invisible characters. */
const invisible = /[\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/** Returns the text without blanks and invisible characters. */
export const withoutBlanks = (text: string): string => text.replaceAll(invisible, "")

/** Returns the text with the decimal digits of every script as 0 to 9. */
export const asciiDigits = (text: string): string => text.replaceAll(/\p{Nd}/gu, valueOfDigit)

/**
 * Returns the spelling of a code in which it is compared. Letters keep their case. A code without one of these
 * characters is its own spelling.
 */
export const plainCode = (text: string): string => asciiDigits(withoutBlanks(text.normalize("NFKC")))

/** Decodes a code into its plain spelling. */
export const TypedCode = Schema.String.pipe(
  Schema.decodeTo(Schema.String, SchemaTransformation.transform({ decode: plainCode, encode: (code) => code }))
)

/** Unicode has the digits of a script in a row from zero to nine, and such rows may follow each other. */
function valueOfDigit(digit: string): string {
  const position = digit.codePointAt(0)!
  let first = position
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--
  return `${(position - first) % 10}`
}
