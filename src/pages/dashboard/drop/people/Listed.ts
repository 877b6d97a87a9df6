/**
 * The list that the tab People shows of a mechanism: an auction's bids as they would win, an appointment's bookings of a
 * day, and otherwise its places, the last one first. A search looks through all places.
 */
import { Effect } from "effect"
import type { Operator } from "../../../../auth/operators/OperatorSessions.ts"
import { statusesOf } from "../../../../domain/mechanism/PlaceFields.ts"
import { html, type Inserted } from "../../../Html.ts"
import { listQueryOf } from "../../Table.ts"
import type { Mechanism } from "../Drop.ts"
import type { TabNeeds } from "../Tab.ts"
import { dayOfQuery, dayTitle } from "./Bookings.ts"
import type { PeoplePage } from "./Person.ts"

/** A page of people, with its caption, and what an empty one says. */
interface Listed {
  readonly page: PeoplePage
  readonly caption: string
  readonly empty: Inserted
}

/** The parameters that look through the places of every kind alike. */
export const searches = ["search", "confirmationCode", "contact"]

/** Makes the function that reads the list. `path` is the address of the tab. */
export const makeListed = (api: TabNeeds["api"]) =>
  Effect.fnUntraced(function* (
    operator: Operator,
    mechanism: Mechanism,
    path: string,
    query: URLSearchParams,
    now: number
  ) {
    const { id, type } = mechanism
    const params = { id }
    const status = statusIn(mechanism, query)
    const asked = { ...listQueryOf(query), ...(status !== "" && { status }) }
    const everybody = html`<a href="${path}?mechanism=${id}${type === "appointment" && "&day="}">Show everybody</a>`
    const isSearch = searches.some((name) => query.get(name))
    if (type === "auction" && !isSearch && (status === "" || !withoutBid.has(status))) {
      const page = yield* api.run(operator, "auctions", "listAuctionBids", { params, query: asked })
      return {
        page,
        caption: mechanism.lifecycle === "closed" ? "Bids, as they won" : "Bids, as they would win",
        empty: status === "" ? "Nobody has bid yet. Share the room." : html`Nobody fits. ${everybody}`
      } satisfies Listed
    }
    if (type === "appointment" && !isSearch) {
      const day = dayOfQuery(mechanism, query, now)
      const onDay = day === "" ? undefined : dayTitle(day)
      const all = html`<a href="${path}?mechanism=${id}&day=">Show the bookings of all days</a>`
      const nobody =
        onDay === undefined ? "Nobody has booked yet. Share the room." : html`Nobody is booked on ${onDay}. ${all}`
      const page = yield* api.run(operator, "appointments", "listAppointmentBookings", {
        params,
        query: { ...asked, ...(day !== "" && { day }) }
      })
      return {
        page,
        caption: onDay === undefined ? "Bookings of all days" : `Bookings on ${onDay}`,
        empty: status === "" ? nobody : html`Nobody fits. ${everybody}`
      } satisfies Listed
    }
    const page = yield* api.run(operator, "distributions", "listDistributionConsumers", {
      params,
      query: { sortDir: "desc", ...asked, ...listQueryOf(query, searches) }
    })
    return {
      page,
      caption: "People",
      empty: status !== "" || isSearch ? html`Nobody fits. ${everybody}` : "Nobody has entered yet. Share the room."
    } satisfies Listed
  })

/** The statuses of bidders that no bid counts of. */
const withoutBid: ReadonlySet<string> = new Set(["BIDDING", "DENIED"])

/** The status that the filter names, empty without one. Another mechanism's status is none. */
export const statusIn = ({ type }: Mechanism, query: URLSearchParams): string =>
  statusesOf[type].find((one) => one === query.get("status")) ?? ""
