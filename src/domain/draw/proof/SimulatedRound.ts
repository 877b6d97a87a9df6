/** Rounds of a beacon for rehearsals. They have the form of real ones, and no network has signed them. */
import { sha256, sha256OfHex } from "../../values/Digest.ts"

/** Returns the randomness and the signature of a round. They follow from the seed and the number alone. */
export const simulatedRound = (
  seed: string,
  round: number
): { readonly randomness: string; readonly signature: string } => {
  const first = sha256(`${seed} ${round}`)
  const signature = first + sha256OfHex(first).slice(0, 32)
  return { randomness: sha256OfHex(signature), signature }
}
