/**
 * The HTTP answers to refusals of mechanisms and to errors of the engine, for all kinds of mechanism. An operation
 * declares the answers that it can have with `api/MechanismErrors.ts`.
 */
import { Effect } from "effect"
import { type Kind, actorNames } from "../../domain/mechanism/Mechanism.ts"
import type {
  AdmissionsUsedUp,
  AlreadyBooked,
  AlreadyCompleted,
  AlreadyGranted,
  AlreadyRedeemed,
  AmountMissing,
  AmountNotWhole,
  BidTooHigh,
  BidTooLow,
  BidUnlikely,
  Closed,
  ConfigurationChanged,
  ConfigurationFixed,
  Full,
  GrantLimitReached,
  GuestsRefused,
  InsideLimitReached,
  InvalidGrant,
  NotEntered,
  NotInvited,
  NotOpen,
  NotRenewable,
  OrderLimitReached,
  SlotFull,
  SlotNotBegun,
  SlotPast,
  SoldOut,
  UnknownConsumer,
  UnknownLocation,
  UnknownSlot,
  UnknownVariant,
  WrongStatus
} from "../../domain/mechanism/Refusals.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { EngineError } from "../../engine/Engine.ts"
import type { KeyTaken } from "../../store/consumer/ConsumerWrites.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import type { RecordNotFound } from "../../store/records/RecordNotFound.ts"
import type { ChallengeAsked } from "../../auth/challenge/Challenges.ts"
import { ChallengeRequired, challengeRequired } from "../../api/Challenge.ts"
import { answering } from "./Answering.ts"
import {
  BidConflict,
  BidTooHighConflict,
  BidUnlikelyConflict,
  Conflict,
  ConflictForNow,
  Forbidden,
  NotFound,
  NotOpenYet,
  ServiceUnavailable,
  type ValidationError
} from "../../api/Errors.ts"
import { issueAt } from "./Issues.ts"
import { invalidInput } from "./Validation.ts"
import type * as Refusals from "../../domain/mechanism/Refusals.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Every refusal, by its tag. */
interface Refusals {
  readonly NotOpen: NotOpen
  readonly Closed: Closed
  readonly Full: Full
  readonly GuestsRefused: GuestsRefused
  readonly NotInvited: NotInvited
  readonly OrderLimitReached: OrderLimitReached
  readonly WrongStatus: WrongStatus
  readonly NotEntered: NotEntered
  readonly AlreadyGranted: AlreadyGranted
  readonly ConfigurationChanged: ConfigurationChanged
  readonly ConfigurationFixed: ConfigurationFixed
  readonly AdmissionsUsedUp: AdmissionsUsedUp
  readonly InsideLimitReached: InsideLimitReached
  readonly NotRenewable: NotRenewable
  readonly SoldOut: SoldOut
  readonly GrantLimitReached: GrantLimitReached
  readonly InvalidGrant: InvalidGrant
  readonly AlreadyCompleted: AlreadyCompleted
  readonly AlreadyRedeemed: AlreadyRedeemed
  readonly BidTooLow: BidTooLow
  readonly BidTooHigh: BidTooHigh
  readonly BidUnlikely: BidUnlikely
  readonly AmountNotWhole: AmountNotWhole
  readonly AmountMissing: AmountMissing
  readonly UnknownConsumer: UnknownConsumer
  readonly UnknownVariant: UnknownVariant
  readonly AlreadyBooked: AlreadyBooked
  readonly SlotFull: SlotFull
  readonly SlotPast: SlotPast
  readonly SlotNotBegun: SlotNotBegun
  readonly UnknownSlot: UnknownSlot
  readonly UnknownLocation: UnknownLocation
  readonly ChallengeAsked: ChallengeAsked
}

export type Refusal = Refusals[keyof Refusals]

type Answer<E> =
  | (E extends NotOpen ? NotOpenYet : never)
  | (E extends Full ? ConflictForNow : never)
  | (E extends SoldOut ? Conflict | ConflictForNow : never)
  | (E extends UnknownConsumer | UnknownVariant | UnknownSlot | UnknownLocation ? NotFound : never)
  | (E extends BidTooLow ? BidConflict : never)
  | (E extends BidTooHigh ? BidTooHighConflict : never)
  | (E extends BidUnlikely ? BidUnlikelyConflict : never)
  | (E extends AmountMissing | AmountNotWhole ? ValidationError : never)
  | (E extends GuestsRefused | NotInvited ? Forbidden : never)
  | (E extends ChallengeAsked ? ChallengeRequired : never)
  | (E extends Closed | WrongStatus | ConfigurationFixed | AdmissionsUsedUp ? Conflict : never)
  | (E extends NotEntered | AlreadyGranted | OrderLimitReached ? Conflict : never)
  | (E extends InsideLimitReached | NotRenewable ? Conflict : never)
  | (E extends GrantLimitReached | InvalidGrant | AlreadyCompleted | AlreadyRedeemed ? Conflict : never)
  | (E extends AlreadyBooked | SlotFull | SlotPast | SlotNotBegun ? Conflict : never)
  | (E extends { readonly _tag: "MechanismNotFound" } ? NotFound : never)
  | (E extends ConfigurationChanged ? ServiceUnavailable : never)
  | (E extends { readonly _tag: "Unavailable" | "Overloaded" | "Parked" } ? ServiceUnavailable : never)

/** Turns refusals and the engine's errors into HTTP answers for this kind of mechanism. */
export const orAnswer =
  (kind: Kind) =>
  <A, E extends Refusal | EngineError, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Answer<E>, R> =>
    Effect.catch(effect, (error) =>
      Effect.flatMap(Time.now, (now) => Effect.fail(answerOf(kind, error, now) as Answer<E>))
    )

/** Turns a store that is unavailable into a 503, for operations that do not use the engine. */
export const orServiceUnavailable = answering({
  Unavailable: (_: Unavailable) => new ServiceUnavailable({ retryAfterSeconds: 1 })
})

/** Turns a record that does not exist into a 404 with its name. */
export const orNotFound = answering({ RecordNotFound: ({ record }: RecordNotFound) => NotFound.of(record) })

/** Turns an address or an external id that another consumer of the tenant has into a 409. */
export const orKeyTaken = answering({ KeyTaken: ({ field }: KeyTaken) => new Conflict(keysTaken[field]) })

const keysTaken = {
  email: { error: "Email is another consumer's", code: "EMAIL_TAKEN" },
  phone: { error: "Phone number is another consumer's", code: "PHONE_TAKEN" },
  externalId: { error: "External id is another consumer's", code: "EXTERNAL_ID_TAKEN" }
} as const

/** The answer to one refusal or error. */
export function answerOf(kind: Kind, error: Refusal | EngineError, now: Millis): Answer<Refusal | EngineError> {
  const label = actorNames[kind]
  switch (error._tag) {
    case "NotOpen":
      return new NotOpenYet({
        error: `${label} is not open yet`,
        opensAt: error.opensAt,
        retryAfterSeconds: Math.max(1, Math.ceil((error.opensAt - now) / 1000))
      })
    case "Closed":
      return new Conflict({ error: `${label} is closed`, code: "CLOSED" })
    case "Full":
      return new ConflictForNow({
        error: `${label} is full`,
        code: `${kind.toUpperCase()}_FULL`,
        retryAfterSeconds: Math.max(1, error.retryAfterSeconds)
      })
    case "GuestsRefused":
      return new Forbidden({ error: `${label} does not admit guests` })
    case "NotInvited":
      return new Forbidden({ error: `${label} is not for this consumer` })
    case "WrongStatus":
      return new Conflict({ error: `Not possible in status ${error.status}`, code: "INVALID_STATUS" })
    case "ConfigurationChanged":
      return new ServiceUnavailable({ retryAfterSeconds: 1 })
    case "ConfigurationFixed":
      return new Conflict({ error: `${error.setting} cannot be changed any more`, code: "CONFIGURATION_FIXED" })
    case "AdmissionsUsedUp":
      return new Conflict({ error: `${label} has no admissions left`, code: "ADMISSIONS_USED_UP" })
    case "InsideLimitReached":
      return new Conflict({ error: `${label} has as many grants as may be live`, code: "INSIDE_LIMIT_REACHED" })
    case "NotRenewable":
      return new Conflict({ error: `${label} does not renew grants`, code: "NOT_RENEWABLE" })
    case "SoldOut":
      return soldOut(error, label)
    case "BidTooLow":
      return new BidConflict({ error: "Bid is too low", code: "BID_TOO_LOW", minimumBid: error.minimumBid })
    case "BidTooHigh":
      return new BidTooHighConflict({ error: "Bid is too high", code: "BID_TOO_HIGH", maximumBid: error.maximumBid })
    case "BidUnlikely":
      return new BidUnlikelyConflict({
        error: "Bid is unusually high",
        code: "BID_UNLIKELY",
        maximumBid: error.maximumBid
      })
    case "AmountMissing":
    case "AmountNotWhole":
      return amountIssue(error)
    case "UnknownConsumer":
      return NotFound.of("Consumer")
    case "UnknownVariant":
      return NotFound.of("Variant")
    case "UnknownSlot":
      return NotFound.of("Slot")
    case "UnknownLocation":
      return NotFound.of("Location")
    default:
      return isFixed(error) ? conflictOf(error._tag) : engineAnswerOf(error)
  }
}

/** The answer to an error of the engine, or of the gate for bots before it. */
function engineAnswerOf(error: EngineError | ChallengeAsked): NotFound | ServiceUnavailable | ChallengeRequired {
  switch (error._tag) {
    case "ChallengeAsked":
      return challengeRequired(error)
    case "MechanismNotFound":
      return NotFound.of(actorNames[error.kind])
    case "Unavailable":
    case "Overloaded":
      return new ServiceUnavailable({ retryAfterSeconds: 1 })
    case "Parked":
      return new ServiceUnavailable({ retryAfterSeconds: 30 })
  }
}

const soldOut = ({ retryAfterSeconds }: SoldOut, label: string): Conflict | ConflictForNow => {
  const said = { error: `${label} is sold out`, code: "SOLD_OUT" }
  return retryAfterSeconds === undefined
    ? new Conflict(said)
    : new ConflictForNow({ ...said, retryAfterSeconds: Math.max(1, retryAfterSeconds) })
}

const amountIssue = (error: AmountMissing | AmountNotWhole): ValidationError =>
  error._tag === "AmountMissing"
    ? invalidInput([issueAt({}, "amount", { kind: "schema", type: "amount", expected: "amount" })])
    : invalidInput([
        issueAt({ amount: error.amount }, "amount", {
          kind: "validation",
          type: "amount",
          expected: `an amount with at most ${error.fractionDigits} digits after the point`
        })
      ])

const conflicts = {
  OrderLimitReached: new Conflict({ error: "The limit of orders is reached", code: "DISTRIBUTION_ORDER_LIMIT" }),
  NotEntered: new Conflict({ error: "Not entered", code: "NOT_ENTERED" }),
  AlreadyGranted: new Conflict({ error: "Already granted", code: "ALREADY_GRANTED" }),
  AlreadyBooked: new Conflict({ error: "Another slot is booked already", code: "ALREADY_BOOKED" }),
  SlotFull: new Conflict({ error: "Slot is full", code: "SLOT_FULL" }),
  SlotPast: new Conflict({ error: "Slot has begun", code: "SLOT_PAST" }),
  SlotNotBegun: new Conflict({ error: "Slot has not begun", code: "SLOT_NOT_BEGUN" }),
  GrantLimitReached: new Conflict({
    error: "The consumer has had as many grants as it may have",
    code: "GRANT_LIMIT_REACHED"
  }),
  InvalidGrant: new Conflict({ error: "The token is not this consumer's grant", code: "INVALID_GRANT" }),
  AlreadyCompleted: new Conflict({ error: "The grant has been completed", code: "ALREADY_COMPLETED" }),
  AlreadyRedeemed: new Conflict({ error: "The grant has been redeemed by another checkout", code: "ALREADY_REDEEMED" })
} as const satisfies { readonly [tag in keyof typeof Refusals]?: Conflict }

type FixedTag = keyof typeof conflicts

/** Returns the answer to a refusal with this tag. */
export const conflictOf = (tag: FixedTag): Conflict => conflicts[tag]

/** True for refusals that have such an answer. */
export const isFixed = <E extends { readonly _tag: string }>(
  error: E
): error is Extract<E, { readonly _tag: FixedTag }> => Object.hasOwn(conflicts, error._tag)
