import { Effect } from "effect"
import type { Guest } from "../../support/usherFixture.ts"
import { Usher } from "../../support/usherFixture.ts"
import { aMechanism, inMechanism } from "../mechanism/mechanismFixture.ts"

const minuteMillis = 60_000
const dayMillis = 86_400_000

const roundTheClock = [{ from: "00:00", to: "24:00" }]

/** Open at every hour of every day. */
export const always = {
  monday: roundTheClock,
  tuesday: roundTheClock,
  wednesday: roundTheClock,
  thursday: roundTheClock,
  friday: roundTheClock,
  saturday: roundTheClock,
  sunday: roundTheClock
}

/** A slot as the Consumer API shows it. */
export interface Slot {
  readonly id: string
  readonly startTime: string
  readonly endTime: string
  readonly capacity: number
  readonly available: number
  readonly locationId: string | null
}

/** Creates an appointment of the brand, day and night for a week from `now` on, and returns its operations. */
export const anAppointment = Effect.fnUntraced(function* (settings: object = {}, now: number = Date.now()) {
  const { admin, brand, consumer } = yield* Usher
  const slotsFrom = new Date(now - (now % minuteMillis)).toISOString()
  const slotsUntil = new Date(now + 7 * dayMillis).toISOString()
  const id = yield* aMechanism("appointments", {
    slotDurationMinutes: 30,
    timeZone: "UTC",
    hours: always,
    slotsFrom,
    slotsUntil,
    ...settings
  })
  const { byConsumer, byAdmin, get } = yield* inMechanism("appointments", id)
  const slots = (query = "") =>
    consumer({
      path: `/api/appointments/${id}/slots${query}`,
      headers: { "x-publishable-key": brand.publishableKey }
    })
  return {
    id,
    get,
    slots,
    /** The slots of the next days. */
    offered: Effect.map(slots(), ({ body }) => body.data as ReadonlyArray<Slot>),
    book: (guest: Guest, slotId: string, more: object = {}) => byConsumer("POST", "/book")(guest, { slotId, ...more }),
    reschedule: (guest: Guest, newSlotId: string) => byConsumer("POST", "/reschedule")(guest, { newSlotId }),
    cancel: byConsumer("POST", "/cancel"),
    me: byConsumer("GET", "/me"),
    byConsumer,
    checkIn: ({ consumerId }: Guest) => byAdmin("POST", "/check-in", { consumerId }),
    complete: ({ consumerId }: Guest) => byAdmin("POST", "/complete", { consumerId }),
    noShow: ({ consumerId }: Guest) => byAdmin("POST", "/no-show", { consumerId }),
    record: byAdmin("GET"),
    change: (body: object) => byAdmin("PUT", "", body),
    end: byAdmin("POST", "/end"),
    distribution: (suffix = "") =>
      admin({ path: `/api/distributions/${id}${suffix}`, headers: { authorization: `Bearer ${brand.secretKey}` } })
  }
})
