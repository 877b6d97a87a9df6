/**
 * Admission by rate. Admissions are evenly spaced, `60,000 / admitRate` milliseconds apart, counted from an anchor. If no
 * consumer waits at the time of an admission, it is lost: the next consumer is admitted at once and becomes the new anchor.
 * So any span of t seconds holds at most `ceil(admitRate × t / 60) + 1` admissions (above 60,000 a minute several share a
 * millisecond, and a span reaches to the end of its last one). A pause counts like a time in which no consumer waits.
 */
import type { Millis } from "../values/Time.ts"
import { admissionsLeft, isInLobby, type State } from "./State.ts"

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

/** Counts an admission by rate. */
export const countAdmission = (state: State, at: Millis): void => {
  if (at === expectedAt(state)) state.admittedSinceAnchor++
  else {
    state.anchorAt = at
    state.admittedSinceAnchor = 1
  }
  state.lastAdmittedAt = at
}

/** Counts from the last admission on, because the spacing changes. */
export const changeSpacing = (state: State): void => {
  if (state.admittedSinceAnchor > 0) {
    state.anchorAt = state.lastAdmittedAt
    state.admittedSinceAnchor = 1
  }
  state.admissibleSince = Infinity
}

/** Notes since when the rate may admit a consumer. Called after each event. */
export const noteAdmissible = (state: State, at: Millis): void => {
  const admissible =
    state.waiting.size > 0 &&
    state.configuration.admitRate > 0 &&
    state.pause === undefined &&
    state.closedAt === Infinity &&
    !isInLobby(state) &&
    admissionsLeft(state) > 0
  if (!admissible) state.admissibleSince = Infinity
  else if (state.admissibleSince === Infinity) state.admissibleSince = at
}

/** Returns the earliest instant that keeps the spacing. */
const expectedAt = ({ anchorAt, admittedSinceAnchor, configuration }: State): Millis =>
  anchorAt + Math.ceil((admittedSinceAnchor * 60_000) / configuration.admitRate)
