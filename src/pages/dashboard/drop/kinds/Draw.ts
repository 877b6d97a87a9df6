/** A draw in the tabs of its drop. */
import { count, type Figure } from "../../Parts.ts"
import {
  allPlaces,
  type Contacts,
  type FactsOf,
  type KindView,
  ofStock,
  percent,
  placesOf,
  type Shown,
  span,
  stockBar,
  unitsOf
} from "../KindView.ts"

const figures = (
  draw: Shown<"draw">,
  _: FactsOf<"draw">,
  now: number,
  contacts: Contacts | undefined
): ReadonlyArray<Figure> => {
  const places = placesOf(draw)
  const { capacity, drawAt, drawnAt, live } = draw
  const units = unitsOf(draw, draw.winnerCount) ?? draw.winnerCount
  const winners = places("WON", "COMPLETED")
  const entries = places("ENTERED") + winners
  return [
    {
      label: "Winners",
      value: count(winners),
      of: `of ${count(units)}`,
      bar: stockBar(places("COMPLETED"), places("WON"), units),
      hint: `${count(places("COMPLETED"))} bought`
    },
    {
      label: "Entries",
      value: count(entries),
      of: ofStock(capacity),
      hint:
        entries > 0
          ? `${percent(Math.min(1, units / entries))} chance each · entering ${count(live?.entriesPerMinute ?? 0)}/min`
          : `entering ${count(live?.entriesPerMinute ?? 0)}/min`,
      series: "waiting"
    },
    {
      label: "Unverified",
      value: contacts === undefined ? "–" : count(contacts.consumers - contacts.proved),
      of: contacts === undefined ? undefined : `of ${count(contacts.consumers)}`,
      hint: "have proved no mail or phone"
    },
    drawnAt === null
      ? { label: "Drawing", value: now < drawAt ? span(drawAt - now) : "due", hint: "until the winners are drawn" }
      : { label: "Drawing", value: "done" }
  ]
}

export const view: KindView<"draw"> = {
  figures,
  countsContacts: true,
  lines: [{ name: "entries", one: "entry", up: ["draw_entered"], down: ["draw_left", "draw_denied"] }],
  sample: (draw) => [placesOf(draw)("ENTERED", "WON", "COMPLETED")],
  enters: "entered the draw",
  stock: (draw) => unitsOf(draw, draw.winnerCount),
  steps: (draw) => [
    { name: "Entered", value: allPlaces(draw) },
    { name: "Won", value: placesOf(draw)("WON", "COMPLETED") },
    { name: "Bought", value: placesOf(draw)("COMPLETED") }
  ]
}
