/**
 * Rules shared by the kinds that make grants: completing, denying, leaving and removing a place, and the expiry of
 * grants. A kind uses the rules that fit it and defines the others itself.
 */
import { authored } from "./Author.ts"
import type { IndexedList, Member } from "./IndexedList.ts"
import { WrongStatus } from "./Refusals.ts"
import type { TimedTransition } from "./Timed.ts"
import type { Millis } from "../values/Time.ts"

/** A command about one consumer's place; `by` is the API key that was used, absent if the consumer did it. */
interface PlaceCommand {
  readonly consumerId: string
  readonly by?: string | undefined
}

/** The same command from an admin, or a shop's server. */
interface AdminPlaceCommand extends PlaceCommand {
  readonly by: string
}

/** An event of one consumer's place. */
interface PlaceEvent<Tag extends string> {
  readonly _tag: Tag
  readonly at: Millis
  readonly consumerId: string
  readonly by?: string
}

type Denied<Reason> = PlaceEvent<"Denied"> & { readonly reason: Reason }

/** The statuses in which a kind's places can change. */
export interface GrantStatuses<Status extends string> {
  /** The place holds a grant. */
  readonly granted: Status
  /** The place waits for a grant; absent where a consumer enters with one. */
  readonly waiting?: Status
}

const unchanged: ReadonlyArray<never> = []

/**
 * Returns the rules for places of these statuses. Each rule takes the status of the place at `at`, deadlines applied,
 * and returns events, none if the command changes nothing, or the refusal.
 */
export const grantRules = <Status extends string>({ granted, waiting }: GrantStatuses<Status>) => {
  const isOutstanding = (status: string): boolean => status === granted || (waiting !== undefined && status === waiting)

  return {
    /** Completes a grant, because the shop has sold its unit. */
    complete: (
      status: string,
      { consumerId, by }: AdminPlaceCommand,
      at: Millis
    ): ReadonlyArray<PlaceEvent<"Completed">> | WrongStatus => {
      if (status === "COMPLETED") return unchanged
      return status === granted ? [{ _tag: "Completed", at, consumerId, by }] : new WrongStatus({ status })
    },

    /** Denies the place, or takes its grant away, for an admin. */
    deny: <Reason extends string>(
      status: string,
      { consumerId, by, reason }: AdminPlaceCommand & { readonly reason: Reason },
      at: Millis
    ): ReadonlyArray<Denied<Reason>> | WrongStatus => {
      if (status === "DENIED") return unchanged
      return isOutstanding(status) ? [{ _tag: "Denied", at, consumerId, reason, by }] : new WrongStatus({ status })
    },

    /** Gives up the place or the grant, for its consumer. */
    leave: (
      status: string,
      { consumerId, by }: PlaceCommand,
      at: Millis
    ): ReadonlyArray<PlaceEvent<"Left">> | WrongStatus => {
      if (status === "LEFT") return unchanged
      return isOutstanding(status) ? [{ _tag: "Left", at, consumerId, ...authored(by) }] : new WrongStatus({ status })
    },

    /** Removes an archived consumer: it leaves while it waits, and loses its grant. */
    remove: (
      status: string,
      { consumerId, by }: AdminPlaceCommand,
      at: Millis
    ): ReadonlyArray<PlaceEvent<"Left"> | Denied<"ADMIN_ACTION">> => {
      if (status === granted) return [{ _tag: "Denied", at, consumerId, reason: "ADMIN_ACTION", by }]
      return isOutstanding(status) ? [{ _tag: "Left", at, consumerId, by }] : unchanged
    }
  }
}

/** A place that holds a grant; `order` is when the grant expires. */
interface Expirable<P> extends Member<P> {
  readonly consumerId: string
  order: Millis
}

/** The expiry of the next grant that was not used in time. */
export const expiry: TimedTransition<
  { readonly expiring: { readonly first: { readonly consumerId: string; readonly order: Millis } | undefined } },
  PlaceEvent<"Expired">
> = {
  dueAt: ({ expiring }) => expiring.first?.order ?? Infinity,
  make: ({ expiring }, at) => ({ _tag: "Expired", at, consumerId: expiring.first!.consumerId })
}

/** Sets the expiry of a grant made at `at`, and lists the grant with those that expire. It must not be listed yet. */
export const startExpiry = <P extends Expirable<P>>(
  {
    configuration,
    expiring
  }: {
    readonly configuration: { readonly admissionExpirationSeconds?: number | undefined }
    readonly expiring: IndexedList<P>
  },
  place: P,
  at: Millis
): void => {
  const { admissionExpirationSeconds } = configuration
  place.order = admissionExpirationSeconds === undefined ? Infinity : at + admissionExpirationSeconds * 1000
  if (place.order !== Infinity) expiring.insert(place)
}
