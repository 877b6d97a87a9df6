/** Stocks in words: what a taker gets, how full a stock is, why units were corrected, and the events of its history. */
import type { AdjustmentReason, Level } from "../../../domain/stock/Protocol.ts"
import type { AdminAnswer } from "../../ApiClients.ts"
import { html, type Html, type Inserted } from "../../Html.ts"
import { pathOf } from "../drop/Drop.ts"
import type { NamedMechanisms } from "../NamedMechanisms.ts"
import { badge, count } from "../Parts.ts"
import { instant } from "../Table.ts"

export type Stock = AdminAnswer<"stocks", "getStock">
export type Taker = Stock["takers"][number]
export type StockEvent = AdminAnswer<"stocks", "listStockHistory">["data"][number]

/** The address of the list of stocks. That of a stock is below it. */
export const stocksPath = "/dashboard/stocks"

export const levelBadge = (level: Level): Html =>
  ({
    AVAILABLE: badge("available", "ok"),
    LOW: badge("low", "warn"),
    EMPTY: badge("sold out", "over")
  })[level]

/** What a taker gets, and from when. Without a taker: a mechanism that is none any more. */
export const ruleOf = (taker: Taker | undefined): Inserted => {
  if (taker === undefined) return "nothing more"
  const { units, upTo, from } = taker
  const share =
    units !== undefined
      ? `a fixed share of ${count(units)}`
      : upTo !== undefined
        ? `at most ${count(upTo)}`
        : "what remains"
  return from === undefined ? share : html`${share}, from ${instant(from)}`
}

/** Why the units of a stock were corrected. */
export const adjustmentReasons: { readonly [R in AdjustmentReason]: string } = {
  DELIVERED: "Units were delivered",
  COUNTED: "The units were counted",
  DAMAGED: "Units are damaged",
  RETURNED: "Units came back from customers",
  WITHDRAWN: "Units are needed elsewhere",
  OTHER: "Another reason"
}

const isReason = (code: unknown): code is AdjustmentReason => Object.hasOwn(adjustmentReasons, String(code))

const levels: { readonly [L in Level]: string } = {
  AVAILABLE: "The stock is filled again.",
  LOW: "The stock is low.",
  EMPTY: "All units are sold."
}

/** The end of an id is random, so it tells orders apart. */
const orderName = (id: string): string => id.slice(-4).toUpperCase()

/** An event of the history. It names mechanisms and orders as this dashboard does, and never by their ids. */
export const eventText = ({ type, text, data }: StockEvent, names: NamedMechanisms): ReadonlyArray<Inserted> => {
  const { reason, level, orderId } = data
  if (type === "LevelChanged") return [levels[level as Level]]
  const told = isReason(reason) ? text.replace(`: ${reason}.`, `: ${adjustmentReasons[reason].toLowerCase()}.`) : text
  return told.split(/([0-9a-f]{8}-[0-9a-f-]{27})/).map((part, index) => {
    if (index % 2 === 0) return part
    const named = names.get(part)
    if (named !== undefined) return mechanismLink(named)
    return typeof orderId === "string"
      ? html`<a href="/dashboard/orders/${part}">${orderName(part)}</a>`
      : "an archived mechanism"
  })
}

/** A mechanism with the way to its drop. */
export const mechanismLink = ({
  mechanism,
  label
}: {
  readonly mechanism: { readonly experienceId: string }
  readonly label: string
}): Html => html`<a href="${pathOf(mechanism.experienceId)}"><bdi>${label}</bdi></a>`
