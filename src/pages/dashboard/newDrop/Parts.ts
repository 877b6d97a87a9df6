/**
 * The parts of which a new drop is made: one for each kind of mechanism, and two for the types of auctions. A part says
 * what it asks for and which settings of the mechanism follow from the answers.
 */
import type { Kind } from "../../../domain/mechanism/Mechanism.ts"
import { type Millis, toText } from "../../../domain/values/Time.ts"
import type { Answers } from "./Answers.ts"
import type { Ask } from "./Ask.ts"
import { stockSettings } from "../stocks/Naming.ts"
import { siteAsks, siteSettings } from "./SitePart.ts"

/** When a part begins; undefined: at once. `start` is then now. */
export interface Start {
  readonly openAt: Millis | undefined
  readonly start: Millis
}

/** The settings of a mechanism, and when it is over and others may follow. */
export interface Made {
  readonly settings: { readonly [name: string]: unknown }
  readonly endsAt?: Millis | undefined
}

export interface Part {
  readonly name: string
  readonly kind: Kind
  readonly title: string
  /** When it is the right one, in a sentence. */
  readonly use: string
  /** What it is about after another part. */
  readonly after: string
  /** True if a brand wants to know who wins, so that guests may not enter unless it says so. */
  readonly wantsSignIn?: boolean
  readonly asks: ReadonlyArray<Ask>
  readonly make: (answers: Answers, start: Start) => Made
}

const minute = 60_000

const unitsAsk = (setting: string, more: Partial<Ask> = {}): Ask => ({
  name: "units",
  label: "Units",
  hint: "How many people can get one.",
  type: "number",
  value: 100,
  min: 1,
  sets: [setting],
  ...more
})

const toBuy: Ask = {
  name: "minutesToBuy",
  label: "Minutes to buy",
  hint: "After that a place expires. Empty: it does not.",
  type: "minutes",
  value: 10,
  min: 1,
  max: 525_600,
  isOptional: true,
  sets: ["admissionExpirationSeconds"]
}

/** The stock from which it sells, where the organization has one. */
const stockAsk: Ask = {
  name: "stock",
  label: "Sells from",
  hint: "A stock gives it units when it is its turn. The number beside is then a maximum.",
  type: "stock",
  isOptional: true,
  isOfStock: true,
  sets: ["stockId"]
}

/** The settings of a mechanism whose answers name a stock. */
const fromStock = (kind: Kind, answers: Answers) => {
  const stockId = answers.text("stock")
  return stockId === undefined ? {} : stockSettings(kind, stockId)
}

const openFor = (more: Partial<Ask> = {}): Ask => ({
  name: "openFor",
  label: "Open for",
  type: "span",
  value: 60,
  min: 1,
  sets: ["closeAt", "drawAt", "settleAt"],
  ...more
})

const price = (name: string, label: string, setting: string, more: Partial<Ask> = {}): Ask => ({
  name,
  label,
  type: "amount",
  sets: [setting],
  ...more
})

const opening = ({ openAt }: Start) => (openAt === undefined ? {} : { openAt: toText(openAt) })

/** The seconds in which a place must be used. */
const expiring = (answers: Answers) => {
  const seconds = answers.seconds("minutesToBuy")
  return seconds === undefined ? {} : { admissionExpirationSeconds: seconds }
}

/** When a contest is over and its winners have had their time. */
const afterWins = (answers: Answers, closeAt: Millis): Millis => {
  const seconds = answers.seconds("minutesToBuy")
  return closeAt + (seconds ?? 0) * 1_000
}

/** Members hear of the opening, or get what falls back. */
export const waitlist: Part = {
  name: "waitlist",
  kind: "waitlist",
  title: "Waitlist",
  use: "People leave their address, and get one message when it opens.",
  after: "Collects addresses until the drop opens.",
  asks: [
    {
      name: "capacity",
      label: "Most members",
      type: "number",
      min: 1,
      isOptional: true,
      hint: "Empty: no limit.",
      sets: ["capacity"]
    },
    {
      ...stockAsk,
      label: "Offers units of",
      hint: "Each member gets an offer in turn, for a unit that is really there. Else all get one message."
    },
    {
      ...toBuy,
      label: "Minutes to use an offer",
      hint: "Of a stock’s unit. After that the next member gets it. Empty: an hour.",
      value: "",
      isOfStock: true
    }
  ],
  // It comes before the opening, so it is open at once.
  make: (answers) => {
    const own = fromStock("waitlist", answers)
    return {
      settings: { capacity: answers.number("capacity"), ...own, ...("stockId" in own && expiring(answers)) }
    }
  }
}

/** Units go by lot. */
export const draw: Part = {
  name: "draw",
  kind: "draw",
  title: "Draw",
  use: "Everyone who enters in time has the same chance, and anyone can check the result.",
  after: "Draws among all who enter.",
  wantsSignIn: true,
  asks: [
    unitsAsk("winnerCount", { areSoldUnits: true, label: "Winners", hint: "How many entries are drawn." }),
    stockAsk,
    openFor({ label: "Entries for", hint: "The draw takes place when entries close." }),
    { ...toBuy, label: "Minutes for winners to buy", value: 1_440 }
  ],
  make: (answers, start) => {
    const closeAt = start.start + answers.span("openFor")
    const at = toText(closeAt)
    const settings = {
      winnerCount: answers.number("units"),
      closeAt: at,
      drawAt: at,
      ...expiring(answers),
      ...fromStock("draw", answers)
    }
    return { settings: { ...opening(start), ...settings }, endsAt: afterWins(answers, closeAt) }
  }
}

const auctionTimes = (answers: Answers, start: Start) => {
  const closeAt = start.start + answers.span("openFor")
  const own = fromStock("auction", answers)
  const times = { ...opening(start), closeAt: toText(closeAt), settleAt: toText(closeAt), ...own }
  return { times, endsAt: afterWins(answers, closeAt) }
}

/** Units go to the highest bids. */
export const auction: Part = {
  name: "auction",
  kind: "auction",
  title: "Auction",
  use: "The highest bids win. A late bid extends the auction.",
  after: "Sells to the highest bids.",
  wantsSignIn: true,
  asks: [
    unitsAsk("quantity", { value: 1 }),
    stockAsk,
    price("startPrice", "Starting price", "startPrice", { value: 100 }),
    price("reserve", "Reserve price", "reservePrice", {
      isOptional: true,
      hint: "Bids below it win nothing. Consumers never see it."
    }),
    price("increment", "Least raise", "minBidIncrement", { isOptional: true, hint: "Empty: the smallest coin." }),
    openFor(),
    {
      name: "extend",
      label: "A late bid extends it by, seconds",
      type: "number",
      value: 60,
      max: 86_400,
      hint: "0: it closes on time.",
      sets: ["autoExtendSeconds"]
    },
    { ...toBuy, label: "Minutes for winners to buy", value: 1_440 }
  ],
  make: (answers, start) => {
    const { times, endsAt } = auctionTimes(answers, start)
    const settings = {
      auctionType: "english",
      quantity: answers.number("units"),
      startPrice: answers.text("startPrice"),
      reservePrice: answers.text("reserve"),
      minBidIncrement: answers.text("increment"),
      autoExtendSeconds: answers.number("extend")
    }
    return { settings: { ...times, ...settings, ...expiring(answers) }, endsAt }
  }
}

const falling: Part = {
  name: "falling",
  kind: "auction",
  title: "Falling price",
  use: "The price falls until somebody takes a unit.",
  after: "Sells at a price that falls.",
  wantsSignIn: true,
  asks: [
    unitsAsk("quantity", { value: 10 }),
    stockAsk,
    price("startPrice", "Starting price", "startPrice", { value: 200 }),
    price("floor", "Lowest price", "floorPrice", { value: 100 }),
    price("drop", "It falls by", "priceDropAmount", { value: 5 }),
    {
      name: "every",
      label: "Every, seconds",
      type: "number",
      value: 60,
      min: 1,
      sets: ["priceDropIntervalSeconds"]
    },
    openFor(),
    { ...toBuy, label: "Minutes for buyers to pay", value: 1_440 }
  ],
  make: (answers, start) => {
    const { times, endsAt } = auctionTimes(answers, start)
    const settings = {
      auctionType: "dutch",
      quantity: answers.number("units"),
      startPrice: answers.text("startPrice"),
      floorPrice: answers.text("floor"),
      priceDropAmount: answers.text("drop"),
      priceDropIntervalSeconds: answers.number("every")
    }
    return { settings: { ...times, ...settings, ...expiring(answers) }, endsAt }
  }
}

/** Units go to those who come first, in a window. */
export const release: Part = {
  name: "release",
  kind: "timed_release",
  title: "Timed release",
  use: "The first people to claim a unit hold it for a while, without a line.",
  after: "Gives the rest to the first who claim.",
  asks: [
    unitsAsk("capacity", { areSoldUnits: true }),
    stockAsk,
    openFor({ isOptional: true, value: "", hint: "Empty: until you end it." }),
    toBuy
  ],
  make: (answers, start) => {
    const span = answers.optionalSpan("openFor")
    const closeAt = span === undefined ? undefined : start.start + span
    const settings = {
      capacity: answers.number("units"),
      ...fromStock("timed_release", answers),
      ...(closeAt !== undefined && { closeAt: toText(closeAt) })
    }
    return { settings: { ...opening(start), ...settings, ...expiring(answers) }, endsAt: closeAt }
  }
}

/** Units go in the order of arrival. */
export const queue: Part = {
  name: "queue",
  kind: "queue",
  title: "Queue",
  use: "First come, first served, at a pace your shop can handle. A lobby draws the order of those who come early.",
  after: "Lets the rest in by turn.",
  asks: [
    unitsAsk("maxAdmissions", {
      areSoldUnits: true,
      isOptional: true,
      hint: "How many people get a turn. Empty: no limit."
    }),
    stockAsk,
    {
      name: "rate",
      label: "Admissions per minute",
      hint: "How many people may continue to your shop each minute. 0: only by hand.",
      type: "number",
      value: 60,
      max: 1_000_000,
      sets: ["admitRate"]
    },
    toBuy,
    {
      name: "lobby",
      label: "Lobby, minutes before",
      hint: "Who comes in this time gets a place by lot. 0: no lobby.",
      type: "number",
      value: 15,
      max: 525_600,
      sets: ["lobbyOpenAt"]
    },
    openFor({ isOptional: true, value: "", hint: "Empty: until you end it." }),
    ...siteAsks
  ],
  make: (answers, start) => {
    const lobby = answers.whole("lobby")
    const span = answers.optionalSpan("openFor")
    const closeAt = span === undefined ? undefined : start.start + span
    const settings = {
      admitRate: answers.number("rate"),
      maxAdmissions: answers.number("units"),
      recycleExpiredAdmissions: true,
      ...fromStock("queue", answers),
      ...(start.openAt !== undefined && lobby > 0 && { lobbyOpenAt: toText(start.openAt - lobby * minute) }),
      ...(closeAt !== undefined && { closeAt: toText(closeAt) })
    }
    const site = siteSettings(answers)
    const ending = "admissionRenewal" in site ? {} : expiring(answers)
    return { settings: { ...opening(start), ...settings, ...ending, ...site }, endsAt: closeAt }
  }
}

const appointment: Part = {
  name: "appointment",
  kind: "appointment",
  title: "Appointment",
  use: "People book a slot at your store, cancel and move it, and staff check them in.",
  after: "Takes bookings of slots at your store.",
  wantsSignIn: true,
  asks: [
    { name: "firstDay", label: "First day", type: "date", sets: ["slotsFrom"] },
    { name: "lastDay", label: "Last day", type: "date", sets: ["slotsUntil"] },
    { name: "days", label: "Days of the week", type: "days", sets: [] },
    { name: "from", label: "From", type: "time", value: "10:00", sets: ["hours"] },
    { name: "to", label: "To", type: "time", value: "18:00", sets: [] },
    {
      name: "minutes",
      label: "Minutes of a slot",
      type: "number",
      value: 30,
      min: 1,
      max: 1_440,
      sets: ["slotDurationMinutes"]
    },
    { name: "buffer", label: "Minutes between slots", type: "number", value: 0, max: 1_440, sets: ["bufferMinutes"] },
    unitsAsk("maxCapacityPerSlot", { label: "Places in a slot", value: 1, hint: "How many people can book it." })
  ],
  make: (answers, start) => {
    const hours = answers.all("days").map((day) => [day, [{ from: answers.text("from"), to: answers.text("to") }]])
    const settings = {
      slotsFrom: answers.day("firstDay", 0),
      // The last day counts whole.
      slotsUntil: answers.day("lastDay", 1),
      hours: Object.fromEntries(hours),
      slotDurationMinutes: answers.number("minutes"),
      bufferMinutes: answers.number("buffer"),
      maxCapacityPerSlot: answers.number("units")
    }
    return { settings: { ...opening(start), ...settings } }
  }
}

/** All parts, in the order in which they follow each other. */
export const parts: ReadonlyArray<Part> = [waitlist, draw, auction, falling, appointment, release, queue]

/** The question from which a setting follows, or the value `under` a name in it. */
export const askOf = ({ asks }: Part, setting: string, under: string | undefined): Ask | undefined =>
  asks.find(({ sets }) => sets.includes(`${setting}.${under}`)) ?? asks.find(({ sets }) => sets.includes(setting))
