/**
 * The refusals that mechanisms share. A refusal changes nothing; its HTTP status is attached where the API is declared.
 */
import { Schema } from "effect"

/** The mechanism does not take entries yet; `opensAt` in milliseconds since the epoch. 423 */
export class NotOpen extends Schema.TaggedError<NotOpen>()("NotOpen", { opensAt: Schema.Finite }) {}

/** The mechanism takes no more entries, or its configuration can no longer change. 409 `CLOSED` */
export class Closed extends Schema.TaggedError<Closed>()("Closed", {}) {}

/** The maximum of consumers wait. 409 `QUEUE_FULL`; a place may be free after `retryAfterSeconds`. */
export class Full extends Schema.TaggedError<Full>()("Full", { retryAfterSeconds: Schema.Int }) {}

/** Guests may not enter this mechanism. 403 */
export class GuestsRefused extends Schema.TaggedError<GuestsRefused>()("GuestsRefused", {}) {}

/** The consumer is not in the sequence's audience, or has not shown its access code. 403 */
export class NotInvited extends Schema.TaggedError<NotInvited>()("NotInvited", {}) {}

/** The consumer has reached its maximum of orders in the sequence. 409 `DISTRIBUTION_ORDER_LIMIT` */
export class OrderLimitReached extends Schema.TaggedError<OrderLimitReached>()("OrderLimitReached", {}) {}

/** The consumer's place has the status `status`, which does not allow the command. 409 `INVALID_STATUS` */
export class WrongStatus extends Schema.TaggedError<WrongStatus>()("WrongStatus", { status: Schema.String }) {}

/** The consumer is not in the mechanism. 409 `NOT_ENTERED` */
export class NotEntered extends Schema.TaggedError<NotEntered>()("NotEntered", {}) {}

/** A grant has been made, so the consumer cannot leave. 409 `ALREADY_GRANTED` */
export class AlreadyGranted extends Schema.TaggedError<AlreadyGranted>()("AlreadyGranted", {}) {}

/** The consumer has had as many grants here as one may have. 409 `GRANT_LIMIT_REACHED` */
export class GrantLimitReached extends Schema.TaggedError<GrantLimitReached>()("GrantLimitReached", {}) {}

/** The token is a grant, but not the one that the consumer holds or has used here. 409 `INVALID_GRANT` */
export class InvalidGrant extends Schema.TaggedError<InvalidGrant>()("InvalidGrant", {}) {}

/**
 * The grant was completed before, with the same redemption or without a new one. Nothing changed, and the caller gets
 * the same answer as the first time. `grantSequence` names the grant.
 */
export class AlreadyCompleted extends Schema.TaggedError<AlreadyCompleted>()("AlreadyCompleted", {
  grantSequence: Schema.Int
}) {}

/** The grant was completed before, by another redemption. 409 `ALREADY_REDEEMED` */
export class AlreadyRedeemed extends Schema.TaggedError<AlreadyRedeemed>()("AlreadyRedeemed", {
  grantSequence: Schema.Int
}) {}

/** The name of a setting that can no longer change. 409 `CONFIGURATION_FIXED` */
export class ConfigurationFixed extends Schema.TaggedError<ConfigurationFixed>()("ConfigurationFixed", {
  setting: Schema.String
}) {}

/** Another change came first: the configuration is no longer the one that this change was derived from. 503 */
export class ConfigurationChanged extends Schema.TaggedError<ConfigurationChanged>()("ConfigurationChanged", {}) {}

/** The mechanism has made its maximum of grants. 409 `ADMISSIONS_USED_UP` */
export class AdmissionsUsedUp extends Schema.TaggedError<AdmissionsUsedUp>()("AdmissionsUsedUp", {}) {}

/** As many grants are live as may be at once. 409 `INSIDE_LIMIT_REACHED` */
export class InsideLimitReached extends Schema.TaggedError<InsideLimitReached>()("InsideLimitReached", {}) {}

/** The mechanism's grants cannot be renewed. 409 `NOT_RENEWABLE` */
export class NotRenewable extends Schema.TaggedError<NotRenewable>()("NotRenewable", {}) {}

/** Every unit is held or taken. 409 `SOLD_OUT`; `retryAfterSeconds` is absent if none is expected to become free. */
export class SoldOut extends Schema.TaggedError<SoldOut>()("SoldOut", {
  retryAfterSeconds: Schema.optionalKey(Schema.Int)
}) {}

/** The bid would not lead, or is below the price; `minimumBid` would be enough now. 409 `BID_TOO_LOW` */
export class BidTooLow extends Schema.TaggedError<BidTooLow>()("BidTooLow", { minimumBid: Schema.String }) {}

/** The bid is above the highest one that is accepted now, `maximumBid`. 409 `BID_TOO_HIGH` */
export class BidTooHigh extends Schema.TaggedError<BidTooHigh>()("BidTooHigh", { maximumBid: Schema.String }) {}

/**
 * The bid is far above the least one that is accepted, perhaps by mistake, and nobody who can be reached has confirmed it.
 * `maximumBid` needs no confirmation. 409 `BID_UNLIKELY`
 */
export class BidUnlikely extends Schema.TaggedError<BidUnlikely>()("BidUnlikely", { maximumBid: Schema.String }) {}

/** The bid is not in whole minor units of the currency, which has `fractionDigits` digits after the point. 400 */
export class AmountNotWhole extends Schema.TaggedError<AmountNotWhole>()("AmountNotWhole", {
  amount: Schema.String,
  fractionDigits: Schema.Int
}) {}

/** A bid in an english auction needs an amount. 400 */
export class AmountMissing extends Schema.TaggedError<AmountMissing>()("AmountMissing", {}) {}

/** The consumer has booked another slot. 409 `ALREADY_BOOKED` */
export class AlreadyBooked extends Schema.TaggedError<AlreadyBooked>()("AlreadyBooked", {}) {}

/** Every place of the slot is taken. 409 `SLOT_FULL` */
export class SlotFull extends Schema.TaggedError<SlotFull>()("SlotFull", {}) {}

/** The slot has begun. 409 `SLOT_PAST` */
export class SlotPast extends Schema.TaggedError<SlotPast>()("SlotPast", {}) {}

/** The slot has not begun. 409 `SLOT_NOT_BEGUN` */
export class SlotNotBegun extends Schema.TaggedError<SlotNotBegun>()("SlotNotBegun", {}) {}

/** There is no such slot in this appointment. 404 */
export class UnknownSlot extends Schema.TaggedError<UnknownSlot>()("UnknownSlot", {}) {}

/** The appointment is at another location. 404 */
export class UnknownLocation extends Schema.TaggedError<UnknownLocation>()("UnknownLocation", {}) {}

/** The consumer that a server names does not belong to the tenant, or is archived. 404 */
export class UnknownConsumer extends Schema.TaggedError<UnknownConsumer>()("UnknownConsumer", {}) {}

/** The mechanism does not offer the variant. 404 */
export class UnknownVariant extends Schema.TaggedError<UnknownVariant>()("UnknownVariant", {}) {}

/** The refusals that every kind has. */
export type CommonRefusal = NotOpen | Closed | GuestsRefused | ConfigurationFixed | ConfigurationChanged
