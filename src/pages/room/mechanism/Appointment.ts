/** An appointment in a room: free slots, and the visitor's booking. */
import { Effect } from "effect"
import { isolated } from "../../../domain/values/Direction.ts"
import type { ConsumerAnswer } from "../../ApiClients.ts"
import { html, type Html } from "../../Html.ts"
import { toText } from "../../../domain/values/Time.ts"
import { calendarAddress } from "./CalendarFile.ts"
import { barred, closed, ended, type LiveFacts, scheduled, wayOut } from "./Parts.ts"
import type { RoomKind } from "./RoomKind.ts"
import { facts, form, heading, hidden, nameHeading, say, type Scene, turning } from "../Scene.ts"

type AppointmentRecord = ConsumerAnswer<"appointments", "get">
type State = ConsumerAnswer<"appointments", "me">
type Slots = ConsumerAnswer<"appointments", "slots">
type Booking = Exclude<State, { readonly status: "NOT_BOOKED" }>

interface AppointmentContext {
  readonly kind: "appointment"
  readonly record: AppointmentRecord
  readonly slots: Slots | undefined
  readonly live?: LiveFacts | undefined
  /** True if the visitor has asked for other slots. */
  readonly isRescheduling?: boolean | undefined
}

/** Slots on a page. Further ones are on later days. */
const slotsMax = 300

export const appointment: RoomKind<AppointmentContext, State> = {
  name: "appointment",
  action: "enterAppointment",
  status: "me",
  rule: () => "",
  piece: (scene, appointment, state = { status: "NOT_BOOKED" }, { isRescheduling }) => ({
    status: state.status,
    html: shown(scene, { ...appointment, isRescheduling }, state),
    isLive: state.status === "BOOKED",
    hasFields: state.status === "NOT_BOOKED" && appointment.record.lifecycle === "open"
  }),
  read: (record, { api, caller, share }) =>
    Effect.map(share(api.run(caller, "appointments", "slots", { params: { appointmentId: record.id } })), (slots) => ({
      kind: "appointment",
      record,
      slots
    })),
  steps: (scene, { record }, { status, ...state } = { status: "NOT_BOOKED" }) => {
    if (status === "BOOKED") {
      const isAhead = "startTime" in state && state.startTime > scene.now
      return isAhead ? [say(scene, "nextVisit"), say(scene, "nextChange")] : []
    }
    const mayBook = record.lifecycle === "open" || record.lifecycle === "scheduled"
    const all = [say(scene, "nextSlot"), say(scene, "nextCode"), say(scene, "nextVisit")]
    return mayBook && status === "NOT_BOOKED" ? all : []
  },
  samples: (now) => {
    const day = 86_400_000
    const id = "00000000-0000-8000-8000-000000000000"
    const slot = { startTime: now + day, endTime: now + day + 1_800_000, slotId: id, confirmationCode: "SAMPLE" }
    const booking = { bookingId: id, appointmentId: id, consumerId: id, createdAt: now, ...slot }
    return [
      ["Booked", { status: "BOOKED", ...booking }],
      ["Visited", { status: "COMPLETED", ...booking }],
      ["Cancelled", { status: "CANCELLED", ...booking }],
      ["Missed", { status: "NO_SHOW", ...booking }]
    ]
  },
  leaving: (state, now) => (state.status === "BOOKED" && state.startTime > now ? cancellation : undefined),
  operations: {
    book: (fields) => ({ name: "book", payload: { slotId: fields.get("slot") } }),
    cancel: () => ({ name: "cancel" }),
    reschedule: (fields) => ({ name: "reschedule", payload: { newSlotId: fields.get("slot") } })
  }
}

const shown = (scene: Scene, appointment: AppointmentContext, state: State): Html => {
  const { record } = appointment
  switch (state.status) {
    case "NOT_BOOKED":
      return outside(scene, appointment)
    case "BOOKED":
      return booked(scene, appointment, state)
    case "CHECKED_IN":
    case "COMPLETED":
      return ended(scene, { title: "visited" })
    case "CANCELLED":
      return ended(scene, {
        title: "cancelled",
        again: html`<p>
            <a href="${calendarOf(scene, record, state)}" download="usher.ics">${say(scene, "calendarCancelled")}</a>
          </p>
          ${record.lifecycle === "open" && free(scene, appointment)}`
      })
    case "NO_SHOW":
      return ended(scene, { title: "missed" })
  }
}

const outside = (scene: Scene, appointment: AppointmentContext): Html => {
  const { record } = appointment
  if (record.lifecycle === "scheduled") return scheduled(scene, record, say(scene, "enterAppointment"))
  if (record.lifecycle !== "open") return closed(scene, record)
  return html`${nameHeading(record.name)}${free(scene, appointment)}`
}

/** The slots to book, or what stands in the way. */
const free = (scene: Scene, appointment: AppointmentContext): Html =>
  barred(scene, appointment) ?? slotList(scene, appointment, "book")

/** The slots by day, each a button. */
const slotList = (scene: Scene, { record, slots }: AppointmentContext, action: "book" | "reschedule"): Html => {
  const { formats, now } = scene
  const { timeZone } = record
  const free = (slots?.data ?? [])
    .filter(({ available, startTime }) => available > 0 && startTime > now)
    .slice(0, slotsMax)
  const days = Map.groupBy(free, ({ startTime }) => formats.day(startTime, timeZone))
  const last = slots === undefined ? undefined : slots.endDate + 86_400_000
  const later = {
    from: last === undefined ? "" : toText(last).slice(0, 10),
    ...(action === "reschedule" && rescheduling)
  }
  return html`<h3 id="${headingIdOf(record)}" tabindex="-1">${say(scene, "slots")}</h3>
    <p class="muted">${say(scene, "zone", { zone: timeZone })}</p>
    ${free.length === 0 && html`<p>${say(scene, "noSlots")}</p>`}
    ${days.size > 1 && strip(scene, record, [...days.values()])}
    ${[...days].map(
      ([day, ofDay]) =>
        html`<div class="day">
          <h4>${day}</h4>
          <ul class="slots">
            ${ofDay.map(
              ({ id, startTime, available }) =>
                html`<li>
                  ${form(scene, action, {
                    at: record.id,
                    label: formats.time(startTime, timeZone),
                    fields: hidden("slot", id),
                    style: "quiet",
                    id: `slot-${id}`
                  })}<small class="muted"
                    >${say(scene, "placesLeft", { count: formats.number(available) })}
                    <time data-zone="${timeZone}" datetime="${toText(startTime)}" ${turning}></time
                  ></small>
                </li>`
            )}
          </ul>
        </div>`
    )}
    ${last !== undefined && last < record.slotsUntil && html`<p><a href="${scene.path("place", later)}#${headingIdOf(record)}">${say(scene, "moreDays")}</a></p>`}`
}

/** Days of which the strip shows one at a time. The style has a rule for each; the slots of later ones are all shown. */
const daysMax = 14

/** The days to choose from. The style shows the slots of the chosen one alone. */
const strip = ({ formats }: Scene, { id, timeZone }: AppointmentRecord, days: ReadonlyArray<Slots["data"]>): Html =>
  html`<fieldset class="choice days" aria-labelledby="${headingIdOf({ id })}">
    ${days.slice(0, daysMax).map(([slot], index) => {
      const { startTime } = slot!
      return html`<label
        ><input type="radio" name="day-${id}" id="day-${id}-${index}" ${index === 0 && html`checked`} /><span
          >${formats.shortDay(startTime, timeZone)}</span
        ></label
      > `
    })}
  </fieldset>`

/** The query of the page with other slots for a booking. */
const rescheduling = { show: "reschedule" }

/** The id of the heading of the slots. A link to it moves the focus there. */
const headingIdOf = ({ id }: Pick<AppointmentRecord, "id">): string => `slots-${id}`

const booked = (scene: Scene, appointment: AppointmentContext, booking: Booking): Html => {
  const { record } = appointment
  const { timeZone } = record
  const { startTime } = booking
  const at = html`<time datetime="${toText(startTime)}" ${startTime > scene.now && turning}
    >${scene.formats.instant(startTime, timeZone)}</time
  >`
  return html`${heading(say(scene, "booked"))}
    <p class="lead">${at}</p>
    <p class="muted">
      ${say(scene, "zone", { zone: timeZone })}
      <time data-zone="${timeZone}" datetime="${toText(startTime)}"></time>
    </p>
    ${facts([[say(scene, "bookingCode"), html`<code>${booking.confirmationCode}</code>`]])}
    <p><a href="${calendarOf(scene, record, booking)}" download="usher.ics">${say(scene, "calendar")}</a></p>
    ${startTime > scene.now && changes(scene, appointment)}`
}

/** The ways to change a booking whose slot has not begun. */
const changes = (scene: Scene, appointment: AppointmentContext): Html => {
  const { record, isRescheduling = false } = appointment
  const other = isRescheduling
    ? slotList(scene, appointment, "reschedule")
    : html`<p>
        <a href="${scene.path("place", rescheduling)}#${headingIdOf(record)}">${say(scene, "reschedule")}</a>
      </p>`
  return html`${record.lifecycle === "open" && other}${wayOut(scene, record.id, cancellation)}`
}

const cancellation = { action: "cancel", label: "cancel", effect: "cancelText" } as const

/** The address of the booking's calendar file. */
const calendarOf = ({ experience }: Scene, { name }: AppointmentRecord, booking: Booking): string => {
  const { bookingId, confirmationCode, createdAt, status, revision = 0, updatedAt = createdAt } = booking
  return calendarAddress({
    ...booking,
    id: bookingId,
    revision,
    updatedAt,
    isCancelled: status === "CANCELLED",
    summary: `${isolated(experience.name, name)}: ${isolated(name, experience.name)} (${confirmationCode})`
  })
}
