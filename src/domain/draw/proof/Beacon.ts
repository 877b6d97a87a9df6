/**
 * The public randomness beacon that a draw may wait for: drand's network `quicknet`. Its round n is published at
 * `genesis + (n − 1) × period`. The round of a draw follows from the draw's time alone, so no operator can choose it.
 */
import type { Millis } from "../../values/Time.ts"

/** The network's name at drand. */
export const beaconNetwork = "quicknet"

/** Stands in a proof in place of the network's name if a test clock simulated the round. No such proof is valid. */
export const simulatedNetwork = "simulated"

/** When the first round was published, and the time between two rounds. */
export const genesisSeconds = 1_692_803_367
export const periodSeconds = 3

/** Returns the first round that is published after the instant. */
export const roundAfter = (at: Millis): number =>
  at < genesisSeconds * 1000 ? 1 : Math.floor((at / 1000 - genesisSeconds) / periodSeconds) + 2

/** Returns when the round is published. */
export const timeOfRound = (round: number): Millis => (genesisSeconds + (round - 1) * periodSeconds) * 1000
