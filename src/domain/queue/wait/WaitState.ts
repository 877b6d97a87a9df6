/** The part of a queue's state from which waits are estimated. {@link ./WaitRange.ts} has the rules. */
import type { Millis } from "../../values/Time.ts"
import { type Conformal, errorRange, missShare, newConformal } from "./Conformal.ts"
import { defaultLeaving, type Leaving } from "./Leaving.ts"

/** Tickets that were issued one after another and still wait, or some of them. */
export interface Cohort {
  /** The last ticket before, and the last one. */
  readonly after: number
  readonly last: number
  /** About when they entered. */
  readonly since: Millis
  waiting: number
  /** The error of late calls that was told; it rises only with an act of staff. */
  most: number
  /** Its latest call is not told yet, or an act of staff changes it. */
  isNew: boolean
  /** Of those ahead of the last ticket's end: the share that will be there when called. */
  share: number
  /** The admission by rate, counted from the first, that calls `after` and `last` at the latest. */
  afterLatest: number
  latest: number
}

/** What the ranges of all places depend on, at one moment. */
export interface Outlook {
  /** When the first in the line is called, and the milliseconds between two calls. */
  readonly dueAt: Millis
  readonly spacing: number
  /** Admissions by rate so far. */
  readonly calls: number
  readonly errors: readonly [number, number]
  /** How many of this line have left. */
  readonly seen: number
  readonly formed: number
  readonly cohorts: ReadonlyArray<Pick<Cohort, "after" | "last" | "most" | "share" | "afterLatest" | "latest">>
}

/** A range that was told for a ticket, until the ticket is called. */
export interface Told {
  readonly ticket: number
  readonly earliest: Millis
  readonly latest: Millis
  /** When the first in the line was to be called, and the spacing of admissions then. */
  readonly dueAt: Millis
  readonly spacing: number
  /** The estimate, and the unit of its error, in admissions. */
  readonly middle: number
  readonly unit: number
}

/** The ranges whose outcome is known, and those of them that were right. */
export interface WaitRecord {
  readonly told: number
  readonly right: number
}

export interface WaitState {
  /** In the order of the line. Tickets behind the last one have no cohort yet. */
  cohorts: Array<Cohort>
  /** The last ticket of the last cohort. */
  formed: number
  /** When the cohorts were looked at, and the admissions since. */
  refreshedAt: Millis
  admissions: number
  /** Ranges that were kept to be judged, and the admissions since. */
  tells: number
  untold: number
  /** How many of this line have left. */
  seen: number
  readonly leaving: Leaving
  readonly conformal: Conformal
  /** The errors between which calls lie; the upper one rises only with an act of staff. */
  errors: readonly [number, number]
  told: Array<Told>
  /** The first ticket in `told`. */
  nextTold: number
}

/**
 * The errors before anything is known: those of seeded drops. What an organization's former drops have shown would make
 * the ranges about a tenth narrower.
 */
const defaultErrors = [-0.52, -0.4, -0.32, -0.26, -0.2, -0.13, -0.1, -0.06, -0.03, 0, 0, 0, 0.25, 0.5, 0.75, 1]

export const newWait = (): WaitState => {
  const conformal = newConformal(missShare, defaultErrors)
  return {
    cohorts: [],
    formed: 0,
    refreshedAt: -Infinity,
    admissions: 0,
    tells: 0,
    untold: 0,
    seen: 0,
    leaving: { leavers: [...defaultLeaving.leavers], staySeconds: [...defaultLeaving.staySeconds] },
    conformal,
    errors: errorRange(conformal),
    told: [],
    nextTold: Infinity
  }
}
