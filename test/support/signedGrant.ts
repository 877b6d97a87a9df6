/** Grants as Usher signs them, for what checks them offline. */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto"

/** The keys of Usher, and keys that sign nothing unless a test says so. */
export const pair = generateKeyPairSync("ed25519")
export const otherPair = generateKeyPairSync("ed25519")

/** What every grant of the tests says. */
export const grantClaims = {
  type: "admission",
  iss: "usher",
  aud: "usher:admission",
  jti: "q.7",
  consumerId: "ada",
  organizationId: "brand",
  mode: "live",
  distributionId: "q"
}

/** A part of a token. */
export const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")

/** Returns the token with these claims. */
export const signedGrant = (claims: object, key: KeyObject = pair.privateKey): string => {
  const signed = `${encoded({ alg: "EdDSA", kid: "k" })}.${encoded(claims)}`
  return `${signed}.${sign(null, Buffer.from(signed), key).toString("base64url")}`
}
