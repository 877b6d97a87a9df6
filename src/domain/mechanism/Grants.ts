/**
 * Rules shared by the kinds that make grants: completing, denying, leaving and removing a place, and the expiry of
 * grants. A kind uses the rules that fit it and defines the others itself.
 */
import { type AdminPlaceCommand, type PlaceCommand, unchanged } from "./Administration.ts"
import { authored } from "./Author.ts"
import type { IndexedList, Member } from "./IndexedList.ts"
import { ended, type GrantRecord, noteGrant } from "./GrantRecord.ts"
import { AlreadyCompleted, AlreadyRedeemed, InvalidGrant, WrongStatus } from "./Refusals.ts"
import type { TimedTransition } from "./Timed.ts"
import type { Millis } from "../values/Time.ts"

/** Completes a consumer's grant, because the shop has sold its unit. */
export interface Complete extends AdminPlaceCommand<"Complete"> {
  /** The shop's name for this redemption. The first one wins. */
  readonly redemptionId?: string | undefined
  /** The grant that the shop was shown, by its sequence. Absent: the one that the consumer holds. */
  readonly grantSequence?: number | undefined
}

/** Denies a consumer's place, or takes its grant away. */
export interface Deny<Reason extends string> extends AdminPlaceCommand<"Deny"> {
  readonly reason: Reason
}

/** The refusals of {@link Complete}. */
export type CompleteRefusal = WrongStatus | InvalidGrant | AlreadyCompleted | AlreadyRedeemed

/** An event of one consumer's place. */
interface PlaceEvent<Tag extends string> {
  readonly _tag: Tag
  readonly at: Millis
  readonly consumerId: string
  readonly by?: string
}

/** An event that ends a place, and a grant if the place holds one. */
type EndEvent<Tag extends string> = PlaceEvent<Tag> & {
  readonly grant?: { readonly sequence: number; readonly expiresAt?: Millis }
}

type Completed = EndEvent<"Completed"> & { readonly redemptionId?: string }
type Denied<Reason> = EndEvent<"Denied"> & { readonly reason: Reason }

/** The part of a state that records its consumers' grants. */
interface GrantsHeld {
  readonly places: ReadonlyMap<string, { readonly grants: GrantRecord | undefined }>
}

/** The statuses in which a kind's places can change. */
export interface GrantStatuses<State, Status extends string> {
  /** Returns the status of the consumer's place at `at`, deadlines applied. */
  readonly statusOf: (state: State, consumerId: string, at: Millis) => string
  /** The place holds a grant. */
  readonly granted: Status
  /** The place waits for a grant; absent where a consumer enters with one. */
  readonly waiting?: ReadonlyArray<Status>
}

/** Returns whether this grant was completed before, with this redemption or another one. */
const completedBefore = (
  { sequence, redemptionId: first }: GrantRecord,
  redemptionId: string | undefined
): AlreadyCompleted | AlreadyRedeemed =>
  redemptionId === undefined || redemptionId === first
    ? new AlreadyCompleted({ grantSequence: sequence })
    : new AlreadyRedeemed({ grantSequence: sequence })

/** Returns the refusal of a redemption that completed an earlier grant of the consumer. */
const completedEarlier = (
  record: GrantRecord | undefined,
  { redemptionId, grantSequence }: Complete
): AlreadyCompleted | undefined => {
  if (record?.earlier === undefined || redemptionId === undefined) return undefined
  const earlier = record.earlier.find(
    (one) => one.redemptionId === redemptionId && (grantSequence === undefined || grantSequence === one.sequence)
  )
  return earlier && new AlreadyCompleted({ grantSequence: earlier.sequence })
}

/**
 * Completes a grant once. Its first redemption wins: the same one again, or a command that names none, is
 * `AlreadyCompleted`, another one `AlreadyRedeemed`. A grant that was completed without a redemption counts as redeemed.
 */
const completed = (
  isGranted: boolean,
  status: string,
  command: Complete,
  at: Millis,
  record: GrantRecord | undefined
): ReadonlyArray<Completed> | CompleteRefusal => {
  const { consumerId, by, redemptionId, grantSequence } = command
  const earlier = completedEarlier(record, command)
  if (earlier !== undefined) return earlier
  if (grantSequence !== undefined && grantSequence !== record?.sequence) return new InvalidGrant()
  if (status === "COMPLETED" && record !== undefined) return completedBefore(record, redemptionId)
  if (!isGranted) return new WrongStatus({ status })
  const redemption = redemptionId === undefined ? {} : { redemptionId }
  return [{ _tag: "Completed", at, consumerId, by, ...redemption, ...ended(record) }]
}

/**
 * Returns the rules for places of these statuses. Each rule returns the events of a command at `at`, none if the command
 * changes nothing, or the refusal.
 */
export const grantRules = <State extends GrantsHeld, Status extends string>({
  statusOf,
  granted,
  waiting = []
}: GrantStatuses<State, Status>) => {
  /** Returns the status of a consumer's place, with the field of the event that ends the grant it holds. */
  const standingOf = (state: State, consumerId: string, at: Millis) => {
    const status = statusOf(state, consumerId, at)
    const record = state.places.get(consumerId)?.grants
    const isGranted = status === granted
    const isOutstanding = isGranted || (waiting as ReadonlyArray<string>).includes(status)
    return { status, record, isGranted, isOutstanding, grant: isGranted ? ended(record) : {} }
  }

  return {
    /** Completes a grant once; see {@link completed}. */
    complete: (state: State, command: Complete, at: Millis) => {
      const { status, record, isGranted } = standingOf(state, command.consumerId, at)
      return completed(isGranted, status, command, at, record)
    },

    /** Denies the place, or takes its grant away, for an admin. */
    deny: <Reason extends string>(
      state: State,
      { consumerId, by, reason }: Deny<Reason>,
      at: Millis
    ): ReadonlyArray<Denied<Reason>> | WrongStatus => {
      const { status, isOutstanding, grant } = standingOf(state, consumerId, at)
      if (status === "DENIED") return unchanged
      if (!isOutstanding) return new WrongStatus({ status })
      return [{ _tag: "Denied", at, consumerId, reason, by, ...grant }]
    },

    /** Gives up the place or the grant, for its consumer. */
    leave: (
      state: State,
      { consumerId, by }: PlaceCommand<"Leave">,
      at: Millis
    ): ReadonlyArray<EndEvent<"Left">> | WrongStatus => {
      const { status, isOutstanding, grant } = standingOf(state, consumerId, at)
      if (status === "LEFT") return unchanged
      if (!isOutstanding) return new WrongStatus({ status })
      return [{ _tag: "Left", at, consumerId, ...authored(by), ...grant }]
    },

    /** Removes an archived consumer: it leaves while it waits, and loses its grant. */
    remove: (
      state: State,
      { consumerId, by }: AdminPlaceCommand<"Remove">,
      at: Millis
    ): ReadonlyArray<EndEvent<"Left"> | Denied<"ADMIN_ACTION">> => {
      const { isGranted, isOutstanding, grant } = standingOf(state, consumerId, at)
      if (isGranted) return [{ _tag: "Denied", at, consumerId, reason: "ADMIN_ACTION", by, ...grant }]
      return isOutstanding ? [{ _tag: "Left", at, consumerId, by }] : unchanged
    }
  }
}

/** A place that holds a grant; `order` is when the grant expires. */
interface Expirable<P> extends Member<P> {
  readonly consumerId: string
  order: Millis
  grants: GrantRecord | undefined
}

/** The expiry of the next grant that was not used in time. */
export const expiry: TimedTransition<
  { readonly expiring: { readonly first: { readonly consumerId: string; readonly order: Millis } | undefined } },
  PlaceEvent<"Expired">
> = {
  dueAt: ({ expiring }) => expiring.first?.order ?? Infinity,
  make: ({ expiring }, at) => ({ _tag: "Expired", at, consumerId: expiring.first!.consumerId })
}

/**
 * Records a grant made by the last event, at `at`, sets its expiry, and lists it with those that expire. It must not be
 * listed yet.
 */
export const startGrant = <P extends Expirable<P>>(
  {
    sequence,
    configuration,
    expiring
  }: {
    readonly sequence: number
    readonly configuration: {
      readonly admissionExpirationSeconds?: number | undefined
      readonly admissionRenewal?: { readonly idleSeconds: number; readonly maxSeconds: number } | undefined
    }
    readonly expiring: IndexedList<P>
  },
  place: P,
  at: Millis
): void => {
  const { admissionExpirationSeconds = Infinity, admissionRenewal } = configuration
  place.order = at + (admissionRenewal?.idleSeconds ?? admissionExpirationSeconds) * 1000
  noteGrant(place, sequence, admissionRenewal === undefined ? place.order : at + admissionRenewal.maxSeconds * 1000)
  if (place.order !== Infinity) expiring.insert(place)
}
