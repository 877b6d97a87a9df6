/** An appointment in the tabs of its drop. */
import { count, type Figure } from "../../Parts.ts"
import { allPlaces, type FactsOf, type KindView, placesOf, type Shown } from "../KindView.ts"

const figures = (appointment: Shown<"appointment">, facts: FactsOf<"appointment">): ReadonlyArray<Figure> => {
  const places = placesOf(appointment)
  return [
    {
      label: "Booked today",
      value: facts === undefined ? "–" : count(facts.today.booked),
      hint: `${count(places("BOOKED"))} to come in all`
    },
    { label: "Checked in", value: count(places("CHECKED_IN")), hint: `${count(places("COMPLETED"))} over` },
    { label: "Free today", value: facts === undefined ? "–" : count(facts.today.free), hint: "in slots still to come" },
    { label: "Did not come", value: count(places("NO_SHOW")), hint: `${count(places("CANCELLED"))} cancelled` }
  ]
}

export const view: KindView<"appointment"> = {
  figures,
  lines: [{ name: "booked", up: ["appointment_booked"], down: ["appointment_cancelled"] }],
  sample: (appointment) => [placesOf(appointment)("BOOKED", "CHECKED_IN", "COMPLETED", "NO_SHOW")],
  enters: "booked",
  statuses: { COMPLETED: "came" },
  steps: (appointment) => [
    { name: "Booked", value: allPlaces(appointment) },
    { name: "Came", value: placesOf(appointment)("CHECKED_IN", "COMPLETED") }
  ]
}
