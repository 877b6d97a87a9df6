/** An auction in the tabs of its drop. */
import { count, type Figure } from "../../Parts.ts"
import {
  allPlaces,
  type FactsOf,
  type KindView,
  money,
  placesOf,
  type Shown,
  span,
  stockBar,
  unitsOf
} from "../KindView.ts"

const figures = (auction: Shown<"auction">, facts: FactsOf<"auction">, now: number): ReadonlyArray<Figure> => {
  const places = placesOf(auction)
  const { closeAt, currencyCode } = auction
  const units = unitsOf(auction, auction.quantity) ?? auction.quantity
  const won = places("WON", "COMPLETED")
  const bidders = places("WINNING", "OUTBID", "WON", "LOST", "COMPLETED")
  const leading = facts?.highestBid?.amount ?? facts?.currentPrice
  const reserve = facts?.isReserveMet
  return [
    {
      label: facts?.highestBid === null || facts === undefined ? "Price" : "Leading bid",
      value: typeof leading === "string" ? money(leading, currencyCode) : "–",
      hint: reserve === null || reserve === undefined ? "no reserve" : reserve ? "reserve met" : "reserve not met"
    },
    { label: "Bidders", value: count(bidders), hint: `${count(places("BIDDING"))} without a bid`, series: "waiting" },
    {
      label: "Units",
      value: count(won),
      of: `of ${count(units)} won`,
      bar: stockBar(places("COMPLETED"), places("WON"), units),
      hint: `${count(places("COMPLETED"))} bought`
    },
    { label: "Time left", value: now < closeAt ? span(closeAt - now) : "closed" }
  ]
}

export const view: KindView<"auction"> = {
  figures,
  lines: [{ name: "bidders", one: "bidder", up: ["auction_entered"], down: [] }],
  sample: (auction) => [placesOf(auction)("BIDDING", "WINNING", "OUTBID", "WON", "LOST", "COMPLETED")],
  enters: "entered the auction",
  stock: (auction) => unitsOf(auction, auction.quantity),
  steps: (auction) => [
    { name: "Entered", value: allPlaces(auction) },
    { name: "Won", value: placesOf(auction)("WON", "COMPLETED") },
    { name: "Bought", value: placesOf(auction)("COMPLETED") }
  ]
}
