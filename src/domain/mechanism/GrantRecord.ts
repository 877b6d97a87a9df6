/**
 * The grants that one consumer has had in one mechanism: how many, which one is the last, and how they were redeemed.
 * With the events that record this, and the fields of a consumer's view that show it.
 */
import { Schema } from "effect"
import type { Millis } from "../values/Time.ts"
import { by } from "./Author.ts"
import { at } from "./Lifecycle.ts"

/** The maximum of `grantsPerConsumer`. */
export const grantsPerConsumerMax = 1_000

/** The setting `grantsPerConsumer`: how many grants one consumer may have. */
export const GrantsPerConsumer = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: grantsPerConsumerMax }))

/** The maximum length of a redemption's id, in characters. */
export const redemptionIdLengthMax = 200

/** A grant that an event has ended before its time. Events from before it was recorded, and of places without a grant, have none. */
export const endedGrant = Schema.optionalKey(
  Schema.Struct({
    /** The sequence of the event that made it. */
    sequence: Schema.Int,
    /** When its token expires; absent: never. */
    expiresAt: Schema.optionalKey(Schema.Finite)
  })
)

/** The shop's name for the redemption of a grant; absent if it gave none. */
export const redemptionId = Schema.optionalKey(Schema.String)

/** The events that end a place or its grant, in a kind that denies with these reasons. */
export const grantEvents = <Reason extends Schema.Codec<string>>(reason: Reason) => ({
  /** The grant was not used in time. */
  Expired: { at, consumerId: Schema.String },
  Denied: { at, consumerId: Schema.String, reason, by, grant: endedGrant },
  Completed: { at, consumerId: Schema.String, by, redemptionId, grant: endedGrant }
})

/** The redemption of a grant that was not the last one. */
interface Redemption {
  readonly redemptionId: string
  readonly sequence: number
}

/** Allocated with a consumer's first grant, because most consumers wait for theirs. */
export class GrantRecord {
  /** How many grants the consumer has had, the last one included. */
  count = 0
  /** The sequence of the event that made the last one. */
  sequence = 0
  /** When the token of the last one expires; Infinity: never. A grant that is not renewed may end before. */
  expiresAt: Millis = Infinity
  /** With what the last one was completed. */
  redemptionId: string | undefined = undefined
  /** The redemptions of the grants before; at most `grantsPerConsumerMax`. */
  earlier: Array<Redemption> | undefined = undefined
}

/** A place that can hold grants. */
interface Holder {
  grants: GrantRecord | undefined
}

/** Records a new grant. `sequence` is its event's; `expiresAt` is its token's, Infinity if it does not expire. */
export const noteGrant = (place: Holder, sequence: number, expiresAt: Millis): void => {
  const record = (place.grants ??= new GrantRecord())
  if (record.redemptionId !== undefined) {
    record.earlier ??= []
    record.earlier.push({ redemptionId: record.redemptionId, sequence: record.sequence })
    if (record.earlier.length > grantsPerConsumerMax) record.earlier.shift()
    record.redemptionId = undefined
  }
  record.count++
  record.sequence = sequence
  record.expiresAt = expiresAt
}

/** Records the redemption that completed the last grant. */
export const noteRedemption = ({ grants }: Holder, redemptionId: string | undefined): void => {
  if (grants !== undefined) grants.redemptionId = redemptionId
}

/** Whether the consumer has had as many grants as `grantsPerConsumer` allows; absent: no limit. */
export const hasReachedLimit = ({ grants }: Holder, grantsPerConsumer: number | undefined): boolean =>
  grantsPerConsumer !== undefined && (grants?.count ?? 0) >= grantsPerConsumer

/** The field of the view of a consumer whose grant or place has ended. */
export interface LimitedGrants {
  /** Present if the consumer has had all its grants. */
  readonly grantLimitReached?: true
}

/** Returns the field that says that the consumer has had all its grants. */
export const grantLimit = (
  place: Holder,
  { grantsPerConsumer }: { readonly grantsPerConsumer?: number | undefined }
): LimitedGrants => (hasReachedLimit(place, grantsPerConsumer) ? { grantLimitReached: true } : {})

/** Returns the field of an event that ends the grant of this record. */
export const ended = (record: GrantRecord | undefined) =>
  record === undefined
    ? {}
    : {
        grant:
          record.expiresAt === Infinity
            ? { sequence: record.sequence }
            : { sequence: record.sequence, expiresAt: record.expiresAt }
      }

/** The fields of the view of a consumer that holds a grant. */
export interface HeldGrant {
  /** Absent if grants do not expire. */
  readonly expiresAt?: Millis
  /** When the grant's token expires, if that is later: until then the grant can be renewed. */
  readonly tokenExpiresAt?: Millis
  /** The sequence of the grant's event. With the mechanism's id it identifies the grant for ever. */
  readonly grantSequence: number
}

/** The fields of the view of a consumer that has completed a grant. */
export interface CompletedGrant {
  readonly completedAt: Millis
  /** The sequence of the completed grant. */
  readonly completedGrant?: number
}

/** Returns the field that names the last grant in the view of a consumer that has completed it. */
export const completedGrant = ({ grants }: Holder) => (grants === undefined ? {} : { completedGrant: grants.sequence })
