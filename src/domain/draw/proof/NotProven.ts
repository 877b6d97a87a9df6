import { simulatedNetwork } from "./Beacon.ts"

/** Facts that no proof of a draw can show. The sentences are part of the published proof. */
const neverProven = [
  "That seedCommitment was published before the first entry, and entriesDigest before the drawing: compare both with what the draw's record showed then.",
  "That each entry is a consumer of its own, and that no entry was left out: whoever entered holds a signed receipt and can look for its entry in the list.",
  "That those who are named as withdrawn withdrew by themselves, or were denied for a reason."
]

const notProvenWithoutBeacon =
  "That nobody who knew the seed tried out last entries until the result was to his liking: for this the draw would have had to name a public randomness beacon."

const notProvenBySimulation =
  "That chance decided: a test clock made the round of the beacon, and no network has signed it. The draw was a rehearsal."

/** Returns what a proof does not show, in sentences. `network` is that of its beacon; null if it names none. */
export const notProven = (network: string | null): ReadonlyArray<string> => {
  if (network === null) return [notProvenWithoutBeacon, ...neverProven]
  return network === simulatedNetwork ? [notProvenBySimulation, ...neverProven] : neverProven
}
