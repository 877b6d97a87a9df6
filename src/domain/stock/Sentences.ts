/** The events of a stock in words. */
import type { Event } from "./Event.ts"

const count = (units: number): string => `${units} ${Math.abs(units) === 1 ? "unit" : "units"}`

/** An order is counted under its id and, for a later change, a name after a slash. */
const orderOf = (orderId: string): string => orderId.split("/")[0]!

type Fields = { readonly [name: string]: unknown }

const sentences: { readonly [Tag in Event["_tag"]]: (event: Extract<Event, { readonly _tag: Tag }>) => string } = {
  Configured: () => "The settings were set.",
  Adjusted: ({ units, reason }) =>
    units < 0 ? `${count(-units)} were taken away: ${reason}.` : `${count(units)} were added: ${reason}.`,
  UnitsLeft: ({ units, distributionId, transfer }) =>
    `${count(units)} left for ${distributionId}, transfer ${transfer}.`,
  UnitsTaken: ({ distributionId, transfer }) => `${distributionId} has taken transfer ${transfer}.`,
  UnitsRecalled: ({ distributionId, transfer }) =>
    `Transfer ${transfer} to ${distributionId} was taken back, because it takes no more units.`,
  UnitsCame: ({ units, distributionId, transfer }) =>
    `${count(units)} came back from ${distributionId}, its transfer ${transfer}.`,
  SalesNoted: ({ distributionId, sold }) => `${distributionId} has sold ${count(sold)} so far.`,
  OrderCounted: ({ orderId, units }) => `Order ${orderOf(orderId)} took ${count(units)}.`,
  OrderCancelled: ({ orderId, units }) => `${count(units)} of order ${orderOf(orderId)} are free again.`,
  LevelChanged: ({ level }) => `The level is ${level}.`,
  Ended: () => "The stock was ended.",
  Archived: () => "The stock was archived.",
  Closed: () => "The stock was closed.",
  TornDown: () => "All units are back."
}

/** Returns the event with these stored fields in words. */
export const sentenceOf = (type: string, data: Fields): string =>
  Object.hasOwn(sentences, type) ? (sentences[type as Event["_tag"]] as (event: Fields) => string)(data) : type
