/**
 * The reference of the appointment, as plain as possible: arrays, a list of all slots, and every answer computed by
 * iterating over all of them. Only for appointments in UTC. It shares only the types with the appointment.
 */
import { extension } from "../mechanism/support/extension.ts"
import { isDeepStrictEqual } from "node:util"
import type { Command, Configuration, Event, View } from "../../../src/domain/appointment/Appointment.ts"
import { afterWindow, held, keepingWindow } from "../mechanism/support/window.ts"

type Status = Exclude<View["status"], "NOT_BOOKED">

interface Standing {
  readonly consumerId: string
  readonly booked: Extract<Event, { readonly _tag: "Booked" }>
  startTime: number
  endTime: number
  status: Status
  /** When each of its events happened. */
  readonly changedAt: Array<number>
}

type Draft = { readonly _tag: Event["_tag"]; readonly [name: string]: unknown }

/** A refusal's name with its fields. */
export interface Refused {
  readonly refused: string
  readonly [name: string]: unknown
}

const minute = 60_000
const day = 1_440 * minute
const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const

/** Returns all slots, sorted. */
export const slotsOf = (settings: Configuration): ReadonlyArray<readonly [number, number]> => {
  const { slotsFrom, slotsUntil, hours, slotDurationMinutes, bufferMinutes } = settings
  const slots: Array<readonly [number, number]> = []
  for (let midnight = Math.floor(slotsFrom / day) * day; midnight < slotsUntil; midnight += day) {
    for (const { from, to } of hours[weekdays[new Date(midnight).getUTCDay()]!] ?? []) {
      const closes = midnight + minutesOf(to) * minute
      const step = (slotDurationMinutes + bufferMinutes) * minute
      for (let begins = midnight + minutesOf(from) * minute; ; begins += step) {
        const ends = begins + slotDurationMinutes * minute
        if (ends > closes) break
        if (begins >= slotsFrom && ends <= slotsUntil) slots.push([begins, ends])
      }
    }
  }
  return slots
}

export class Reference {
  configuration!: Configuration
  readonly #name: Pick<Standing["booked"], "bookingId" | "confirmationCode">
  #standings: Array<Standing> = []
  #configured = false
  #closedAt = Infinity
  #tornDown = false
  #archived = false
  #lastAt = 0

  /** `name`: the id and the code of every booking, without the instant. */
  constructor(name: Pick<Standing["booked"], "bookingId" | "confirmationCode">) {
    this.#name = name
  }

  /** Applies the transitions due until `now` and returns their events. */
  notice(now: number): ReadonlyArray<Event> {
    const brought: Array<Event> = []
    for (let next = this.#next(now); next !== undefined; next = this.#next(now)) brought.push(this.#apply(next))
    return brought
  }

  command(command: Command, now: number): ReadonlyArray<Event> | Refused {
    const outcome = this.#decide(command, now)
    return "refused" in outcome ? outcome : outcome.map((draft) => this.#apply({ at: now, ...draft } as Event))
  }

  view(consumerId: string): View {
    const found = this.#of(consumerId)
    if (found === undefined) return { status: "NOT_BOOKED" }
    const { bookingId, confirmationCode, at: createdAt } = found.booked
    const { status, startTime, endTime, changedAt } = found
    const [updatedAt, revision] = [changedAt.at(-1)!, changedAt.length - 1]
    return { status, bookingId, startTime, endTime, confirmationCode, createdAt, updatedAt, revision }
  }

  counts(): { readonly [status: string]: number } {
    const statuses: ReadonlyArray<Status> = ["BOOKED", "CHECKED_IN", "COMPLETED", "CANCELLED", "NO_SHOW"]
    return Object.fromEntries(
      statuses.map((status) => [status, this.#standings.filter((standing) => standing.status === status).length])
    )
  }

  /** Returns the slots that have not begun, with the number of places that are left in each. */
  offered(now: number): ReadonlyArray<{ startTime: number; endTime: number; available: number }> {
    return slotsOf(this.configuration).flatMap(([startTime, endTime]) => {
      const left = this.configuration.maxCapacityPerSlot - this.#takers(startTime).length
      return startTime > now ? [{ startTime, endTime, available: this.#isClosed ? 0 : Math.max(0, left) }] : []
    })
  }

  /** The configuration in force. */
  get #held(): Configuration {
    return { ...this.configuration, ...held(this.configuration) }
  }

  get #isClosed(): boolean {
    return this.#closedAt !== Infinity
  }

  #of(consumerId: string): Standing | undefined {
    return this.#standings.find((standing) => standing.consumerId === consumerId)
  }

  #takers(startTime: number): ReadonlyArray<Standing> {
    return this.#standings.filter((standing) => standing.startTime === startTime && standing.status !== "CANCELLED")
  }

  /** The bookings that the end of their slot will change. */
  #waiting(): ReadonlyArray<Standing> {
    return this.#standings.filter(({ status }) => status === "BOOKED" || status === "CHECKED_IN")
  }

  #next(now: number): Event | undefined {
    const { closeAt = Infinity } = this.#held
    const isOver = this.#isClosed && !this.#tornDown && this.#waiting().length === 0
    const candidates: Array<readonly [number, Draft]> = []
    if (!this.#isClosed) candidates.push([closeAt, { _tag: "Closed" }])
    for (const { endTime, consumerId, status } of this.#waiting()) {
      candidates.push([endTime, { _tag: status === "BOOKED" ? "Missed" : "Completed", consumerId }])
    }
    if (isOver) candidates.push([this.#lastAt, { _tag: "TornDown" }])
    const due = candidates.filter(([at]) => at <= now).toSorted(([a], [b]) => a - b)[0]
    return due === undefined ? undefined : ({ at: Math.max(this.#lastAt, due[0]), ...due[1] } as unknown as Event)
  }

  #decide(command: Command, now: number): ReadonlyArray<Draft> | Refused {
    switch (command._tag) {
      case "Configure":
        return this.#configure(command, now)
      case "SetExperienceWindow": {
        const hasOpened = this.#standings.length > 0 || (this.#held.openAt ?? 0) <= now
        const configuration = this.#isClosed ? undefined : afterWindow(this.configuration, command.window, hasOpened)
        return configuration === undefined ? [] : [{ _tag: "Configured", configuration, by: command.by }]
      }
      case "Extend": {
        const closeAt = this.#isClosed ? undefined : this.#held.closeAt
        const events = extension(command, {
          configuration: this.configuration,
          closeAt,
          holding: []
        })
        return events as ReadonlyArray<Draft>
      }
      case "End":
        return this.#isClosed ? [] : [{ _tag: "Ended", by: command.by }]
      case "Archive":
        if (this.#archived) return []
        return [
          ...(this.#isClosed ? [] : [{ _tag: "Ended", by: command.by } as const]),
          { _tag: "Archived", by: command.by }
        ]
      default:
        return this.#decideOf(command, now)
    }
  }

  #configure({ configuration: wanted, by }: Extract<Command, { readonly _tag: "Configure" }>, now: number) {
    if (!this.#configured) return [{ _tag: "Configured", configuration: wanted, by } as const]
    const was = this.configuration
    const configuration = keepingWindow(wanted, was)
    const configured = [{ _tag: "Configured", configuration, by } as const]
    const fixed = (setting: string) => ({ refused: "ConfigurationFixed", setting })
    if (this.#isClosed) return { refused: "Closed" }
    if (configuration.openAt !== was.openAt && (this.#standings.length > 0 || (this.#held.openAt ?? 0) <= now))
      return fixed("openAt")
    if (configuration.locationId !== was.locationId && this.#waiting().length > 0) return fixed("locationId")
    const held = this.#standings.filter(({ status, endTime }) => status !== "CANCELLED" && endTime > now)
    const slots = slotsOf(configuration)
    for (const name of [
      "timeZone",
      "hours",
      "slotDurationMinutes",
      "bufferMinutes",
      "slotsFrom",
      "slotsUntil"
    ] as const) {
      if (JSON.stringify(configuration[name]) === JSON.stringify(was[name])) continue
      const collides = held.some(({ startTime, endTime }) =>
        slots.some(([from, to]) => from < endTime && startTime < to && !(from === startTime && to === endTime))
      )
      if (collides) return fixed(name)
    }
    return isDeepStrictEqual(configuration, was) ? [] : configured
  }

  #decideOf(command: Extract<Command, { readonly consumerId: string }>, now: number): ReadonlyArray<Draft> | Refused {
    const { consumerId } = command
    const found = this.#of(consumerId)
    const status = found?.status ?? "NOT_BOOKED"
    const wrong = { refused: "WrongStatus", status }
    const author = "by" in command ? { by: command.by } : {}
    switch (command._tag) {
      case "Book":
        if (command.locationId !== undefined && command.locationId !== this.configuration.locationId)
          return { refused: "UnknownLocation" }
        if (found !== undefined && status !== "CANCELLED") {
          return found.startTime === command.startTime ? [] : { refused: "AlreadyBooked" }
        }
        return this.#slot(command.startTime, now, (slot) => ({ _tag: "Booked", consumerId, ...slot, ...this.#name }))
      case "Reschedule":
        if (status !== "BOOKED") return wrong
        if (found!.startTime === command.startTime) return []
        if (found!.startTime <= now) return { refused: "SlotPast" }
        return this.#slot(command.startTime, now, (slot) => ({ _tag: "Rescheduled", consumerId, ...slot, ...author }))
      case "Cancel":
        if (status === "CANCELLED") return []
        if (status !== "BOOKED") return wrong
        return found!.startTime <= now ? { refused: "SlotPast" } : [{ _tag: "Cancelled", consumerId, ...author }]
      case "CheckIn":
        if (status === "CHECKED_IN") return []
        if (status !== "BOOKED" && !(status === "NO_SHOW" && now < found!.endTime)) return wrong
        return [{ _tag: "CheckedIn", consumerId, by: command.by }]
      case "Complete":
        if (status === "COMPLETED") return []
        if (status === "NOT_BOOKED" || status === "CANCELLED") return wrong
        return [{ _tag: "Completed", consumerId, by: command.by }]
      case "Remove":
        return status === "BOOKED" || status === "CHECKED_IN" ? [{ _tag: "Cancelled", consumerId, by: command.by }] : []
      case "Miss":
        if (status === "NO_SHOW") return []
        if (status !== "BOOKED" && status !== "CHECKED_IN") return wrong
        return found!.startTime > now ? { refused: "SlotNotBegun" } : [{ _tag: "Missed", consumerId, by: command.by }]
    }
  }

  #slot(
    startTime: number | undefined,
    now: number,
    event: (slot: { startTime: number; endTime: number }) => Draft
  ): ReadonlyArray<Draft> | Refused {
    const slot = slotsOf(this.configuration).find(([from]) => from === startTime)
    const { openAt, maxCapacityPerSlot } = this.#held
    if (slot === undefined) return { refused: "UnknownSlot" }
    if (this.#isClosed) return { refused: "Closed" }
    if (openAt !== undefined && now < openAt) return { refused: "NotOpen", opensAt: openAt }
    if (slot[0] <= now) return { refused: "SlotPast" }
    if (this.#takers(slot[0]).length >= maxCapacityPerSlot) return { refused: "SlotFull" }
    return [event({ startTime: slot[0], endTime: slot[1] })]
  }

  #apply(event: Event): Event {
    this.#lastAt = event.at
    const found = "consumerId" in event ? this.#of(event.consumerId) : undefined
    found?.changedAt.push(event.at)
    switch (event._tag) {
      case "Configured":
        this.configuration = event.configuration
        this.#configured = true
        break
      case "Booked": {
        const { consumerId, startTime, endTime } = event
        this.#standings = this.#standings.filter((standing) => standing !== found)
        this.#standings.push({ consumerId, booked: event, startTime, endTime, status: "BOOKED", changedAt: [event.at] })
        break
      }
      case "Rescheduled":
        // Moves it behind the other bookings whose slots end with its own.
        this.#standings = [...this.#standings.filter((standing) => standing !== found), found!]
        Object.assign(found!, { startTime: event.startTime, endTime: event.endTime })
        break
      case "CheckedIn":
        this.#standings = [...this.#standings.filter((standing) => standing !== found), found!]
        found!.status = "CHECKED_IN"
        break
      case "Completed":
        found!.status = "COMPLETED"
        break
      case "Cancelled":
        found!.status = "CANCELLED"
        break
      case "Missed":
        found!.status = "NO_SHOW"
        break
      case "Ended":
      case "Closed":
        this.#closedAt = event.at
        break
      case "Archived":
        this.#archived = true
        break
      case "TornDown":
        this.#tornDown = true
    }
    return event
  }
}

const minutesOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3))
