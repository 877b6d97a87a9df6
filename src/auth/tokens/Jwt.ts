/** Verifies the JWTs of Usher: tokens, grants and receipts. `Signing.ts` makes them. */
import { Effect } from "effect"
import * as Jose from "jose"
import type { Millis } from "../../domain/values/Time.ts"
import { algorithm, type SigningKeys } from "../keys/SigningKeys.ts"
import { refreshAlgorithm } from "./Signing.ts"

/** The `iss` of everything Usher signs. */
export const issuer = "usher"

const compactPattern = /^[\w-]+\.[\w-]+\.([\w-]+)$/

/** Decoders of Base64 are lenient. A token has one spelling, without white space and stray bits at the end. */
const isCanonical = (token: string): boolean => {
  const signature = compactPattern.exec(token)?.[1]
  return signature !== undefined && Buffer.from(signature, "base64url").toString("base64url") === signature
}

interface Expected {
  readonly audience: string
  readonly now: Millis
}

/** Returns the claims of a JWT with an accepted key, our issuer and the audience, not expired at `now`. */
export const verify = (keys: SigningKeys["Service"], token: string, expected: Expected) =>
  verifyWith(keys, token, expected, { [algorithm]: keys.publicKey })

/**
 * Like `verify`, for a refresh token. Its secret verifies HMAC alone, and the public key Ed25519 alone, with which refresh
 * tokens were signed before. jose compares an HMAC in constant time.
 */
export const verifyRefresh = (keys: SigningKeys["Service"], token: string, expected: Expected) =>
  verifyWith(keys, token, expected, { [refreshAlgorithm]: keys.refreshSecret, [algorithm]: keys.publicKey })

/** The accepted algorithms, each with its own keys. A header only chooses among them. */
interface KeysByAlgorithm {
  readonly [algorithm: string]: (kid: string) => Jose.CryptoKey | Jose.KeyObject | undefined
}

const verifyWith = (
  keys: SigningKeys["Service"],
  token: string,
  { audience, now }: Expected,
  accepted: KeysByAlgorithm
): Effect.Effect<Jose.JWTPayload, Jose.errors.JOSEError> => {
  const algorithms = Object.keys(accepted)
  const attempt = Effect.tryPromise({
    try: () =>
      Jose.jwtVerify(
        isCanonical(token) ? token : "",
        ({ alg, kid }) => {
          // jose has checked that the algorithm is one of these.
          const key = kid === undefined ? undefined : accepted[alg]!(kid)
          return key === undefined ? Promise.reject(new Jose.errors.JWKSNoMatchingKey()) : key
        },
        { algorithms, issuer, audience, currentDate: new Date(now) }
      ),
    catch: (error) => (error instanceof Jose.errors.JOSEError ? error : new Jose.errors.JWTInvalid("unreadable token"))
  }).pipe(Effect.map(({ payload }) => payload))
  // Another process may already sign with a key that this process is not yet notified of.
  return Effect.catch(attempt, (error) =>
    error instanceof Jose.errors.JWKSNoMatchingKey
      ? Effect.flatMap(keys.lookAgain, (mayBeKnown) => (mayBeKnown ? attempt : Effect.fail(error)))
      : Effect.fail(error)
  )
}
