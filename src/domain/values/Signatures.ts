/**
 * Signatures of requests. Like hashing, checking one has no effects and reads no clock. Comparisons take the same time
 * for every wrong signature of the right length.
 */
import { createHmac, createPublicKey, timingSafeEqual, verify } from "node:crypto"
import { Result } from "effect"

type Bytes = string | Uint8Array

/** HMAC-SHA256 of the parts, one after another. */
export const hmacSha256Of = (key: Bytes, ...parts: ReadonlyArray<Bytes>): Uint8Array => hmac("sha256", key, parts)

/** HMAC-SHA1 of the parts, one after another. */
export const hmacSha1Of = (key: Bytes, ...parts: ReadonlyArray<Bytes>): Uint8Array => hmac("sha1", key, parts)

const hmac = (algorithm: string, key: Bytes, parts: ReadonlyArray<Bytes>): Uint8Array =>
  parts.reduce((digest, part) => digest.update(part), createHmac(algorithm, key)).digest()

/** True if the text encodes exactly these bytes. */
export const isSameBytes = (expected: Uint8Array, text: string, encoding: "hex" | "base64"): boolean => {
  const given = Buffer.from(text, encoding)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/**
 * True if the signature (ASN.1, in Base64) is by the key, for SHA-256 of the parts. The key is a public key on the curve
 * P-256, as the Base64 of its DER form.
 */
export const isSignedWithP256 = (
  publicKey: string,
  signature: string,
  ...parts: ReadonlyArray<Uint8Array>
): boolean => {
  const key = p256KeyOf(publicKey)
  return key !== undefined && verify("sha256", Buffer.concat(parts), key, Buffer.from(signature, "base64"))
}

/** True if the text is a public key on the curve P-256, as the Base64 of its DER form. */
export const isP256Key = (publicKey: string): boolean => p256KeyOf(publicKey) !== undefined

const p256KeyOf = (publicKey: string) => {
  const read = Result.try({
    try: () => createPublicKey({ key: Buffer.from(publicKey, "base64"), format: "der", type: "spki" }),
    catch: () => "not a key" as const
  })
  const key = Result.getOrUndefined(read)
  return key?.asymmetricKeyDetails?.namedCurve === "prime256v1" ? key : undefined
}
