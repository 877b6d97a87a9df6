/** A waitlist in the tabs of its drop. */
import { count, type Figure } from "../../Parts.ts"
import {
  allPlaces,
  type Contacts,
  type FactsOf,
  type KindView,
  ofStock,
  placesOf,
  type Shown,
  stockBar,
  unitsOf
} from "../KindView.ts"

const figures = (
  waitlist: Shown<"waitlist">,
  _: FactsOf<"waitlist">,
  _now: number,
  contacts: Contacts | undefined
): ReadonlyArray<Figure> => {
  const places = placesOf(waitlist)
  const members = places("ENTERED", "NOTIFIED", "OFFERED")
  const units = unitsOf(waitlist, null)
  return [
    {
      label: "Members",
      value: count(members),
      of: ofStock(waitlist.capacity),
      hint: `${count(places("LEFT", "DENIED"))} left`,
      series: "waiting"
    },
    {
      label: "Reachable",
      value: contacts === undefined ? "–" : count(contacts.reachable),
      of: contacts === undefined ? undefined : `of ${count(contacts.consumers)}`,
      hint: "have a mail or a phone"
    },
    waitlist.offers
      ? {
          label: "Offered",
          value: count(places("OFFERED")),
          of: units === null ? undefined : `of ${count(units)} units`,
          bar: stockBar(places("COMPLETED"), places("OFFERED"), units),
          hint: `${count(places("COMPLETED"))} bought, ${count(places("EXPIRED"))} not used`
        }
      : { label: "Told", value: count(places("NOTIFIED")), of: `of ${count(members)}` },
    { label: "Joining", value: count(waitlist.live?.entriesPerMinute ?? 0), of: "/min" }
  ]
}

export const view: KindView<"waitlist"> = {
  figures,
  countsContacts: true,
  lines: [{ name: "members", one: "member", up: ["waitlist_entered"], down: ["waitlist_left"] }],
  sample: (waitlist) => [placesOf(waitlist)("ENTERED", "NOTIFIED", "OFFERED")],
  enters: "joined the waitlist",
  statuses: { OFFERED: "has an offer", COMPLETED: "bought", EXPIRED: "did not use the offer" },
  stock: (waitlist) => (waitlist.offers ? unitsOf(waitlist, null) : undefined),
  steps: (waitlist) => [
    { name: "Joined", value: allPlaces(waitlist) },
    ...(waitlist.offers
      ? [
          { name: "Offered a unit", value: placesOf(waitlist)("OFFERED", "COMPLETED", "EXPIRED") },
          { name: "Bought", value: placesOf(waitlist)("COMPLETED") }
        ]
      : [{ name: "Told of the opening", value: placesOf(waitlist)("NOTIFIED") }])
  ]
}
