/** A timed release in the tabs of its drop. */
import { count, type Figure } from "../../Parts.ts"
import {
  allPlaces,
  type FactsOf,
  type KindView,
  ofStock,
  placesOf,
  rising,
  type Shown,
  stockBar,
  unitsOf
} from "../KindView.ts"

const figures = (release: Shown<"timed_release">, facts: FactsOf<"timed_release">): ReadonlyArray<Figure> => {
  const places = placesOf(release)
  const [holding, paid] = [places("ENTERED"), places("COMPLETED")]
  const left = facts?.unitsLeft
  const units = unitsOf(release, release.capacity)
  return [
    {
      label: "Claimed",
      value: count(holding + paid),
      of: ofStock(units),
      bar: stockBar(paid, holding, units),
      hint: typeof left === "number" ? `${count(left)} left` : "no limit"
    },
    { label: "Paid", value: count(paid) },
    { label: "Holding", value: count(holding), hint: "have not paid yet" },
    {
      label: "Claiming",
      value: count(release.live?.entriesPerMinute ?? 0),
      of: "/min",
      hint: `${count(places("EXPIRED", "LEFT"))} expired or left`
    }
  ]
}

export const view: KindView<"timed_release"> = {
  figures,
  lines: [
    { name: "claimed", up: ["timed_release_entered"], down: ["timed_release_expired", "timed_release_left"] },
    rising("paid", "timed_release_completed")
  ],
  sample: (release) => [placesOf(release)("ENTERED", "COMPLETED"), placesOf(release)("COMPLETED")],
  isQuick: true,
  enters: "claimed a unit",
  statuses: { ENTERED: "holds a unit" },
  stock: (release) => unitsOf(release, release.capacity),
  steps: (release) => [
    { name: "Claimed", value: allPlaces(release) },
    { name: "Bought", value: placesOf(release)("COMPLETED") }
  ]
}
