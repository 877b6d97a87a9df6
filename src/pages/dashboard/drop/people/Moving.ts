/** Moves a booking to another slot: the free slots of a day, chosen by forms that work without a script. */
import { Effect } from "effect"
import type { Operator } from "../../../../auth/operators/OperatorSessions.ts"
import { isolated } from "../../../../domain/values/Direction.ts"
import { isUuid } from "../../../../domain/values/Ids.ts"
import { html } from "../../../Html.ts"
import { notFound } from "../../../Refusal.ts"
import { action } from "../../Frame.ts"
import { nameOf } from "../../Names.ts"
import { linkButton } from "../../Parts.ts"
import type { Reply } from "../../Route.ts"
import { filters, table, zonedInstant } from "../../Table.ts"
import { type Mechanism, pathOf } from "../Drop.ts"
import type { TabNeeds } from "../Tab.ts"
import { dayOfQuery, dayTitle, type Sent } from "./Bookings.ts"
import { mechanismIn } from "./MechanismIn.ts"
import * as Time from "../../../../store/coordination/Time.ts"

/** Makes the screen of the free slots of a day, at first that of the booking. */
export const makeMoveScreen = (api: TabNeeds["api"]) => {
  const bookingOf = makeBookingOf(api)
  return Effect.fnUntraced(function* (
    operator: Operator,
    { params, query }: { readonly params: Sent["params"]; readonly query: URLSearchParams }
  ) {
    const people = `${pathOf(params["id"]!)}/people`
    const mechanism = yield* mechanismIn(api, operator, params["id"]!, query.get("mechanism"))
    const booking = yield* bookingOf(operator, mechanism, query.get("consumer") ?? "")
    const now = yield* Time.now
    const at = Date.parse(booking.startTime!)
    const day = query.get("day") ? dayOfQuery(mechanism, query, now) : dayOfQuery(mechanism, new URLSearchParams(), at)
    const { data } = yield* api.run(operator, "appointments", "slots", { params: { id: mechanism.id }, query: { day } })
    const free = data.filter(({ available }) => available > 0)
    const hidden = html`<input type="hidden" name="mechanism" value="${mechanism.id}" />
      <input type="hidden" name="consumer" value="${booking.consumerId}" />`
    const reply: Reply = {
      title: `Move the booking of ${isolated(nameOf(booking), "")}`,
      body: html`
        <p class="lead">
          It is booked for ${zonedInstant(at, mechanism.timeZone)}. It keeps that slot unless it gets the other.
        </p>
        ${filters(`${people}/move`, html`${hidden}<label>Day <input name="day" type="date" value="${day}" required /></label>`)}
        ${table(
          `Free slots on ${dayTitle(day)}`,
          free,
          [
            { title: "Slot", cell: ({ startTime }) => zonedInstant(startTime, mechanism.timeZone) },
            { title: "Places left", cell: ({ available }) => available },
            {
              title: "Move",
              cell: ({ id }) =>
                action(`${people}/move`, "Move here", html`${hidden}<input type="hidden" name="slot" value="${id}" />`)
            }
          ],
          "No slot is free on this day. Choose another day."
        )}
        <p>${linkButton(`${people}?mechanism=${mechanism.id}&day=`, "Back to the bookings")}</p>
      `
    }
    return reply
  })
}

/** Makes the function that finds the booking of a consumer that can be moved. */
const makeBookingOf = (api: TabNeeds["api"]) =>
  Effect.fnUntraced(function* (operator: Operator, { id, type }: Mechanism, consumerId: string) {
    if (type !== "appointment" || !isUuid(consumerId)) return yield* notFound
    const { data } = yield* api.run(operator, "distributions", "listDistributionConsumers", {
      params: { id },
      query: { search: consumerId, status: "BOOKED", first: "1" }
    })
    const [found] = data
    return found?.startTime === undefined ? yield* notFound : found
  })

/** Makes the form that moves a booking. It leads to the new day. */
export const makeMove = (api: TabNeeds["api"]) =>
  Effect.fnUntraced(function* (operator: Operator, { params, fields }: Sent) {
    const experienceId = params["id"]!
    const { id, timeZone } = yield* mechanismIn(api, operator, experienceId, fields.get("mechanism"))
    const moved = yield* api.run(operator, "appointments", "reschedule", {
      params: { id },
      payload: { consumerId: fields.get("consumer") ?? "", newSlotId: fields.get("slot") ?? "" }
    })
    if (moved.status === "NOT_BOOKED") return yield* notFound
    const day = dayOfQuery({ timeZone }, new URLSearchParams(), moved.startTime)
    const to = new URLSearchParams({ mechanism: id, day })
    const reply: Reply = { goTo: `${pathOf(experienceId)}/people?${to}`, done: "The booking was moved." }
    return reply
  })
