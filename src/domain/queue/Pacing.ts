/**
 * Admission by rate. Admissions are evenly spaced, `60,000 / admitRate` milliseconds apart, counted from an anchor. If no
 * consumer waits at the time of an admission, it is lost: the next consumer is admitted at once and becomes the new anchor.
 * So any span of t seconds holds at most `ceil(admitRate × t / 60) + 1` admissions (above 60,000 a minute several share a
 * millisecond, and a span reaches to the end of its last one). A pause counts like a time in which no consumer waits.
 *
 * With `standby` as many as `admitBurst` admissions are not lost but kept: then the last number is `admitBurst` instead
 * of 1.
 */
import type { Millis } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"
import { admissionsLeft, insideLeft, isInLobby, type State, unitsLeft } from "./State.ts"

/**
 * How late an admission may be noticed and still count as made at its time, in milliseconds. Covers timers and
 * batches. After a longer pause the missed admissions are dropped, because they would all come in one burst.
 */
export const admissionCatchUpMillis = 250

/** Returns when the next admission by rate is due if nothing else happens; Infinity if none is. */
export const admissionDueAt = (state: State): Millis =>
  state.admissibleSince === Infinity ? Infinity : Math.max(expectedAt(state), state.admissibleSince)

/** Returns when an admission due at `dueAt` counts as made, if the actor notices it at `now`. */
export const admissionNoticedAt = (dueAt: Millis, now: Millis): Millis =>
  dueAt + admissionCatchUpMillis < now ? now : dueAt

/** Whether the rate admits a consumer that enters at `at` in its own commit. */
export const isAdmittedAtOnce = (state: State, at: Millis): boolean =>
  state.configuration.standby === true && state.waiting.size === 0 && mayAdmit(state) && expectedAt(state) <= at

/** Counts an admission by rate. */
export const countAdmission = (state: State, at: Millis): void => {
  if (at >= expectedAt(state) && at <= instantOf(state, state.admittedSinceAnchor)) state.admittedSinceAnchor++
  else {
    state.anchorAt = at
    state.admittedSinceAnchor = 1
  }
  state.lastAdmittedAt = at
}

/** Notes the change of a configuration. An admission that becomes due by it was not due before. */
export const changePace = (state: State, before: Configuration): void => {
  const isSpacingNew = state.configuration.admitRate !== before.admitRate
  if (isSpacingNew) changeSpacing(state, before)
  if (isSpacingNew || burstOf(state.configuration) !== burstOf(before)) state.admissibleSince = Infinity
}

/** Counts from the last admission on, because the spacing changes. What a burst has taken in advance stays taken. */
const changeSpacing = (state: State, { admitRate, standby }: Configuration): void => {
  const { anchorAt, admittedSinceAnchor, lastAdmittedAt } = state
  if (admittedSinceAnchor > 0) {
    const passed = ((lastAdmittedAt - anchorAt) * admitRate) / 60_000
    state.anchorAt = lastAdmittedAt
    state.admittedSinceAnchor = standby === true ? Math.max(1, Math.ceil(admittedSinceAnchor - passed)) : 1
  }
}

/** Notes since when the rate may admit a consumer. Called after each event. */
export const noteAdmissible = (state: State, at: Millis): void => {
  if (state.waiting.size === 0 || !mayAdmit(state)) state.admissibleSince = Infinity
  else if (state.admissibleSince === Infinity) state.admissibleSince = at
}

/** Whether everything but the spacing lets the rate admit. */
const mayAdmit = (state: State): boolean =>
  state.configuration.admitRate > 0 &&
  state.pause === undefined &&
  state.closedAt === Infinity &&
  !isInLobby(state) &&
  admissionsLeft(state) > 0 &&
  insideLeft(state) > 0 &&
  unitsLeft(state) > 0

/** Returns the earliest instant that keeps the spacing. */
const expectedAt = (state: State): Millis =>
  instantOf(state, state.admittedSinceAnchor + 1 - burstOf(state.configuration))

/** Returns the instant of the admission of this number, counted from the anchor's. */
const instantOf = ({ anchorAt, configuration }: State, number: number): Millis =>
  anchorAt + Math.ceil((number * 60_000) / configuration.admitRate)

/** Returns how many admissions may be made at once. */
const burstOf = ({ standby, admitBurst, admitRate }: Configuration): number =>
  standby === true ? (admitBurst ?? Math.max(1, Math.floor(admitRate / 60))) : 1
