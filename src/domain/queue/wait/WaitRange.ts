/**
 * The wait as a range. Waits are counted in admissions by rate, because a known rate turns them into time: of those
 * ahead, a share is still there when called ({@link ./Leaving.ts}), and the error of earlier estimates says how far the
 * call may be from that ({@link ./Conformal.ts}).
 *
 * The latest call that a consumer was told is kept: as an admission for each cohort of tickets, which falls and does not
 * rise, except by an act of staff. Everything follows from recorded events, and is updated by admissions, not by entries.
 */
import type { Millis } from "../../values/Time.ts"
import { admissionDueAt } from "../Pacing.ts"
import type { Place, State } from "../State.ts"
import { errorRange, noteOutcome } from "./Conformal.ts"
import { noteLeft, noteStayed, shareThatStays } from "./Leaving.ts"
import type { Outlook, Told, WaitRecord, WaitState } from "./WaitState.ts"

/** When a place will be called. */
export interface WaitRange {
  readonly earliest: Millis
  readonly latest: Millis
}

/** A line has this many cohorts, and some more while it grows: each new one is this part of it. */
const cohortsAim = 32

/**
 * The admissions after which the cohorts are looked at, and those after which a range is kept to be judged. Within these
 * bounds they are that part of the line.
 */
const refreshEvery = { least: 8, most: 128 }
const tellEvery = { least: 8, most: 16 }

/** The ranges whose outcome is awaited. */
const toldMax = 256

/** Returns what the ranges of all waiting places depend on; undefined if no rate tells when they are called. */
export const outlookOf = (state: State): Outlook | undefined => {
  const now = outlookNow(state)
  // The state goes on to change.
  return now === undefined ? undefined : { ...now, cohorts: now.cohorts.map((cohort) => ({ ...cohort })) }
}

const outlookNow = (state: State): Outlook | undefined => {
  const { wait, line, configuration } = state
  const dueAt = admissionDueAt(state)
  // With a limit, calls depend on how long others stay inside; with a stock, on the units that come back.
  if (
    dueAt === Infinity ||
    configuration.stockId !== undefined ||
    line.isMoved ||
    configuration.insideLimit !== undefined
  )
    return undefined
  const { errors, seen, formed, cohorts } = wait
  return { dueAt, spacing: spacingOf(state), calls: callsOf(state), errors, seen, formed, cohorts }
}

/** Returns when a waiting place will be called; undefined if no rate says so. */
export const waitRangeOf = (state: State, place: Place): WaitRange | undefined => {
  const outlook = place.ticket === 0 ? undefined : outlookNow(state)
  return outlook === undefined ? undefined : rangeIn(outlook, state.waiting.position(place), place.ticket)
}

/** Returns how many ranges, of those that were kept to be judged, covered the call. */
export const waitRecordOf = ({ wait: { conformal } }: State): WaitRecord => ({
  told: conformal.outcomes,
  right: conformal.covered
})

/** Notes that a place stops waiting; it is still in the list. */
export const noteStopped = (state: State, place: Place, at: Millis, hasLeft: boolean): void => {
  const { wait } = state
  const { ticket, enteredAt, status } = place
  if (status !== "QUEUED" || ticket === 0 || state.line.isMoved) return
  const cohort = cohortOf(wait, ticket)
  if (cohort !== undefined) cohort.waiting--
  if (hasLeft) {
    wait.seen++
    noteLeft(wait.leaving, (at - (cohort?.since ?? enteredAt)) / 1_000)
  }
  if (state.waiting.size === 1) forget(wait, state.line.issued)
}

/** Notes an admission by rate, after it. */
export const noteCall = (state: State, ticket: number, at: Millis): void => {
  const { wait, waiting } = state
  if (ticket >= wait.nextTold) judge(wait, ticket, at)
  if (waiting.size === 0 || state.line.isMoved) return
  wait.admissions++
  if (wait.admissions >= within(refreshEvery, waiting.size / cohortsAim)) refresh(state, at)
  wait.untold++
  if (wait.untold >= within(tellEvery, waiting.size / cohortsAim)) tell(state)
}

const within = ({ least, most }: typeof tellEvery, count: number): number => Math.min(most, Math.max(least, count))

/** Notes that a lobby has opened. */
export const noteOpening = (state: State, at: Millis): void => {
  // Who left the lobby was not counted.
  if (state.wait.cohorts.length === 0) state.wait.refreshedAt = at
  if (state.waiting.size > 0 && state.configuration.admitRate > 0) refresh(state, at)
}

/** Notes an act of staff that changes when calls come: what was told before may be too early. */
export const noteChange = (state: State, at: Millis, rateBefore = state.configuration.admitRate): void => {
  const { wait } = state
  const calls = callsOf(state)
  const spacing = spacingOf(state)
  const spacingBefore = 60_000 / rateBefore
  wait.errors = errorRange(wait.conformal)
  // A faster rate moves no call back.
  const isFaster = spacing < spacingBefore && spacingBefore !== Infinity
  for (const cohort of wait.cohorts) {
    cohort.isNew = true
    cohort.most = wait.errors[1]
    cohort.latest = isFaster ? calls + ((cohort.latest - calls) * spacingBefore) / spacing : Infinity
  }
  noteOpening(state, at)
}

const forget = (wait: WaitState, issued: number): void => {
  wait.cohorts = []
  wait.formed = issued
  wait.told = []
  wait.nextTold = Infinity
}

/** Looks at the whole line: who stayed, who will be there when called, and until when the call comes at the latest. */
const refresh = (state: State, at: Millis): void => {
  const { wait } = state
  const seconds = (at - wait.refreshedAt) / 1_000
  const [least, most] = errorRange(wait.conformal)
  wait.errors = [least, Math.min(wait.errors[1], most)]
  // The last one stays, because those behind it were told a latest call by it.
  wait.cohorts = wait.cohorts.filter((cohort, index, { length }) => cohort.waiting > 0 || index === length - 1)
  // No ticket is left that was told the former error.
  if (form(state)) wait.errors = [least, most]
  const calls = callsOf(state)
  const spacing = spacingOf(state) / 1_000
  let ahead = 0
  let staying = 0
  let latestBefore = Infinity
  for (const cohort of wait.cohorts) {
    const { waiting, since } = cohort
    const age = (at - since) / 1_000
    noteStayed(wait.leaving, age, waiting * Math.min(age, seconds))
    // The middle one of the cohort is called when those before it are.
    const before = staying
    for (let round = 0; round < 2; round++) {
      const called = (before + staying) / 2
      staying = before + waiting * shareThatStays(wait.leaving, age, called * spacing)
    }
    ahead += waiting
    cohort.most = Math.min(cohort.most, most)
    cohort.share = ahead === 0 ? 1 : staying / ahead
    if (cohort.isNew) {
      cohort.afterLatest = latestBefore
      cohort.latest = Math.min(cohort.latest, calls + staying + most * unitOf(wait, ahead, staying))
      cohort.isNew = false
    }
    latestBefore = cohort.latest
  }
  wait.refreshedAt = at
  wait.admissions = 0
}

/** Forms cohorts of the tickets that have none, if they are enough. Returns whether all have one then. */
const form = ({ wait, waiting }: State): boolean => {
  const formed = wait.cohorts.reduce((sum, cohort) => sum + cohort.waiting, 0)
  const size = Math.ceil(waiting.size / cohortsAim)
  if (waiting.size - formed < size) return waiting.size === formed
  const tickets: Array<Place> = []
  waiting.eachChunk((members) => {
    if (members.at(-1)!.ticket <= wait.formed) return true
    for (const member of members) {
      if (member.ticket <= wait.formed) continue
      tickets.push(member)
      if (tickets.length === size) addCohort(wait, tickets.splice(0))
    }
    return true
  })
  if (tickets.length > 0) addCohort(wait, tickets)
  return true
}

const addCohort = (wait: WaitState, members: ReadonlyArray<Place>): void => {
  const [first, last] = [members[0]!, members.at(-1)!]
  wait.cohorts.push({
    after: wait.formed,
    last: last.ticket,
    since: (first.enteredAt + last.enteredAt) / 2,
    waiting: members.length,
    isNew: true,
    most: wait.errors[1],
    share: 1,
    afterLatest: wait.cohorts.at(-1)?.latest ?? Infinity,
    latest: latestOf(wait, last.ticket, wait.errors[1])
  })
  wait.formed = last.ticket
}

/** Keeps a range of the line, of another depth each time, to judge it later. */
const tell = (state: State): void => {
  const { wait } = state
  const outlook = outlookNow(state)
  wait.untold = 0
  wait.tells++
  if (outlook === undefined || wait.told.length >= toldMax || wait.cohorts.length === 0) return
  const depth = wait.tells % 2 === 0 ? (wait.tells * 0.618_034) % 1 : 0.999
  const index = Math.floor(depth * wait.cohorts.length)
  const { last: ticket, share } = wait.cohorts[index]!
  let position = 0
  for (let ahead = 0; ahead <= index; ahead++) position += wait.cohorts[ahead]!.waiting
  if (position === 0) return
  const { earliest, latest } = rangeIn(outlook, position, ticket)
  const middle = position * share
  const { dueAt, spacing } = outlook
  const unit = unitOf(wait, position, middle)
  wait.told.push({ ticket, earliest, latest, dueAt, spacing, middle, unit })
  wait.nextTold = Math.min(wait.nextTold, ticket)
}

/** Compares what was told for the tickets up to this one with the call. */
const judge = (wait: WaitState, ticket: number, at: Millis): void => {
  const isCalled = (told: Told) => told.ticket <= ticket
  for (const { earliest, latest, dueAt, spacing, middle, unit } of wait.told.filter(isCalled)) {
    const error = ((at - dueAt) / spacing + 1 - middle) / unit
    noteOutcome(wait.conformal, error, earliest <= at && at <= latest)
  }
  wait.told = wait.told.filter((told) => !isCalled(told))
  wait.nextTold = wait.told.reduce((next, told) => Math.min(next, told.ticket), Infinity)
}

/** Returns when a place with this position and ticket will be called. */
export const rangeIn = (outlook: Outlook, position: number, ticket: number): WaitRange => {
  const { dueAt, spacing, calls, errors } = outlook
  const [least] = errors
  const most = cohortOf(outlook, ticket)?.most ?? errors[1]
  // All who are ahead may stay.
  const atMost = position + Math.max(0, most) * unitOfActs(position)
  const told = latestOf(outlook, ticket, most) - calls
  // What was told has proved wrong when it has passed.
  const latest = told < 1 ? atMost : Math.min(atMost, told)
  const middle = position * shareAt(outlook, ticket)
  const earliest = Math.min(latest, Math.max(1, middle + least * unitOf(outlook, position, middle)))
  return {
    earliest: Math.floor(dueAt + (earliest - 1) * spacing),
    latest: Math.ceil(dueAt + (latest - 1) * spacing)
  }
}

/**
 * The unit of errors, in admissions, so that errors at all depths and times compare. The number that leaves is the less
 * certain, the fewer have left.
 */
const unitOf = ({ seen }: Pick<Outlook, "seen">, position: number, staying: number): number =>
  unitOfActs(position) + (6 * (position - staying)) / Math.sqrt(1 + seen / 10)

/** The part for staff's acts and for chance. */
const unitOfActs = (position: number): number => 0.3 * Math.sqrt(position) + position / 16

/** The cohorts, as they are or as an outlook has them. */
type Line = Pick<Outlook, "cohorts" | "formed">

/** Interpolates between the cohorts. Tickets without one are as those at the end. */
const shareAt = (wait: Line, ticket: number): number => (cohortOf(wait, ticket) ?? wait.cohorts.at(-1))?.share ?? 1

/** Interpolates the admission that calls the ticket at the latest. */
const latestOf = (wait: Line, ticket: number, most: number): number => {
  const cohort = cohortOf(wait, ticket)
  if (cohort === undefined) {
    const before = wait.cohorts.at(-1)?.latest ?? Infinity
    return before + (ticket - wait.formed) * (1 + Math.max(0, most) / 8)
  }
  const { after, last, afterLatest, latest } = cohort
  if (afterLatest === Infinity) return latest
  return afterLatest + ((ticket - after) / (last - after)) * (latest - afterLatest)
}

const cohortOf = <C extends Line["cohorts"][number]>(
  { cohorts, formed }: { readonly cohorts: ReadonlyArray<C>; readonly formed: number },
  ticket: number
): C | undefined => {
  if (ticket > formed || cohorts.length === 0) return undefined
  let low = 0
  let high = cohorts.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if (cohorts[middle]!.last < ticket) low = middle + 1
    else high = middle
  }
  return cohorts[low]
}

const callsOf = ({ line }: State): number => line.tally.byRate

const spacingOf = ({ configuration }: State): number => 60_000 / configuration.admitRate
