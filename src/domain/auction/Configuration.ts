/** The settings of an auction. */
import { Schema } from "effect"
import { amountMax, isBelow, isWhole, ofText, PositivePrice, Price, toText } from "../values/Amount.ts"
import { type SettingProblem, windowProblems } from "../experience/ExperienceWindow.ts"
import { stockId } from "../mechanism/Allocation.ts"
import { admissionExpirationSeconds, count, experienceWindow, name } from "../mechanism/Configuring.ts"
import { CurrencyCode, fractionDigitsOf } from "../values/Locale.ts"
import { Timestamp } from "../values/Time.ts"

/** `english`: the highest bids win, and each bidder pays its bid. `dutch`: the price falls until a bidder takes it. */
export const AuctionType = Schema.Literals(["english", "dutch"])
export type AuctionType = typeof AuctionType.Type

/** The settings that an admin sends. The handlers complete absent keys. */
export const Configuration = Schema.Struct({
  name,
  timeZone: Schema.String,
  /** Absent in configurations from before it existed: true. */
  supportsGuest: Schema.optionalKey(Schema.Boolean),
  openAt: Schema.optionalKey(Timestamp),
  /** From this instant on the auction refuses bids. Late bids of an english auction move it. */
  closeAt: Timestamp,
  settleAt: Timestamp,
  currencyCode: CurrencyCode,
  auctionType: AuctionType,
  /** Units, one for each winner. */
  quantity: count(1_000_000),
  /** 0: no bid moves the closing. */
  autoExtendSeconds: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 86_400 })),
  startPrice: Price,
  /** Never shown to bidders. */
  reservePrice: Schema.optionalKey(Price),
  minBidIncrement: Schema.optionalKey(PositivePrice),
  /** The highest bid of an english auction that is accepted. Absent: the highest that another one can follow. */
  maxBid: Schema.optionalKey(PositivePrice),
  /** How much a bid may exceed the least one that is accepted. Absent: no limit. */
  maxBidJump: Schema.optionalKey(PositivePrice),
  floorPrice: Schema.optionalKey(Price),
  priceDropAmount: Schema.optionalKey(PositivePrice),
  priceDropIntervalSeconds: Schema.optionalKey(count(31_536_000)),
  admissionExpirationSeconds,
  stockId,
  experienceWindow
})
export type Configuration = typeof Configuration.Type

type Setting = keyof Configuration

type Problem = SettingProblem<Setting>

const ofDutch = ["floorPrice", "priceDropAmount", "priceDropIntervalSeconds"] as const satisfies ReadonlyArray<Setting>
const ofEnglish = [
  "reservePrice",
  "minBidIncrement",
  "maxBid",
  "maxBidJump",
  "autoExtendSeconds"
] as const satisfies ReadonlyArray<Setting>

/** Returns the contradictions between settings that are valid by themselves. */
export const configurationProblems = (configuration: Configuration): ReadonlyArray<Problem> => {
  const { auctionType, closeAt, settleAt, startPrice, floorPrice } = configuration
  const problems: Array<Problem> = [...windowProblems(configuration)]
  const isSet = (setting: Setting) => configuration[setting] !== undefined && configuration[setting] !== 0
  const problem = (field: Setting, message: string) => problems.push({ field, message })
  if (settleAt < closeAt) problem("settleAt", "settleAt must not be before closeAt")
  if (auctionType === "dutch") {
    for (const field of ofDutch) if (!isSet(field)) problem(field, `a dutch auction needs a ${field}`)
    for (const field of ofEnglish) if (isSet(field)) problem(field, `a dutch auction has no ${field}`)
    if (floorPrice !== undefined && isBelow(startPrice, floorPrice)) {
      problem("floorPrice", `floorPrice must not be above the startPrice, which is ${startPrice}`)
    }
  } else {
    for (const field of ofDutch) if (isSet(field)) problem(field, `an english auction has no ${field}`)
    problems.push(...bidProblems(configuration))
  }
  return problems
}

/** Returns the contradictions between the prices of an english auction and the highest bid that it accepts. */
const bidProblems = ({ startPrice, reservePrice, ...settings }: Configuration): ReadonlyArray<Problem> => {
  const highest = highestBid(settings)
  if (isBelow(highest, startPrice)) {
    return settings.maxBid !== undefined && highest === settings.maxBid
      ? [{ field: "maxBid", message: `maxBid must not be below the startPrice, which is ${startPrice}` }]
      : [{ field: "startPrice", message: `startPrice must be at most ${highest}, so that a higher bid can follow` }]
  }
  return reservePrice !== undefined && isBelow(highest, reservePrice)
    ? [{ field: "reservePrice", message: `reservePrice must not be above the highest bid, which is ${highest}` }]
    : []
}

/**
 * Returns the prices that are not in whole minor units of the currency, among those that differ from `before`. An auction
 * from before this was checked keeps its prices when something else is changed.
 */
export const fractionProblems = (
  configuration: Configuration,
  before: Partial<Configuration>
): ReadonlyArray<Problem> => {
  const { currencyCode } = configuration
  const fractionDigits = fractionDigitsOf(currencyCode)
  const isNew = (setting: PriceSetting) =>
    currencyCode !== before.currencyCode || configuration[setting] !== before[setting]
  return prices.flatMap((field): ReadonlyArray<Problem> => {
    const price = configuration[field]
    if (price === undefined || !isNew(field) || isWhole(price, fractionDigits)) return []
    const digits = fractionDigits === 0 ? "no digits" : `at most ${fractionDigits} digits`
    return [{ field, message: `an amount in ${currencyCode} has ${digits} after the point` }]
  })
}

/**
 * Returns the highest bid that an english auction accepts: its `maxBid`, or a lower one. A bid that no other could follow
 * is not accepted, because an amount has at most 12 digits.
 */
export const highestBid = ({
  maxBid,
  minBidIncrement = smallest
}: Pick<Configuration, "maxBid" | "minBidIncrement">): Price => {
  const followed = toText(amountMax - ofText(minBidIncrement))
  return maxBid !== undefined && isBelow(maxBid, followed) ? maxBid : followed
}

/** The smallest difference between two amounts. */
export const smallest: Price = toText(1n)

const prices = [
  "startPrice",
  "reservePrice",
  "minBidIncrement",
  "maxBid",
  "maxBidJump",
  "floorPrice",
  "priceDropAmount"
] as const satisfies ReadonlyArray<Setting>
type PriceSetting = (typeof prices)[number]

/** True if the setting is a price. */
export const isPrice = (setting: Setting): boolean => (prices as ReadonlyArray<Setting>).includes(setting)

/** The settings that may change after the opening. Bidders rely on all others. */
const changeable = new Set<Setting>([
  "name",
  "timeZone",
  "supportsGuest",
  "admissionExpirationSeconds",
  "experienceWindow"
])

/** The settings that bidders rely on. */
export const terms = (Object.keys(Configuration.fields) as ReadonlyArray<Setting>).filter(
  (setting) => !changeable.has(setting)
)

/** The configuration before the first `Configured` event. It accepts no bids. */
export const unconfigured: Configuration = {
  name: "",
  timeZone: "UTC",
  closeAt: Infinity,
  settleAt: Infinity,
  currencyCode: "USD",
  auctionType: "english",
  quantity: 1,
  autoExtendSeconds: 0,
  startPrice: "0"
}
