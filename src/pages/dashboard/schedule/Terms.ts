/** The settings of a mechanism that staff change on its schedule, and why some can no longer be changed. */
import type { Kind } from "../../../domain/mechanism/Mechanism.ts"
import type { Mechanism } from "../drop/Drop.ts"
import type { Choice } from "../form/Form.ts"
import { stockIdOf } from "../stocks/Naming.ts"
import { siteHints, standbyChoices } from "../newDrop/SitePart.ts"

/** One setting. */
export interface Term {
  /** Its name; `setting.inner` for a value in one. The values of one setting are changed together. */
  readonly setting: string
  readonly label: string
  /** `minutes` are shown for a setting in seconds. A `switch` is true or false. A `stock` is one of the newest. */
  readonly type: "instant" | "number" | "minutes" | "amount" | "text" | "switch" | "stock"
  /** How it is called where the mechanism sells from a stock, whose units it has. */
  readonly ofStock?: { readonly label: string; readonly hint: string }
  /** How a `switch` that is off or on is called. */
  readonly choices?: ReadonlyArray<Choice>
  readonly hint?: string
  readonly isOptional: boolean
  readonly min?: number
}

const name: Term = { setting: "name", label: "Name", type: "text", isOptional: false }
const openAt: Term = { setting: "openAt", label: "Opens", type: "instant", isOptional: true, hint: "Empty: at once." }
const closeAt: Term = {
  setting: "closeAt",
  label: "Closes",
  type: "instant",
  isOptional: true,
  hint: "Empty: until you end it."
}
const toBuy: Term = {
  setting: "admissionExpirationSeconds",
  label: "Minutes to buy",
  type: "minutes",
  isOptional: true,
  hint: "Of places given from now on. Empty: they do not expire."
}
const number = (setting: string, label: string, more: Partial<Term> = {}): Term => ({
  setting,
  label,
  type: "number",
  isOptional: true,
  min: 1,
  hint: "Empty: no limit.",
  ...more
})
const needed = { isOptional: false } as const
const stockId: Term = {
  setting: "stockId",
  label: "Sells from",
  type: "stock",
  isOptional: true,
  hint: "A stock gives it units when it is its turn. It can be chosen until it opens."
}
/** A number of units, which is only a maximum where a stock gives the units. */
const units = (setting: string, label: string, more: Partial<Term> = {}): Term =>
  number(setting, label, {
    ...more,
    ofStock: {
      label: `${label} at most`,
      hint: `Its stock gives it units.${more.isOptional === false ? "" : " Empty: as many as it gives."}`
    }
  })

/** Of a queue whose grants are visits to a site. They can be changed at any time. */
const inFrontOfASite: ReadonlyArray<Term> = [
  number("insideLimit", "Inside at once", {
    hint: `${siteHints.insideLimit} More admits at once; fewer takes nobody's place.`
  }),
  {
    setting: "standby",
    label: "While nobody has to wait",
    type: "switch",
    choices: standbyChoices,
    isOptional: false,
    hint: siteHints.standby
  },
  number("admitBurst", "Burst", { hint: siteHints.admitBurst }),
  {
    setting: "admissionRenewal.idleSeconds",
    label: "Minutes without a request",
    type: "minutes",
    isOptional: true,
    hint: siteHints.idle
  },
  {
    setting: "admissionRenewal.maxSeconds",
    label: "Minutes inside at most",
    type: "minutes",
    isOptional: true,
    hint: siteHints.stay
  }
]

/** The field of a setting, or of a value under it. */
export const termFieldAt = ([setting = "", under]: ReadonlyArray<string>): string => {
  const names = Object.values(termsOf).flatMap((terms) => terms.map((term) => term.setting))
  const inner = `${setting}.${under}`
  return names.includes(inner) ? inner : (names.find((name) => name.startsWith(`${setting}.`)) ?? setting)
}

/** The settings of a mechanism, in the order of its form. An offer of a waitlist has its time. */
export const termsFor = (mechanism: Mechanism): ReadonlyArray<Term> => {
  const terms = termsOf[mechanism.type]
  if (stockIdOf(mechanism) === undefined) return terms
  const own = terms.map((term) => (term.ofStock === undefined ? term : { ...term, ...term.ofStock }))
  return mechanism.type === "waitlist"
    ? [...own, { ...toBuy, hint: "Of offers made from now on. Empty: an hour." }]
    : own
}

/** The settings of each kind, in the order of the form. */
export const termsOf: { readonly [K in Kind]: ReadonlyArray<Term> } = {
  queue: [
    name,
    openAt,
    { setting: "lobbyOpenAt", label: "Lobby opens", type: "instant", isOptional: true, hint: "Empty: no lobby." },
    closeAt,
    number("admitRate", "Admissions per minute", { ...needed, min: 0, hint: "0: only by hand." }),
    stockId,
    units("maxAdmissions", "Units"),
    toBuy,
    ...inFrontOfASite
  ],
  draw: [
    name,
    openAt,
    { ...closeAt, ...needed, label: "Entries close", hint: "" },
    { setting: "drawAt", label: "Draw", type: "instant", ...needed },
    stockId,
    units("winnerCount", "Winners", { ...needed, hint: "" }),
    toBuy
  ],
  auction: [
    name,
    openAt,
    { ...closeAt, ...needed, hint: "" },
    { setting: "settleAt", label: "Settled", type: "instant", ...needed, hint: "Not before it closes." },
    stockId,
    units("quantity", "Units", { ...needed, hint: "" }),
    { setting: "startPrice", label: "Starting price", type: "amount", ...needed },
    toBuy
  ],
  timed_release: [name, openAt, closeAt, stockId, units("capacity", "Units"), toBuy],
  appointment: [
    name,
    { ...openAt, label: "Bookings open" },
    { ...closeAt, label: "Bookings close" },
    { setting: "slotsFrom", label: "Slots from", type: "instant", ...needed },
    { setting: "slotsUntil", label: "Slots until", type: "instant", ...needed },
    number("maxCapacityPerSlot", "Places in a slot", { ...needed, hint: "" })
  ],
  waitlist: [
    name,
    openAt,
    closeAt,
    number("capacity", "Most members"),
    {
      ...stockId,
      label: "Offers units of",
      hint: "Each member gets an offer in turn, for a unit that is really there."
    }
  ]
}

/** The settings of the mechanism that shape it as it is: without those of visits to a site, where it admits none. */
export const termsInUse = (mechanism: Mechanism): ReadonlyArray<Term> => {
  const terms = termsOf[mechanism.type]
  if (mechanism.type !== "queue") return terms
  const { insideLimit, standby, admissionRenewal } = mechanism
  const admitsVisits = insideLimit !== null || standby === true || admissionRenewal !== null
  return admitsVisits ? terms : terms.filter((term) => !inFrontOfASite.includes(term))
}

/** Settings of an auction that its bidders do not rely on. */
const freeInAuctions = new Set(["name", "admissionExpirationSeconds"])

/** Returns the reason why the API would refuse a change of the setting; undefined if the API would accept it. */
export const fixedBy = (mechanism: Mechanism, setting: string): string | undefined => {
  const { type, lifecycle } = mechanism
  if (lifecycle === "closed" || lifecycle === "settling") return "It has closed, and a closed one stays as it is."
  const isOpen = lifecycle === "open"
  const entries = Object.values(mechanism.live?.counts ?? {}).reduce((sum, count) => sum + count, 0)
  if (type === "auction" && isOpen && !freeInAuctions.has(setting)) return "It has opened, and bidders rely on it."
  if (type === "queue" && (setting === "openAt" || setting === "lobbyOpenAt" || setting === "stockId")) {
    if (isOpen) return "It has opened."
    return entries > 0 ? "People are in the lobby, and count on it." : undefined
  }
  return (setting === "openAt" || setting === "stockId") && isOpen ? "It has opened." : undefined
}
