/** What the tabs of a drop show of one kind of mechanism. `Kinds.ts` lists the kinds. */
import type { AdminAnswer } from "../../ApiClients.ts"
import { bar, count, type Figure } from "../Parts.ts"
import type { Mechanism } from "./Drop.ts"

export type Facts = AdminAnswer<"distributions", "getDistributionFacts">
export type Contacts = AdminAnswer<"distributions", "getDistributionContacts">

type Kind = Mechanism["type"]
export type Shown<K extends Kind> = Extract<Mechanism, { readonly type: K }>
/** The facts of a kind. They are undefined while the mechanism does not answer. */
export type FactsOf<K extends Kind> = Extract<Facts, { readonly kind: K }> | undefined

/** A line of the chart: what it counts, and the events that raise and lower it. */
export interface Counted {
  readonly name: string
  /** The same of one. */
  readonly one?: string
  readonly up: ReadonlyArray<string>
  readonly down: ReadonlyArray<string>
}

export const rising = (name: string, ...up: ReadonlyArray<string>): Counted => ({ name, up, down: [] })

/** A step from entry to purchase, and how many came so far. */
export interface Step {
  readonly name: string
  readonly value: number
}

export interface KindView<K extends Kind> {
  /** `contacts` are undefined unless it `countsContacts`, and while they cannot be counted. */
  readonly figures: (
    mechanism: Shown<K>,
    facts: FactsOf<K>,
    now: number,
    contacts: Contacts | undefined
  ) => ReadonlyArray<Figure>
  /** Its figures say how many of its consumers can be reached, or have proved an address. */
  readonly countsContacts?: true
  readonly lines: ReadonlyArray<Counted>
  /** The values that the lines have now. */
  readonly sample: (mechanism: Shown<K>) => ReadonlyArray<number>
  /** It is over within minutes, so its chart shows the last quarter of an hour, and not its whole time. */
  readonly isQuick?: true
  /** How consumers enter, in a sentence about one of them. */
  readonly enters: string
  /** The statuses of its places that have other words than in the other kinds. */
  readonly statuses?: { readonly [status: string]: string }
  /** The units that it can sell, null without a limit. Absent or undefined: it sells none. */
  readonly stock?: (mechanism: Shown<K>) => number | null | undefined
  readonly steps: (mechanism: Shown<K>, facts: FactsOf<K>) => ReadonlyArray<Step>
}

/** Returns the function that counts the places in some statuses. */
export const placesOf =
  ({ live }: Pick<Mechanism, "live">) =>
  (...statuses: ReadonlyArray<string>): number =>
    statuses.reduce((sum, status) => sum + (live?.counts[status] ?? 0), 0)

/** Returns the number of all places. */
export const allPlaces = ({ live }: Pick<Mechanism, "live">): number =>
  Object.values(live?.counts ?? {}).reduce((sum, one) => sum + one, 0)

/**
 * Returns the units that a mechanism can sell: what its stock has given it, at most its own number; without a stock, its
 * own number. Null: no limit, or not known.
 */
export const unitsOf = (
  { stockId, allocation }: Pick<Shown<"queue">, "stockId" | "allocation">,
  own: number | null
): number | null => {
  if (stockId === null) return own
  if (allocation === null) return null
  const given = allocation.units + allocation.sold
  return own === null ? given : Math.min(own, given)
}

/** What is sold of a stock, and what is being bought, as one bar. */
export const stockBar = (sold: number, buying: number, stock: number | null) =>
  stock === null
    ? undefined
    : bar(
        [
          { value: sold, style: "ok" },
          { value: buying, style: "main" }
        ],
        stock,
        `${count(sold)} sold and ${count(buying)} being bought of ${count(stock)}`
      )

export const ofStock = (stock: number | null) => (stock === null ? undefined : `of ${count(stock)}`)

export const percent = (share: number): string => `${Math.round(share * 100)} %`

/** An amount in its currency. */
export const money = (amount: string, currency: string): string =>
  new Intl.NumberFormat("en", { style: "currency", currency, trailingZeroDisplay: "stripIfInteger" }).format(
    amount as `${number}`
  )

const minute = 60_000

/** A span in its largest useful unit. */
export const span = (millis: number): string => {
  const minutes = Math.round(millis / minute)
  if (minutes < 1) return `${Math.round(millis / 1_000)} s`
  if (minutes < 90) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`
}
