/**
 * The rules of the adaptive gate: when a caller must solve a challenge, and how much work it is. They depend on the
 * arrivals from the caller's address, and on the arrivals in its whole scope: an organization's new guests, its code
 * requests, or the entries into one experience.
 *
 * Counts decay by half in a fixed time, so a count needs two numbers and no list.
 */
import type { Millis } from "../values/Time.ts"
import type { ChallengeMode } from "./Challenge.ts"

/** Arrivals from one address that pass without a challenge, at once and then about 3.5 a minute. */
const freeArrivals = 5

/** The half-life of the count that decides whether an address is crowded. */
const crowdHalfLifeMillis = 60_000

/** The half-life of the count that decides how much work a crowded address gets. */
const workHalfLifeMillis = 600_000

/** The half-life of the pressure on a scope. */
const pressureHalfLifeMillis = 10_000

/** The pressure that counts as a flood: some 7 arrivals a second, or 100 at once. */
const floodPressure = 100

/** The most that one address adds to the pressure at once. So few addresses cannot make a flood. */
const pressureOfAddressMax = 5

/** The least and the most work: the greatest counter that a client may have to try. On average it is half of that. */
export const leastWork = 3_000
export const mostWork = 256 * leastWork

/** Each arrival from an address multiplies the work of the next one: little on a calm day, much in a flood. */
const calmGrowth = 1.15
const floodGrowth = 4

/** The most work outside a flood. */
const calmWorkMax = 8 * leastWork

/** The arrivals from one address. Times are in milliseconds. */
export interface AddressArrivals {
  crowd: number
  work: number
  pressed: number
  at: Millis
}

export interface ScopeArrivals {
  pressure: number
  at: Millis
}

export const noAddressArrivals = (at: Millis): AddressArrivals => ({ crowd: 0, work: 0, pressed: 0, at })
export const noScopeArrivals = (at: Millis): ScopeArrivals => ({ pressure: 0, at })

/** Notes an attempt, whether it is admitted or not. Changes both counts. */
export const attempt = (address: AddressArrivals, scope: ScopeArrivals, now: Millis): void => {
  if (now > address.at) {
    const elapsed = now - address.at
    address.crowd *= halved(elapsed, crowdHalfLifeMillis)
    address.work *= halved(elapsed, workHalfLifeMillis)
    address.pressed *= halved(elapsed, pressureHalfLifeMillis)
    address.at = now
  }
  if (now > scope.at) {
    scope.pressure *= halved(now - scope.at, pressureHalfLifeMillis)
    scope.at = now
  }
  if (address.pressed + 1 > pressureOfAddressMax) return
  address.pressed += 1
  scope.pressure += 1
}

/** Notes that the attempt was admitted. */
export const admitted = (address: AddressArrivals): void => {
  address.crowd += 1
  address.work += 1
}

/**
 * Returns the work that the next arrival must do, after its attempt was noted. 0 means that it passes without a
 * challenge. An address that presses on the organization's limits has no free arrivals.
 */
export const workOf = (
  mode: ChallengeMode,
  address: AddressArrivals,
  scope: ScopeArrivals,
  isPressing: boolean = false
): number => {
  if (mode === "off") return 0
  const isFlooded = scope.pressure >= floodPressure
  const isFree = !isFlooded && !isPressing && address.crowd + 1 <= freeArrivals
  if (mode === "adaptive" && isFree) return 0
  return isFlooded
    ? Math.min(mostWork, Math.round(leastWork * floodGrowth ** address.work))
    : Math.min(calmWorkMax, Math.round(leastWork * calmGrowth ** address.work))
}

/**
 * True if a solution is enough for the work that is needed now. It may be half of that, because others may have arrived
 * from the address while the client worked.
 */
export const isEnough = (done: number, needed: number): boolean => done * 2 >= needed

/** Seconds for which a challenge can be solved: two minutes, and more where there is more work. */
export const lifetimeSeconds = (work: number): number => 120 + Math.ceil(work / 1_000)

const halved = (elapsed: Millis, halfLife: Millis): number => 2 ** (-elapsed / halfLife)
