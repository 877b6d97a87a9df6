/**
 * Checks a draw from its proof alone. Nothing here uses other knowledge of the draw. The steps are those at the head of
 * Algorithm. The pages run this file in browsers too.
 */
import { Option } from "effect"
import { sha256OfHex } from "../../values/Digest.ts"
import { algorithm, commitmentOf, entriesDigest, scoring } from "./Algorithm.ts"
import { beaconNetwork, roundAfter } from "./Beacon.ts"
import { notProven } from "./NotProven.ts"
import type { Proof } from "./Proof.ts"

/** One check and its result. */
export interface Check {
  readonly what: string
  readonly holds: boolean
}

export interface Report {
  /** True if every check holds. */
  readonly isValid: boolean
  readonly checks: ReadonlyArray<Check>
  /** Facts that the proof does not show, in sentences. */
  readonly notProven: ReadonlyArray<string>
  /** The drawn order of all entries, by their ids. */
  readonly order: ReadonlyArray<string>
}

/** Returns whether the beacon's network signed this round. Without this function the signature is not checked. */
export type CheckSignature = (round: {
  readonly round: number
  readonly randomness: string
  readonly signature: string
}) => boolean

/** Computes the draw again and compares the results with the proof. */
export const verify = (proof: Proof, checkSignature: Option.Option<CheckSignature> = Option.none()): Report => {
  const checks: Array<Check> = []
  const check = (what: string, holds: boolean): void => void checks.push({ what, holds })

  check(
    `the algorithm is ${algorithm.name}, version ${algorithm.version}`,
    proof.algorithm.name === algorithm.name && proof.algorithm.version === algorithm.version
  )
  check("the seed is the one that seedCommitment promised", commitmentOf(proof.seed) === proof.seedCommitment)
  check("the entries are sorted by their ids, each named once", isSorted(proof))
  check("entriesDigest is the digest of the list of entries", digestOf(proof) === proof.entriesDigest)
  checkBeacon(proof, checkSignature, check)
  const listed = new Set(proof.entries.map(({ id }) => id))
  const withdrawn = new Set(proof.withdrawn)
  check(
    "those who withdrew are entries of the list, each named once",
    withdrawn.size === proof.withdrawn.length && proof.withdrawn.every((id) => listed.has(id))
  )
  const order = drawnOrder(proof)
  const winners = order.filter((id) => !withdrawn.has(id)).slice(0, proof.winnerCount)
  check(
    `the winners are the first ${winners.length} of the drawn order who did not withdraw`,
    winners.length === proof.winners.length && winners.every((id, index) => id === proof.winners[index])
  )
  return { isValid: checks.every(({ holds }) => holds), checks, notProven: openPoints(proof, checkSignature), order }
}

/** Returns all entries, best score first. */
export const drawnOrder = (proof: Proof): ReadonlyArray<string> => {
  const isWeighted = proof.entries.some(({ weight }) => weight !== proof.entries[0]!.weight)
  const scoreOf = scoring(proof, isWeighted)
  return proof.entries
    .map(({ id, weight }) => ({ id, score: scoreOf(id, weight) }))
    .toSorted((a, b) => a.score - b.score || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id)
}

const isSorted = ({ entries }: Proof): boolean =>
  entries.every(({ id }, index) => index === 0 || entries[index - 1]!.id < id)

const digestOf = ({ entries }: Proof): string => {
  const list = entriesDigest()
  for (const { id, weight } of entries) list.add(id, weight)
  return list.digest()
}

const checkBeacon = (
  { beacon, beaconNetwork: network, beaconRound, beaconSignature, drawAt }: Proof,
  checkSignature: Option.Option<CheckSignature>,
  check: (what: string, holds: boolean) => void
): void => {
  if (beacon === "") {
    check("no beacon is named", network === null && beaconRound === null && beaconSignature === null)
    return
  }
  const round = beaconRound ?? 0
  const signature = beaconSignature ?? ""
  check(`the beacon is of drand's network ${beaconNetwork}`, network === beaconNetwork)
  check("its round is the first after drawAt", round === roundAfter(Date.parse(drawAt)))
  check("beacon is the SHA-256 of beaconSignature", sha256OfHex(signature) === beacon)
  if (Option.isSome(checkSignature)) {
    check("the network signed this round", checkSignature.value({ round, randomness: beacon, signature }))
  }
}

const openPoints = (
  { beaconNetwork: network }: Proof,
  checkSignature: Option.Option<CheckSignature>
): ReadonlyArray<string> =>
  network !== beaconNetwork || Option.isSome(checkSignature)
    ? notProven(network)
    : [
        "That the beacon's network signed beaconSignature: check it with the network's public key.",
        ...notProven(network)
      ]
