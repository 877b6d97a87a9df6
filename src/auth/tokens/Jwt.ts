/** Verifies the JWTs of Usher: tokens, grants and receipts. `Signing.ts` makes them. */
import { Effect } from "effect"
import * as Jose from "jose"
import type { Millis } from "../../domain/values/Time.ts"
import { algorithm, type SigningKeys } from "../keys/SigningKeys.ts"

/** The `iss` of everything Usher signs. */
export const issuer = "usher"

const compactPattern = /^[\w-]+\.[\w-]+\.([\w-]+)$/

/** Decoders of Base64 are lenient. A token has one spelling, without white space and stray bits at the end. */
const isCanonical = (token: string): boolean => {
  const signature = compactPattern.exec(token)?.[1]
  return signature !== undefined && Buffer.from(signature, "base64url").toString("base64url") === signature
}

/** Returns the claims of a JWT with an accepted key, our issuer and the audience, not expired at `now`. */
export const verify = (
  keys: SigningKeys["Service"],
  token: string,
  options: { readonly audience: string; readonly now: Millis }
): Effect.Effect<Jose.JWTPayload, Jose.errors.JOSEError> => {
  const attempt = Effect.tryPromise({
    try: () =>
      Jose.jwtVerify(
        isCanonical(token) ? token : "",
        ({ kid }) => {
          const key = kid === undefined ? undefined : keys.publicKey(kid)
          return key === undefined ? Promise.reject(new Jose.errors.JWKSNoMatchingKey()) : key
        },
        { algorithms: [algorithm], issuer, audience: options.audience, currentDate: new Date(options.now) }
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
