/**
 * The rules of grants for shops, without any cryptography: which tokens are grants, and the claims that a shop
 * requires.
 */

/** Grants of live keys, and those of test keys. */
export type Mode = "live" | "test"

/** The claims of a grant. */
export interface GrantClaims {
  readonly jti: string
  readonly consumerId: string
  readonly organizationId: string
  readonly mode: Mode
  readonly distributionId: string
  readonly distributionType: string
  readonly experienceId: string
  readonly sequenceId: string
  /** Unix seconds; absent if the grant does not expire. */
  readonly exp?: number
  readonly [claim: string]: unknown
}

/** The required claims of a grant. The organization is needed, because all organizations' grants have the same keys. */
export interface Expected {
  readonly organizationId: string
  /** Default: live. Both modes have the same keys too. */
  readonly mode?: Mode
  readonly consumerId?: string
  readonly distributionId?: string
  readonly experienceId?: string
}

/** Why the claims of an authentic grant do not admit. */
export type ClaimProblem =
  | "WRONG_ORGANIZATION"
  | "WRONG_MODE"
  | "WRONG_CONSUMER"
  | "WRONG_DISTRIBUTION"
  | "WRONG_EXPERIENCE"
  | "GRANT_EXPIRED"

/** The maximum length of a token, in characters. Grants have about 800. */
const tokenLengthMax = 4_096

const tokenPattern = /^([\w-]+\.([\w-]+))\.([\w-]+)$/

/** A token in its parts. Nothing of it may be believed before the signature is verified. */
export interface TokenParts {
  readonly signed: Uint8Array<ArrayBuffer>
  readonly signature: Uint8Array<ArrayBuffer>
  /** Reads the claims; undefined if the token is no grant. Call it after the signature was verified. */
  readonly claims: () => GrantClaims | undefined
}

/** Takes a token apart; undefined if it does not have three parts. */
export const partsOf = (token: string): TokenParts | undefined => {
  const [, signed, payload, signature] = (token.length <= tokenLengthMax && tokenPattern.exec(token)) || []
  if (signed === undefined || payload === undefined || signature === undefined) return undefined
  try {
    return {
      signed: new TextEncoder().encode(signed),
      signature: bytesOf(signature),
      claims: () => grantIn(payload)
    }
  } catch {
    return undefined
  }
}

const grantIn = (payload: string): GrantClaims | undefined => {
  const claims = JSON.parse(new TextDecoder().decode(bytesOf(payload))) as GrantClaims
  const isGrant = claims["type"] === "admission" && claims["iss"] === "usher" && claims["aud"] === "usher:admission"
  return isGrant ? claims : undefined
}

const bytesOf = (base64url: string) => {
  const text = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"))
  // Ten times as quick as `Uint8Array.from` with a function.
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at)
  return bytes
}

/** Returns why the claims do not admit at `now`, in milliseconds since the Unix epoch. */
export const problemOf = (claims: GrantClaims, expected: Expected, now: number): ClaimProblem | undefined => {
  const { organizationId, mode = "live", consumerId, distributionId, experienceId } = expected
  if (claims.organizationId !== organizationId) return "WRONG_ORGANIZATION"
  if (claims.mode !== mode) return "WRONG_MODE"
  if (consumerId !== undefined && claims.consumerId !== consumerId) return "WRONG_CONSUMER"
  if (distributionId !== undefined && claims.distributionId !== distributionId) return "WRONG_DISTRIBUTION"
  if (experienceId !== undefined && claims.experienceId !== experienceId) return "WRONG_EXPERIENCE"
  return claims.exp !== undefined && claims.exp * 1000 <= now ? "GRANT_EXPIRED" : undefined
}
