/** A queue in the tabs of its drop. */
import { count, type Figure } from "../../Parts.ts"
import { isPaused } from "../Drop.ts"
import {
  allPlaces,
  type FactsOf,
  type KindView,
  ofStock,
  percent,
  placesOf,
  type Shown,
  span,
  stockBar
} from "../KindView.ts"

const figures = (queue: Shown<"queue">, facts: FactsOf<"queue">): ReadonlyArray<Figure> => {
  const places = placesOf(queue)
  const [waiting, buying, sold] = [places("QUEUED"), places("GRANTED"), places("COMPLETED")]
  const { admitRate, maxAdmissions, live } = queue
  const left = facts?.unitsLeft
  const over = Math.max(0, (facts?.admitted ?? 0) - buying)
  const isMoving = admitRate > 0 && !isPaused(queue)
  return [
    {
      label: "Sold",
      value: count(sold),
      of: ofStock(maxAdmissions),
      bar: stockBar(sold, buying, maxAdmissions),
      hint: `${count(buying)} buying now${typeof left === "number" ? ` · ${count(left)} left` : ""}`
    },
    {
      label: "Waiting",
      value: count(waiting),
      hint: waiting > 0 && isMoving ? `last one: ≈ ${span((waiting / admitRate) * 60_000)}` : undefined,
      series: "waiting"
    },
    isPaused(queue)
      ? { label: "Rate", value: "Paused", hint: `${count(live?.entriesPerMinute ?? 0)}/min are entering` }
      : {
          label: "Rate",
          value: count(admitRate),
          of: "/min",
          hint: `entering ${count(live?.entriesPerMinute ?? 0)}/min`
        },
    {
      label: "Buy through",
      value: over > 0 ? percent(Math.min(1, sold / over)) : "–",
      hint: over > 0 ? `${count(Math.max(0, over - sold))} of ${count(over)} expired or left` : "nobody had a turn yet"
    }
  ]
}

export const view: KindView<"queue"> = {
  figures,
  // A denial counts as one of somebody who waits.
  lines: [
    { name: "waiting", up: ["queue_entered"], down: ["queue_granted", "queue_left", "queue_denied"] },
    { name: "admitted", up: ["queue_granted"], down: ["queue_expired"] }
  ],
  sample: (queue) => [placesOf(queue)("QUEUED"), placesOf(queue)("GRANTED", "COMPLETED")],
  isQuick: true,
  enters: "joined the line",
  stock: ({ maxAdmissions }) => maxAdmissions ?? null,
  steps: (queue, facts) => [
    { name: "Entered", value: allPlaces(queue) },
    { name: "Admitted", value: Math.max(placesOf(queue)("GRANTED", "COMPLETED"), facts?.admitted ?? 0) },
    { name: "Bought", value: placesOf(queue)("COMPLETED") }
  ]
}
