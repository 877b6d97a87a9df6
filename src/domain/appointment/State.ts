/**
 * The state of an appointment, and the questions about it that its rules share.
 */
import { HashMap, Option } from "effect"
import { type MechanismState, newState } from "../mechanism/State.ts"
import { type Chunk, IndexedList, type Member } from "../mechanism/IndexedList.ts"
import type { Millis } from "../values/Time.ts"
import { type Configuration, unconfigured } from "./Configuration.ts"
import type { BookingName } from "./Names.ts"
import type { Status, TakenSlots } from "./Protocol.ts"
import { type Slot, type Timetable, timetableOf } from "./Timetable.ts"

/** Most consumers in one appointment. Further ones are refused as in a full one. */
export const placesMax = 1_000_000

/** A consumer's latest booking. */
export class Booking implements Member<Booking>, Slot, BookingName {
  readonly consumerId: string
  readonly bookingId: string
  readonly confirmationCode: string
  readonly createdAt: Millis
  startTime: Millis
  endTime: Millis
  status: Status = "BOOKED"
  /** When it last changed. */
  since: Millis
  /** The number of its changes. */
  revision = 0
  chunk: Chunk<Booking> | undefined = undefined

  constructor(consumerId: string, createdAt: Millis, slot: Slot, name: BookingName) {
    this.consumerId = consumerId
    this.bookingId = name.bookingId
    this.confirmationCode = name.confirmationCode
    this.createdAt = createdAt
    this.startTime = slot.startTime
    this.endTime = slot.endTime
    this.since = createdAt
  }

  /** The sort key of BOOKED and CHECKED_IN bookings: the end of their slots. */
  get order(): Millis {
    return this.endTime
  }
}

export interface State extends MechanismState<Configuration, Status> {
  /** The slots that the configuration makes. */
  timetable: Timetable
  readonly bookings: Map<string, Booking>
  /** The BOOKED and CHECKED_IN bookings, sorted by the end of their slots, which settles them. */
  readonly active: IndexedList<Booking>
  /** The places of slots that bookings take, CANCELLED ones excepted. */
  taken: TakenSlots
}

export const initial = (): State => ({
  ...newState(unconfigured, { BOOKED: 0, CHECKED_IN: 0, COMPLETED: 0, CANCELLED: 0, NO_SHOW: 0 }),
  timetable: timetableOf(unconfigured),
  bookings: new Map(),
  active: new IndexedList(),
  taken: HashMap.empty()
})

/** Returns how many places of a slot are taken. */
export const placesTaken = (taken: TakenSlots, startTime: Millis): number =>
  Option.match(HashMap.get(taken, startTime), { onNone: () => 0, onSome: ({ places }) => places })

/** Returns the booking's status at `now`; the end of its slot is applied. */
export const statusAsOf = ({ status, endTime }: Booking, now: Millis): Status => {
  if (endTime > now) return status
  return status === "BOOKED" ? "NO_SHOW" : status === "CHECKED_IN" ? "COMPLETED" : status
}
