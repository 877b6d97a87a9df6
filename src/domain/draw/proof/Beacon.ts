/**
 * The public randomness beacon a draw may wait for: drand's network `quicknet`, whose round n is published at
 * `genesis + (n − 1) × period`. Which round a draw waits for follows from its time alone, so that nobody can choose it.
 */
import { Schema } from "effect"
import type { Millis } from "../../values/Time.ts"

/** A beacon that a draw can name. */
export const BeaconName = Schema.Literal("drand")

/** The network, by the name drand gives it. */
export const beaconNetwork = "quicknet"

/** When the first round was published, and from one to the next. */
export const genesisSeconds = 1_692_803_367
export const periodSeconds = 3

/** The first round that is published after the instant. */
export const roundAfter = (at: Millis): number =>
  at < genesisSeconds * 1000 ? 1 : Math.floor((at / 1000 - genesisSeconds) / periodSeconds) + 2

/** When the round is published. */
export const timeOfRound = (round: number): Millis => (genesisSeconds + (round - 1) * periodSeconds) * 1000
