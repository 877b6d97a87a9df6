/** Clients of the gate for bots. Each has an address of its own, behind the trusted proxy on loopback. */
import { type Challenge, type Solution, solveChallenge } from "altcha-lib"
import { deriveKey } from "altcha-lib/algorithms/pbkdf2"
import { Effect, Result } from "effect"
import { IpNetwork } from "effect/net"
import type { Answer, Usher } from "../support/usherFixture.ts"
import { layerWith } from "../support/usherFixture.ts"

/** Both APIs behind a trusted proxy on loopback. */
export const settings = {
  trustedProxies: [Result.getOrThrow(IpNetwork.fromString("127.0.0.1/32"))]
}

export const layer = layerWith(settings)

/** The headers of a client at this address. */
export const from = (address: string, solution?: string): { readonly [name: string]: string } => ({
  "x-forwarded-for": address,
  "x-forwarded-proto": "https",
  ...(solution !== undefined && { "x-challenge-solution": solution })
})

/** Asks for a guest session. */
export const askForGuest = (
  usher: Usher["Service"],
  address: string,
  { solution, key = usher.brand.publishableKey }: { readonly solution?: string; readonly key?: string } = {}
): Effect.Effect<Answer> =>
  usher.consumer({
    method: "POST",
    path: "/api/auth/guest",
    headers: { "x-publishable-key": key, ...from(address, solution) }
  })

/** Solves a challenge with ALTCHA's own library. Returns the value of the header. */
export const solve = (challenge: Challenge): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => solveChallenge({ challenge, deriveKey })),
    (solution) => encoded(challenge, solution!)
  )

export const encoded = ({ parameters, signature }: Challenge, { counter, derivedKey }: Solution): string =>
  Buffer.from(JSON.stringify({ challenge: { parameters, signature }, solution: { counter, derivedKey } })).toString(
    "base64"
  )
