/** The bookings of an appointment in the tab People: the day that is shown, the check-in, and the way to another slot. */
import { Effect } from "effect"
import type { Operator } from "../../../../auth/operators/OperatorSessions.ts"
import { instantOf, type Millis, toText } from "../../../../domain/values/Time.ts"
import { dayMillis, dayOf, lastDay, readingAt, wallClock } from "../../../../domain/values/WallClock.ts"
import { type Html, html } from "../../../Html.ts"
import { action } from "../../Frame.ts"
import { linkButton } from "../../Parts.ts"
import type { Reply } from "../../Route.ts"
import type { Column } from "../../Table.ts"
import { type Mechanism, pathOf } from "../Drop.ts"
import type { TabNeeds } from "../Tab.ts"
import { mechanismIn } from "./MechanismIn.ts"
import type { Person } from "./Person.ts"

/** The day that the query asks for, as `YYYY-MM-DD`. Without one it is today, where the appointment is; empty: all days. */
export const dayOfQuery = ({ timeZone }: Pick<Mechanism, "timeZone">, query: URLSearchParams, now: Millis): string => {
  const day = query.get("day")
  return day === "" || isDay(day) ? day : dayText(dayOf(readingAt(wallClock(timeZone, now, now), now)))
}

const isDay = (text: string | null): text is string =>
  text !== null && /^\d{4}-\d{2}-\d{2}$/.test(text) && instantOf(`${text}T00:00Z`) !== undefined

const dayText = (day: number): string => toText(day).slice(0, 10)

const dayFormat = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC"
})

/** A day as a caption names it. */
export const dayTitle = (day: string): string => dayFormat.format(Date.parse(day))

/** The filters of bookings. */
export const bookingFilters = (day: string, query: URLSearchParams): Html => html`
  <label>Day <input name="day" type="date" value="${day}" /></label>
  <label
    >Confirmation code
    <input name="confirmationCode" value="${query.get("confirmationCode") ?? ""}" maxlength="100" autocomplete="off"
  /></label>
`

/** The links to the days around the shown one, and to all of them. */
export const dayLinks = ({ id }: Mechanism, path: string, day: string): Html => {
  const to = (other: string) => `${path}?${new URLSearchParams({ mechanism: id, day: other })}`
  if (day === "") return html`<p>${linkButton(`${path}?mechanism=${id}`, "Only today")}</p>`
  const beside = (days: number) => dayText(Math.min(Math.max(0, Date.parse(day) + days * dayMillis), lastDay))
  return html`<nav aria-label="Days" class="pages">
    ${linkButton(to(beside(-1)), dayTitle(beside(-1)))} ${linkButton(to(beside(1)), dayTitle(beside(1)))}
    ${linkButton(to(""), "All days")}
  </nav>`
}

/** The column of what staff can do with a booking. `path` is the address of the tab. */
export const bookingColumn = ({ id }: Mechanism, path: string, day: string): Column<Person> => ({
  title: "Booking",
  cell: ({ status, consumerId }) =>
    status === "BOOKED" &&
    html`${action(
      `${path}/check-in`,
      "Check in",
      html`<input type="hidden" name="mechanism" value="${id}" />
        <input type="hidden" name="consumer" value="${consumerId}" />
        <input type="hidden" name="day" value="${day}" />`,
      "quiet"
    )}
    ${linkButton(`${path}/move?${new URLSearchParams({ mechanism: id, consumer: consumerId })}`, "Move…")}`
})

export interface Sent {
  readonly params: { readonly [name: string]: string }
  readonly fields: URLSearchParams
}

/** Makes the form that checks a booking in. It leads back to the day of the list. */
export const makeCheckIn = (api: TabNeeds["api"]) =>
  Effect.fnUntraced(function* (operator: Operator, { params, fields }: Sent) {
    const experienceId = params["id"]!
    const { id } = yield* mechanismIn(api, operator, experienceId, fields.get("mechanism"))
    const consumerId = fields.get("consumer") ?? ""
    yield* api.run(operator, "appointments", "checkIn", { params: { id }, payload: { consumerId } })
    const reply: Reply = { goTo: backTo(experienceId, id, fields), done: "Checked in." }
    return reply
  })

/** The list of a day from which a form came. */
const backTo = (experienceId: string, mechanism: string, fields: URLSearchParams): string =>
  `${pathOf(experienceId)}/people?${new URLSearchParams({ mechanism, day: fields.get("day") ?? "" })}`
