/**
 * The clock of an organization's test mode. It stands still until it is advanced, and goes forward only. An advance stops
 * at each instant at which something is due, until that has happened.
 */
import { dayMillis } from "../values/WallClock.ts"
import { latest, type Millis } from "../values/Time.ts"

/** Days that one advance goes forward at most. */
export const advanceDaysMax = 731

/** Seconds that a request waits for the end of an advance at most. */
export const advanceWaitSecondsMax = 10

/** Webhooks that may be named: those that are sent although a test clock runs. */
export const clockWebhooksMax = 20

/** Characters of a seed. */
export const clockSeedLengthMax = 100

export interface TestClock {
  readonly organizationId: string
  /** The time that test mode has now. */
  readonly frozenAt: Millis
  /** What simulated rounds of the beacon follow from. */
  readonly seed: string
  readonly webhookIds: ReadonlyArray<string>
  /** The advance that is under way, or that has failed. */
  readonly advance?: { readonly from: Millis; readonly to: Millis }
  /** Why the advance has failed. */
  readonly problem?: string
}

export type TestClockStatus = "READY" | "ADVANCING" | "FAILED"

export const statusOf = ({ advance, problem }: TestClock): TestClockStatus => {
  if (problem !== undefined) return "FAILED"
  return advance === undefined ? "READY" : "ADVANCING"
}

/** Returns the share of the advance that is done, from 0 to 1 in steps of a thousandth; undefined without one. */
export const progressOf = ({ frozenAt, advance }: TestClock): number | undefined => {
  if (advance === undefined) return undefined
  const { from, to } = advance
  return to === from ? 1 : Math.floor(((frozenAt - from) / (to - from)) * 1_000) / 1_000
}

/** Returns why the clock cannot be advanced to an instant; undefined if it can. */
export const advanceProblem = (frozenAt: Millis, to: Millis): string | undefined => {
  if (to < frozenAt) return "an instant that is not before the test clock's time"
  if (to > Math.min(latest, frozenAt + advanceDaysMax * dayMillis)) {
    return `an instant at most ${advanceDaysMax} days after the test clock's time`
  }
  return undefined
}
