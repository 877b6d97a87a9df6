/**
 * Signs JWTs with the current key. An Ed25519 signature takes some 30 µs, less than a job for Node's thread pool, so it
 * is made where it is needed. Refresh tokens are signed with HMAC, because only Usher verifies them.
 */
import type * as Jose from "jose"
import { createHmac, KeyObject, sign as signBytes } from "node:crypto"
import { algorithm, type SigningKeys } from "../keys/SigningKeys.ts"

/** The algorithm of refresh tokens. */
export const refreshAlgorithm = "HS256"

/** A private key in the form that signs synchronously, with the encoded headers of its tokens. */
interface Signer {
  readonly kid: string
  readonly key: KeyObject
  readonly header: string
  readonly refreshHeader: string
}

const signers = new WeakMap<Jose.CryptoKey, Signer>()

/** Returns the signer of the current key. The header names the key by its `kid`. */
const signerOf = ({ kid, privateKey }: SigningKeys["Service"]["current"]): Signer => {
  const known = signers.get(privateKey)
  if (known?.kid === kid) return known
  const headerOf = (alg: string) => base64Url(JSON.stringify({ alg, typ: "JWT", kid }))
  const key = KeyObject.from(privateKey)
  const signer = { kid, key, header: headerOf(algorithm), refreshHeader: headerOf(refreshAlgorithm) }
  signers.set(privateKey, signer)
  return signer
}

/** Signs claims as a compact JWT with the current key. The same claims and key always give the same text. */
export const sign = (keys: SigningKeys["Service"], claims: Jose.JWTPayload): string => {
  const { key, header } = signerOf(keys.current)
  const signed = `${header}.${base64Url(JSON.stringify(claims))}`
  return `${signed}.${signBytes(null, Buffer.from(signed, "latin1"), key).toString("base64url")}`
}

/** Signs the claims of a refresh token with the secret of the current key. */
export const signRefresh = (keys: SigningKeys["Service"], claims: Jose.JWTPayload): string => {
  const signed = `${signerOf(keys.current).refreshHeader}.${base64Url(JSON.stringify(claims))}`
  return `${signed}.${createHmac("sha256", keys.current.refreshSecret).update(signed, "latin1").digest("base64url")}`
}

const base64Url = (text: string) => Buffer.from(text).toString("base64url")
