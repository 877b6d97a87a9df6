/** A drop as its check sees it: the settings of the experience and of everything that it needs. */
import { bounded } from "../experience/ExperienceWindow.ts"
import type { Hours } from "../appointment/Hours.ts"
import { declarations, type Kind } from "../mechanism/Mechanism.ts"
import type { GrantMessages } from "../organization/Organization.ts"
import { dayMillis, readingAt, wallClock } from "../values/WallClock.ts"
import { type Millis, toText } from "../values/Time.ts"

/** The settings of a mechanism of any kind that findings read. */
export interface CheckedSettings {
  readonly name: string
  readonly timeZone: string
  readonly openAt?: Millis
  readonly closeAt?: Millis
  readonly lobbyOpenAt?: Millis
  readonly experienceWindow?: { readonly revision: number; readonly openAt?: Millis; readonly closeAt?: Millis }
  readonly supportsGuest?: boolean
  readonly capacity?: number
  readonly stockId?: string
  readonly offers?: boolean
  readonly admissionExpirationSeconds?: number
  readonly admissionRenewal?: unknown
  readonly standby?: boolean
  readonly admitRate?: number
  readonly maxAdmissions?: number
  readonly recycleExpiredAdmissions?: boolean
  readonly insideLimit?: number
  readonly drawAt?: Millis
  readonly winnerCount?: number
  readonly beacon?: string
  readonly auctionType?: "english" | "dutch"
  readonly currencyCode?: string
  readonly quantity?: number
  readonly autoExtendSeconds?: number
  readonly startPrice?: string
  readonly reservePrice?: string
  readonly minBidIncrement?: string
  readonly maxBid?: string
  readonly floorPrice?: string
  readonly priceDropAmount?: string
  readonly priceDropIntervalSeconds?: number
  readonly slotsFrom?: Millis
  readonly slotsUntil?: Millis
  readonly hours?: Hours
  readonly slotDurationMinutes?: number
  readonly bufferMinutes?: number
  readonly maxCapacityPerSlot?: number
}

export interface CheckedMechanism {
  readonly id: string
  readonly kind: Kind
  readonly settings: CheckedSettings
  /** It has run and has closed, or an admin has ended it: nothing of it is left to be mended. */
  readonly isOver?: boolean
}

export interface CheckedSequence {
  readonly id: string
  readonly name: string
  readonly productSelectionMode: "USER_SELECTED" | "SYSTEM_ASSIGNED" | null
  readonly sequenceProducts: ReadonlyArray<{ readonly productId: string; readonly weight: number }>
  readonly orderLimitPerConsumer: number | null
  /** Only its members may enter; absent: everybody may. */
  readonly audience?: { readonly name: string; readonly memberCount: number }
  readonly mechanisms: ReadonlyArray<CheckedMechanism>
}

export interface CheckedProduct {
  readonly productId: string
  readonly name: string
  /** Its page in the shop, to which rooms lead. */
  readonly url: string | null
  /** Those that the experience offers. */
  readonly variants: ReadonlyArray<{
    readonly id: string
    readonly sku: string | null
    readonly price: string | null
    readonly inventoryQuantity: number | null
    readonly inventoryPolicy: string | null
  }>
}

/** A stock that mechanisms of the drop sell from. */
export interface CheckedStock {
  readonly id: string
  readonly name: string
  /** All units, sold ones too. */
  readonly onHand: number
  readonly takers: ReadonlyArray<{ readonly distributionId: string; readonly units?: number }>
}

/** The text of messages about grants by one channel. */
export interface CheckedMessage {
  readonly id: string
  readonly title: string
  readonly placeholders: ReadonlyArray<string>
}

export interface CheckedDrop {
  readonly now: Millis
  readonly experience: {
    readonly id: string
    /** As an admin set it. */
    readonly openAt?: Millis
    readonly closeAt?: Millis
    readonly timeZone: string
    readonly currencyCode: string
    readonly i18n?: { readonly [language: string]: unknown }
  }
  readonly sequences: ReadonlyArray<CheckedSequence>
  readonly products: ReadonlyArray<CheckedProduct>
  readonly stocks: ReadonlyArray<CheckedStock>
  readonly pages: ReadonlyArray<{ readonly id: string; readonly title: string; readonly status: string }>
  /** The pages that messages about grants use. */
  readonly messages: ReadonlyArray<CheckedMessage>
  readonly webhooks: ReadonlyArray<{
    readonly id: string
    readonly url: string
    readonly events: ReadonlyArray<string>
    readonly status: string
    readonly disabledReason: string | null
  }>
  readonly organization: {
    readonly grantMessages?: typeof GrantMessages.Type
    readonly allowedOrigins?: ReadonlyArray<string>
  }
}

/** Returns all mechanisms of a drop. */
export const mechanismsOf = ({ sequences }: Pick<CheckedDrop, "sequences">): ReadonlyArray<CheckedMechanism> =>
  sequences.flatMap(({ mechanisms }) => mechanisms)

/** Returns the drop without what is over. A waitlist beside a mechanism that has run has told its members. */
export const stillToRun = (drop: CheckedDrop): CheckedDrop => ({
  ...drop,
  sequences: drop.sequences.map((sequence) => {
    const { mechanisms } = sequence
    const hasRun = mechanisms.some((one) => one.isOver === true && !collectsInterest(one))
    const isLeft = (one: CheckedMechanism) => one.isOver !== true && !(hasRun && collectsInterest(one))
    return { ...sequence, mechanisms: mechanisms.filter(isLeft) }
  })
})

/** Returns the settings with the effective opening and closing. */
export const effective = ({ settings }: CheckedMechanism): CheckedSettings => bounded(settings)

/** Whether the mechanism only collects interest, before the drop opens: it gives away neither grants nor slots. */
export const collectsInterest = ({ kind, settings }: CheckedMechanism): boolean => {
  if (kind === "waitlist") return settings.offers !== true
  const grants: ReadonlyArray<string> = declarations[kind].grants
  return grants.length === 0 && settings.slotsFrom === undefined
}

const weekdays = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"] as const

/** Returns the local time in a zone: milliseconds of the instant in UTC that looks the same. */
export const localTime = (at: Millis, timeZone: string): Millis =>
  readingAt(wallClock(timeZone, at - 2 * dayMillis, at + 2 * dayMillis), at)

/** Returns an instant in words: `Thursday, 2026-11-26 14:05 (Europe/Berlin)`. */
export const inWords = (at: Millis, timeZone: string): string => `${inLocalWords(at, timeZone)} (${timeZone})`

/** Returns an instant in words without its zone: `Thursday, 2026-11-26 14:05`. */
export const inLocalWords = (at: Millis, timeZone: string): string => {
  const local = localTime(at, timeZone)
  const text = toText(local)
  const weekday = weekdays[((Math.floor(local / dayMillis) % 7) + 7) % 7]!
  return `${weekday}, ${text.slice(0, 10)} ${text.slice(11, 16)}`
}

/** Returns a number with separators: `12,500`. */
export const number = (value: number): string => value.toLocaleString("en")

/** Returns a name in quotes. */
export const quoted = (name: string): string => `“${name}”`
