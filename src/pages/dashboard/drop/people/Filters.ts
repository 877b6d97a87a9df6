/** The filters of the tab People. They are a form that works without a script. */
import { Contact } from "../../../../api/admin/ContactsApi.ts"
import { kindNames } from "../../../../domain/mechanism/Mechanism.ts"
import { statusesOf } from "../../../../domain/mechanism/PlaceFields.ts"
import { type Html, html } from "../../../Html.ts"
import { count, linkButton } from "../../Parts.ts"
import { filters, search } from "../../Table.ts"
import type { Drop, Mechanism } from "../Drop.ts"
import { allPlaces } from "../KindView.ts"
import { bookingFilters, dayLinks } from "./Bookings.ts"
import { statusName } from "./Columns.ts"
import { searches, statusIn } from "./Listed.ts"

/** The filters of a mechanism's people, and the links beside them. `day` is the shown one of an appointment. */
export const filtersOf = (
  drop: Drop,
  mechanism: Mechanism,
  path: string,
  query: URLSearchParams,
  day: string
): Html => {
  const status = statusIn(mechanism, query)
  const contact = query.get("contact") ?? ""
  // A search looks through the bookings of all days.
  const isOfDay = mechanism.type === "appointment" && day !== "" && !searches.some((name) => query.get(name))
  const file = new URLSearchParams({
    mechanism: mechanism.id,
    ...(status !== "" && { status }),
    ...(contact !== "" && { contact }),
    ...(isOfDay && { day })
  })
  return html`
    ${filters(
      path,
      html`
        ${
          drop.mechanisms.length > 1 &&
          html`<label
            >Of
            <select name="mechanism">
              ${drop.mechanisms.map((one) => html`<option value="${one.id}" ${one.id === mechanism.id && html`selected`}>${one.name} (${kindNames[one.type].toLowerCase()}, ${count(allPlaces(one))})</option>`)}
            </select></label
          >`
        }
        <label
          >Who
          <select name="status">
            <option value="">${mechanism.type === "auction" ? "Everybody with a bid" : "Everybody"}</option>
            ${statusesOf[mechanism.type].map((one) => html`<option value="${one}" ${one === status && html`selected`}>${statusName(mechanism, one)} (${mechanism.live?.counts[one] ?? 0})</option>`)}
          </select></label
        >
        ${contactFilter(query)} ${mechanism.type === "appointment" && bookingFilters(day, query)}
        ${search("Search", query)}
      `
    )}
    ${mechanism.type === "appointment" && dayLinks(mechanism, path, day)}
    <p>${linkButton(`${path}.csv?${file}`, "Save as CSV")}</p>
  `
}

const contactNames: { readonly [C in Contact]: string } = {
  reachable: "with a mail or a phone",
  unreachable: "without either",
  proved: "with a verified one",
  unproved: "without a verified one"
}

const contactFilter = (query: URLSearchParams): Html =>
  html`<label
    >Contact
    <select name="contact">
      <option value="">All</option>
      ${Contact.literals.map((one) => html`<option value="${one}" ${one === query.get("contact") && html`selected`}>${contactNames[one]}</option>`)}
    </select></label
  >`
