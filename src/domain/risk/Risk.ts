/**
 * The risk of an entry: signs that a program made it, or one person under several names. It is a sum of parts, one for
 * each signal, and each part has a maximum. So no single signal marks an entry as fraud. The risk alone changes
 * nothing. Admins see it, filter by it and deny by it, and a draw or a lobby can weigh it if its public view says so.
 *
 * A risk holds no personal data: neither the address nor any other signal can be found from it.
 */
import { Schema } from "effect"
import type { Millis } from "../values/Time.ts"

/** Why an entry has a risk. A reason that is no longer given stays here, because recorded events have it. */
export const RiskReason = Schema.Literals(["SHARED_ADDRESS", "SHARED_NETWORK", "FAST_CHALLENGE", "NEW_ACCOUNT"])
export type RiskReason = typeof RiskReason.Type

/** The risk as it is recorded and shown. `score` is from 0 to 1, in hundredths. */
export const Risk = Schema.Struct({
  score: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
  reasons: Schema.Array(RiskReason)
}).annotate({ identifier: "Risk" })
export type Risk = typeof Risk.Type

/** The risk of an entry without any sign of one. It is not recorded. */
export const noRisk: Risk = { score: 0, reasons: [] }

/** The known facts about an entry when it is made. */
export interface Signals {
  /** Other consumers that have lately entered the experience from the same address. */
  readonly addressEntries: number
  /** The same for the other addresses of its network. */
  readonly networkEntries: number
  /** How the entry's challenge was solved. Absent if there was none, or another service checked it. */
  readonly challenge?: SolvedChallenge | undefined
  readonly accountAgeMillis: Millis
}

/** A proof of work. */
export interface SolvedChallenge {
  /** From the issue of the challenge to the arrival of its solution. */
  readonly millis: Millis
  /** The greatest counter that the client may have had to try. */
  readonly work: number
}

/** Consumers of one address, and of one network, that count for nothing: a household, and a neighbourhood. */
export const addressEntriesFree = 3
export const networkEntriesFree = 20

/** Consumers from which on the part is the whole. */
export const addressEntriesFull = 30
export const networkEntriesFull = 200

/** No browser starts its workers, finds a solution and sends it in this time. */
export const challengeMillisLeast = 40

/** The same for much work, for each unit of it. A browser with sixteen cores needs some 1,500 ns on average. */
export const challengeNanosPerWorkLeast = 500

/**
 * The age from which on an account is not new. People take longer from a page to its button. In a drop most guests are
 * seconds old, so more would mark all of them, and make their events larger.
 */
export const accountAgeMillisFull = 3_000

/** The greatest part of each reason, in hundredths. Together they are 100. */
export const partMax: { readonly [R in RiskReason]: number } = {
  SHARED_ADDRESS: 40,
  SHARED_NETWORK: 20,
  FAST_CHALLENGE: 20,
  NEW_ACCOUNT: 20
}

/** Returns the risk. Undefined if nothing suggests one. More of a signal never makes it less. Costs some 0.1 µs. */
export const assess = (signals: Signals): Risk | undefined => {
  const { addressEntries, networkEntries, challenge, accountAgeMillis } = signals
  const address = part("SHARED_ADDRESS", between(addressEntries, addressEntriesFree, addressEntriesFull))
  const network = part("SHARED_NETWORK", between(networkEntries, networkEntriesFree, networkEntriesFull))
  const fast = challenge === undefined ? 0 : part("FAST_CHALLENGE", haste(challenge))
  const recent = part("NEW_ACCOUNT", 1 - between(accountAgeMillis, 0, accountAgeMillisFull))
  const hundredths = address + network + fast + recent
  if (hundredths === 0) return undefined
  const reasons: Array<RiskReason> = []
  if (address > 0) reasons.push("SHARED_ADDRESS")
  if (network > 0) reasons.push("SHARED_NETWORK")
  if (fast > 0) reasons.push("FAST_CHALLENGE")
  if (recent > 0) reasons.push("NEW_ACCOUNT")
  return { score: hundredths / 100, reasons }
}

const part = (reason: RiskReason, strength: number): number => Math.round(partMax[reason] * strength)

/** Returns how far the value is from `none` to `all`: 0 to 1. */
const between = (value: number, none: number, all: number): number =>
  Math.min(1, Math.max(0, (value - none) / (all - none)))

const haste = ({ millis, work }: SolvedChallenge): number =>
  1 - between(millis, 0, Math.max(challengeMillisLeast, (work * challengeNanosPerWorkLeast) / 1_000_000))
