/** The gate for bots as the Consumer API declares it: the refusal with its challenge, and the header of the solution. */
import { Schema } from "effect"

/** The header with a solution: base64 as ALTCHA's widget sends it, or the token of a provider's widget. */
export const solutionHeader = "X-Challenge-Solution"

/** A proof of work in ALTCHA's protocol, version 2. Its own library or widget solves it. */
const ProofOfWork = Schema.Struct({
  provider: Schema.Literal("proof_of_work"),
  parameters: Schema.Struct({
    algorithm: Schema.String,
    cost: Schema.Int,
    data: Schema.Struct({ scope: Schema.String, work: Schema.Int }),
    expiresAt: Schema.Int,
    keyLength: Schema.Int,
    keyPrefix: Schema.String,
    keySignature: Schema.String,
    nonce: Schema.String,
    salt: Schema.String
  }),
  signature: Schema.String
})

/** The public key for a provider's widget. */
const Widget = Schema.Struct({ provider: Schema.Literals(["turnstile", "hcaptcha"]), siteKey: Schema.String })

export const Challenge = Schema.Union([ProofOfWork, Widget]).annotate({ identifier: "Challenge" })

/** 403: the caller must solve the challenge, and repeat the request with the solution. */
export class ChallengeRequired extends Schema.Error<ChallengeRequired>("ChallengeRequired")(
  { error: Schema.Literal("Challenge required"), code: Schema.Literal("CHALLENGE_REQUIRED"), challenge: Challenge },
  { httpApiStatus: 403, description: "Repeat the request with a solution of the challenge" }
) {}

/** The 403 with a challenge. */
export const challengeRequired = ({ challenge }: { readonly challenge: typeof Challenge.Type }): ChallengeRequired =>
  new ChallengeRequired({ error: "Challenge required", code: "CHALLENGE_REQUIRED", challenge })

/** How the gate works, for descriptions of operations. */
export const gateDescription =
  "If many requests arrive from one address, or many consumers arrive at once, a 403 `CHALLENGE_REQUIRED` carries " +
  `a \`challenge\`. Repeat the request with its solution in \`${solutionHeader}\`. For \`proof_of_work\` this is the ` +
  "output of ALTCHA's library or widget for `parameters` and `signature` (JSON `{challenge, solution}` in base64). " +
  "For other providers it is the token of their widget. A solution is valid once. Requests with the secret key get " +
  "no challenge."
