/** A queue in the tabs of its drop. */
import { bar, count, type Figure } from "../../Parts.ts"
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
  stockBar,
  unitsOf
} from "../KindView.ts"

/** True if its grants are visits to a site behind a gate. */
const isOfSite = ({ standby, admissionRenewal }: Shown<"queue">): boolean =>
  standby === true || admissionRenewal !== null

const insideOf = (queue: Shown<"queue">, facts: FactsOf<"queue">): Figure => {
  const inside = facts?.inside ?? placesOf(queue)("GRANTED")
  const limit = queue.insideLimit
  return {
    label: "Inside",
    value: count(inside),
    of: limit === null ? undefined : `of ${count(limit)}`,
    bar:
      limit === null
        ? undefined
        : bar([{ value: inside, style: "main" }], limit, `${count(inside)} of ${count(limit)} inside`),
    hint: limit === null ? "no limit is set" : `${count(Math.max(0, limit - inside))} more may come in`
  }
}

/** A queue in front of a site: who is inside, who waits, who comes, and whether visitors see the room. */
const figuresOfSite = (queue: Shown<"queue">, facts: FactsOf<"queue">): ReadonlyArray<Figure> => {
  const { admitRate, live } = queue
  const rate = isPaused(queue) ? "paused: nobody is admitted" : `rate ${count(admitRate)}/min`
  return [
    insideOf(queue, facts),
    { label: "Waiting", value: count(placesOf(queue)("QUEUED")), series: "waiting" },
    { label: "Arriving", value: count(live?.entriesPerMinute ?? 0), of: "/min", hint: rate },
    facts === undefined
      ? { label: "Room", value: "–" }
      : facts.engaged
        ? { label: "Room", value: "Engaged", hint: "new visitors are led to the room" }
        : { label: "Room", value: "Not engaged", hint: "new visitors pass unseen" }
  ]
}

const figures = (queue: Shown<"queue">, facts: FactsOf<"queue">): ReadonlyArray<Figure> => {
  if (isOfSite(queue)) return figuresOfSite(queue, facts)
  const sale = figuresOfSale(queue, facts)
  return queue.insideLimit === null ? sale : [...sale, insideOf(queue, facts)]
}

const figuresOfSale = (queue: Shown<"queue">, facts: FactsOf<"queue">): ReadonlyArray<Figure> => {
  const places = placesOf(queue)
  const [waiting, buying, sold] = [places("QUEUED"), places("GRANTED"), places("COMPLETED")]
  const { admitRate, live } = queue
  const units = unitsOf(queue, queue.maxAdmissions)
  const left = facts?.unitsLeft
  const over = Math.max(0, (facts?.admitted ?? 0) - buying)
  const isSoldOut = left === 0
  const isMoving = admitRate > 0 && !isPaused(queue)
  const lastOne = isMoving ? `last one: ≈ ${span((waiting / admitRate) * 60_000)}` : undefined
  return [
    {
      label: "Sold",
      value: count(sold),
      of: ofStock(units),
      bar: stockBar(sold, buying, units),
      hint: `${count(buying)} buying now${typeof left === "number" ? ` · ${count(left)} left` : ""}`
    },
    {
      label: "Waiting",
      value: count(waiting),
      hint:
        waiting === 0
          ? undefined
          : isSoldOut
            ? queue.stockId === null
              ? "no unit is left for them"
              : "no unit is here for them now"
            : lastOne,
      series: "waiting"
    },
    isPaused(queue)
      ? { label: "Rate", value: "Paused", hint: `${count(live?.entriesPerMinute ?? 0)}/min are entering` }
      : {
          label: "Rate",
          value: count(admitRate),
          of: "/min",
          hint: isSoldOut ? "admits nobody while none is left" : `entering ${count(live?.entriesPerMinute ?? 0)}/min`
        },
    {
      label: "Buy through",
      value: over > 0 ? percent(Math.min(1, sold / over)) : "–",
      hint:
        over > 0
          ? `${count(Math.max(0, over - sold))} of ${count(over)} expired or left`
          : buying > 0
            ? "nobody has used the turn yet"
            : "nobody had a turn yet"
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
  stock: (queue) => unitsOf(queue, queue.maxAdmissions),
  steps: (queue, facts) => [
    { name: "Entered", value: allPlaces(queue) },
    { name: "Admitted", value: Math.max(placesOf(queue)("GRANTED", "COMPLETED"), facts?.admitted ?? 0) },
    { name: "Bought", value: placesOf(queue)("COMPLETED") }
  ]
}
