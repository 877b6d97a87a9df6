/** Secrets with which requests are signed, in both directions. */
import { Schema, SchemaTransformation } from "effect"
import { text } from "./Text.ts"

/** The prefix of a secret in Base64. The bytes of any other secret are its key. */
const base64Prefix = "whsec_"

/** Characters of the shortest secret. */
const lengthMin = 16

/** Bytes of the shortest key in Base64. */
const keyBytesMin = 16

/** A Base64 text behind the prefix has at least this number of bytes, because of `lengthMin`. Any other text may have fewer. */
const base64BytesMin = Math.floor(((lengthMin - base64Prefix.length) * 3) / 4)

/** A secret in a request. Blanks and line breaks around it come from copying, and are dropped. */
export const SigningSecret = ({ maxLength }: { readonly maxLength: number }) =>
  Schema.String.pipe(Schema.decodeTo(text({ minLength: lengthMin, maxLength }), SchemaTransformation.trim()))

export const newSecret = (key: Uint8Array): string => `${base64Prefix}${Buffer.from(key).toString("base64")}`

export const expectedKey = `${base64Prefix} and the Base64 of at least ${keyBytesMin} bytes`

/** False if the secret has the prefix, and what follows is not Base64 of a key. */
export const isKey = (secret: string): boolean => {
  if (!secret.startsWith(base64Prefix)) return true
  const text = secret.slice(base64Prefix.length).replace(/={1,2}$/, "")
  const key = Buffer.from(text, "base64")
  const spellings = [key.toString("base64").replace(/={1,2}$/, ""), key.toString("base64url")]
  return spellings.includes(text) && key.length >= keyBytesMin
}

/**
 * The key of a secret. It is never empty: a stored secret with the prefix that is not Base64 stands for its own text, so
 * that nobody can guess its key.
 */
export const keyOf = (secret: string): Uint8Array => {
  const key = secret.startsWith(base64Prefix) ? Buffer.from(secret.slice(base64Prefix.length), "base64") : undefined
  return key === undefined || key.length < base64BytesMin ? Buffer.from(secret, "utf8") : key
}
