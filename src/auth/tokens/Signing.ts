/**
 * Signs JWTs with the current key. An Ed25519 signature takes some 30 µs, less than a job for Node's thread pool, so it
 * is made where it is needed.
 */
import type * as Jose from "jose"
import { KeyObject, sign as signBytes } from "node:crypto"
import { algorithm, type SigningKeys } from "../keys/SigningKeys.ts"

/** A private key in the form that signs synchronously, with the encoded header of its tokens. */
interface Signer {
  readonly kid: string
  readonly key: KeyObject
  readonly header: string
}

const signers = new WeakMap<Jose.CryptoKey, Signer>()

/** Returns the signer of the current key. The header names the key by its `kid`. */
const signerOf = ({ kid, privateKey }: SigningKeys["Service"]["current"]): Signer => {
  const known = signers.get(privateKey)
  if (known?.kid === kid) return known
  const header = base64Url(JSON.stringify({ alg: algorithm, typ: "JWT", kid }))
  const signer = { kid, key: KeyObject.from(privateKey), header }
  signers.set(privateKey, signer)
  return signer
}

/** Signs claims as a compact JWT with the current key. The same claims and key always give the same text. */
export const sign = (keys: SigningKeys["Service"], claims: Jose.JWTPayload): string => {
  const { key, header } = signerOf(keys.current)
  const signed = `${header}.${base64Url(JSON.stringify(claims))}`
  return `${signed}.${signBytes(null, Buffer.from(signed, "latin1"), key).toString("base64url")}`
}

const base64Url = (text: string) => Buffer.from(text).toString("base64url")
