/** The settings of the key that seals stored secrets, and the form of its text. */
import { Redacted } from "effect"
import { type Definition, file } from "./Shapes.ts"

/** Bytes of a key for AES-256. */
const keyBytes = 32

/** Former keys stay readable until their rotation has ended. No rotation needs more. */
const keysMax = 8

/** A key of 32 bytes. */
export type KeyText = Redacted.Redacted

/** Returns the keys in the text, the sealing key first; undefined if a part is not a key. */
export function parseKeys(text: string): ReadonlyArray<KeyText> | undefined {
  const parts = text.split(/[\s,]+/).filter((part) => part !== "")
  const isValid = parts.length > 0 && parts.length <= keysMax && parts.every((part) => bytesOf(part) !== undefined)
  return isValid ? parts.map((part) => Redacted.make(part, { label: "SECRETS_KEY" })) : undefined
}

/** Returns the bytes of one key: 64 hexadecimal digits, or Base64 of 32 bytes. */
export function bytesOf(text: string): Uint8Array | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, "hex")
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined
  const bytes = Buffer.from(text, "base64")
  return bytes.length === keyBytes ? bytes : undefined
}

const secretsKeys: Definition<ReadonlyArray<KeyText>> = {
  variable: "SECRETS_KEY",
  unit: "secret",
  default: "none: signing keys and secrets are stored unsealed",
  shape: "32 random bytes, as Base64 or 64 hexadecimal digits; former keys after it, with commas between them",
  meaning:
    "The key that seals signing keys and secrets in the database, so that a copy of the database cannot forge " +
    "anything. `openssl rand -base64 32` makes one. Without this key, sealed data cannot be read.",
  secret: true,
  fallback: [],
  parse: parseKeys
}

/** The settings. */
export const definitions = {
  secretsKeys,
  secretsKeyFile: file("SECRETS_KEY_FILE", {
    whenAbsent: "`SECRETS_KEY`",
    meaning: "A file with the text of `SECRETS_KEY`, instead of the variable. It may have one key in each line."
  })
}
