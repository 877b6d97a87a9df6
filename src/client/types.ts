/** The answers of the Consumer API, as JSON. Instants are ISO 8601 text, amounts are decimal text. */

export type Kind = "queue" | "draw" | "auction" | "appointment" | "timed_release" | "waitlist"

export type Lifecycle = "scheduled" | "open" | "settling" | "closed"

/** The public facts of a mechanism, of which each kind has more. */
export interface LiveMechanism {
  readonly id: string
  readonly kind: Kind
  readonly name: string
  readonly lifecycle: Lifecycle
  readonly openAt: string | null
  readonly closeAt: string | null
  /** Consumers that have entered. */
  readonly entries: number | null
  /** queue, waitlist: consumers that wait. */
  readonly waiting?: number | null
  /** queue, draw, timed release, waitlist: true while there is no place or unit for another consumer. */
  readonly isFull?: boolean | null
  /** queue: consumers that the rate admits a minute. */
  readonly admitRate?: number | null
  /** queue: true while the rate admits no consumers. */
  readonly paused?: boolean | null
  /** Of a queue of a stock: no unit is free, and perhaps one may come. */
  readonly soldOut?: { readonly mayReturn: boolean } | null
  readonly unitsLeft?: number | null
  /** draw */
  readonly winnerCount?: number | null
  readonly drawAt?: string | null
  readonly drawnAt?: string | null
  /** auction */
  readonly currentPrice?: string | null
  readonly highestBid?: { readonly bidderHandle: string; readonly amount: string; readonly placedAt: string } | null
  readonly minimumBid?: string | null
  readonly auctionEnded?: boolean | null
}

/** The public facts of an experience as of `now`. */
export interface Live {
  readonly now: string
  readonly experienceId: string
  readonly name: string
  readonly mechanisms: ReadonlyArray<LiveMechanism>
}

/** A mechanism as an experience lists it. */
export interface Listed {
  readonly id: string
  readonly name: string
  readonly lifecycle: Lifecycle
  readonly openAt: string | null
  readonly closeAt: string | null
  readonly supportsGuest: boolean
}

interface ListedQueue extends Listed {
  readonly lobbyOpenAt: string | null
  readonly grantsPerConsumer: number | null
}

interface ListedRelease extends Listed {
  readonly grantsPerConsumer: number | null
}

/** An experience as the consumer may see it. More fields are in the reference of the API. */
export interface Experience {
  readonly id: string
  readonly name: string
  readonly currencyCode: string
  readonly timeZone: string
  readonly openAt: string | null
  readonly closeAt: string | null
  readonly hasProtectedSequences: boolean
  readonly products: ReadonlyArray<{
    readonly productId: string
    readonly product: { readonly name: string; readonly url: string | null; readonly description: string | null }
  }>
  readonly sequences: ReadonlyArray<{
    readonly id: string
    readonly name: string
    readonly queues: ReadonlyArray<ListedQueue>
    readonly draws: ReadonlyArray<Listed>
    readonly auctions: ReadonlyArray<Listed>
    readonly appointments: ReadonlyArray<Listed>
    readonly timedReleases: ReadonlyArray<ListedRelease>
    readonly waitlist: Pick<Listed, "id" | "lifecycle" | "supportsGuest"> | null
  }>
}

interface Completable {
  /** Only in the answer to completing. */
  readonly alreadyCompleted?: true
}

interface Limited {
  /** The consumer has had as many grants as `grantsPerConsumer` allows, and cannot enter again. */
  readonly grantLimitReached?: true
}

interface Recalled {
  /** Only in a status read while the server's database is away: the standing is certain as of this instant. */
  readonly asOf?: string
}

interface Grant {
  readonly admissionGrant: string
  /** Absent if the grant does not expire. */
  readonly expiresAt?: string
}

interface Entered {
  readonly enteredAt: string
}

type AdminReason = "FRAUD_DETECTED" | "BOT_DETECTED" | "ADMIN_ACTION"

/** A consumer's own standing in a queue. */
export type QueueState = Recalled &
  (
    | ({ readonly status: "NOT_QUEUED" } & Completable)
    | ({
        readonly status: "QUEUED"
        /** 1 + the number of consumers ahead. Absent in the lobby. */
        readonly position?: number
        readonly ticket?: number
        readonly estimatedWaitTimeInSeconds?: number
        readonly paused?: true
        /** Present while no unit of the stock is free. The place is kept. */
        readonly soldOut?: { readonly mayReturn: boolean }
        readonly positionDisplayMode: "precise" | "qualitative"
      } & Entered &
        Completable)
    | ({ readonly status: "GRANTED"; readonly grantedAt: string } & Grant & Entered & Completable)
    | ({ readonly status: "COMPLETED"; readonly completedAt: string } & Entered & Completable & Limited)
    | ({
        readonly status: "DENIED"
        readonly reason: "ADMISSION_EXPIRED" | "QUEUE_CLOSED" | "ORDER_LIMIT_EXCEEDED" | AdminReason
        readonly deniedAt: string
      } & Entered &
        Completable &
        Limited)
    | ({ readonly status: "LEFT"; readonly leftAt: string } & Entered & Completable & Limited)
  )

interface Drawn {
  /** Absent before the drawing. */
  readonly drawnAt?: string
}

interface Entry extends Entered, Drawn {
  readonly entryId: string
}

/** A consumer's own standing in a draw. */
export type DrawState = Recalled &
  (
    | ({ readonly status: "NOT_ENTERED" } & Drawn)
    | ({ readonly status: "ENTERED"; readonly entryReceipt?: string } & Entry)
    | ({ readonly status: "WON"; readonly wonAt: string } & Grant & Entry)
    | ({ readonly status: "COMPLETED"; readonly completedAt: string } & Entry & Completable)
    | ({
        readonly status: "DENIED"
        readonly reason: "NOT_SELECTED" | "ADMISSION_EXPIRED" | "DRAW_CLOSED" | "ORDER_LIMIT_EXCEEDED" | AdminReason
        readonly entryId?: string
        readonly deniedAt: string
      } & Entered &
        Drawn)
  )

interface Bidder extends Entered {
  readonly bidderHandle: string
  readonly bidCount: number
  /** Absent before the first bid. */
  readonly lastBidAmount?: string
}

/** A consumer's own standing in an auction. */
export type AuctionState = Recalled &
  (
    | { readonly status: "NOT_BID"; readonly bidCount: 0 }
    | ({ readonly status: "BIDDING" | "WINNING" | "OUTBID" } & Bidder)
    | ({ readonly status: "WON"; readonly winningBidAmount: string; readonly wonAt: string } & Grant & Bidder)
    | ({ readonly status: "LOST"; readonly lostAt: string } & Bidder)
    | ({ readonly status: "COMPLETED"; readonly winningBidAmount: string; readonly completedAt: string } & Bidder &
        Completable)
    | ({
        readonly status: "DENIED"
        readonly reason: "ADMISSION_EXPIRED" | "AUCTION_CLOSED" | "ORDER_LIMIT_EXCEEDED" | AdminReason
        readonly deniedAt: string
      } & Bidder)
  )

/** A consumer's own standing in a timed release. */
export type TimedReleaseState = Recalled &
  (
    | ({ readonly status: "NOT_ENTERED" } & Completable)
    | ({ readonly status: "ENTERED"; readonly selectedVariantId?: string } & Grant & Entered & Completable)
    | ({ readonly status: "COMPLETED"; readonly completedAt: string; readonly selectedVariantId?: string } & Entered &
        Completable &
        Limited)
    | ({ readonly status: "LEFT"; readonly leftAt: string } & Entered & Completable & Limited)
    | ({ readonly status: "DENIED" } & Entered & Completable)
    | ({ readonly status: "EXPIRED"; readonly expiresAt: string } & Entered & Completable & Limited)
  )

/** A consumer's latest booking in an appointment. */
export type BookingState = Recalled &
  (
    | { readonly status: "NOT_BOOKED" }
    | {
        readonly status: "BOOKED" | "CHECKED_IN" | "COMPLETED" | "CANCELLED" | "NO_SHOW"
        readonly bookingId: string
        readonly appointmentId: string
        readonly consumerId: string
        readonly slotId: string
        readonly startTime: string
        readonly endTime: string
        readonly confirmationCode: string
        readonly createdAt: string
        readonly updatedAt?: string
        readonly revision?: number
      }
  )

/** A consumer's own standing in a waitlist. */
export interface WaitlistState extends Recalled {
  readonly waitlistId: string
  readonly isEntered: boolean
  readonly enteredAt: string | null
  readonly position: number | null
  /** Of a consumer that has an offer, has used it, or has let it lapse. */
  readonly status?: "OFFERED" | "COMPLETED" | "EXPIRED"
  readonly admissionGrant?: string
  readonly offeredAt?: string
  readonly expiresAt?: string
  readonly completedAt?: string
}

/** A consumer's own standing, by the kind of the mechanism. */
export interface States {
  readonly queue: QueueState
  readonly draw: DrawState
  readonly auction: AuctionState
  readonly appointment: BookingState
  readonly timed_release: TimedReleaseState
  readonly waitlist: WaitlistState
}

/** The session of a consumer. */
export type Session =
  | { readonly type: "guest"; readonly consumerId: string; readonly guestId: string; readonly expiresAt: string }
  | {
      readonly type: "authenticated"
      readonly consumerId: string
      readonly email?: string
      readonly phone?: string
      readonly expiresAt: string
    }

/** A new session with its tokens. */
export interface StartedSession {
  readonly session: Session
  readonly accessToken: string
  readonly refreshToken: string
  readonly refreshTokenTtlSeconds: number
}
