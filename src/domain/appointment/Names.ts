/**
 * How slots and bookings are named. Both names are UUIDs whose first 48 bits are an instant in milliseconds, as in a
 * UUIDv7, so they sort by it.
 */
import type { Millis } from "../values/Time.ts"

/**
 * The slot of an appointment that begins at an instant: a UUIDv8 of that instant and of what is random in the appointment's
 * id. A slot keeps its name as long as its beginning stays, and the name alone says which one is meant.
 */
export const slotId = (appointmentId: string, startTime: Millis): string =>
  `${timestamp(startTime)}-8${appointmentId.slice(15)}`

/** When the slot of that name begins; undefined if the name is no slot's of this appointment. */
export const slotStart = (appointmentId: string, id: string): Millis | undefined => {
  const startTime = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  return slotId(appointmentId, startTime) === id ? startTime : undefined
}

/** What identifies a booking. */
export interface BookingName {
  /** A UUIDv7. */
  readonly bookingId: string
  /** 8 characters to be read aloud, by which staff find a booking. Of 10¹² pairs of bookings one has the same by chance. */
  readonly confirmationCode: string
}

/** The name of a booking made at an instant, from 16 random bytes in hex: 74 bits for the id, 40 others for the code. */
export const bookingName = (at: Millis, entropy: string): BookingName => {
  const variant = "89ab"[Number.parseInt(entropy[3]!, 16) % 4]
  const bookingId = `${timestamp(at)}-7${entropy.slice(0, 3)}-${variant}${entropy.slice(4, 7)}-${entropy.slice(7, 19)}`
  return { bookingId, confirmationCode: readable(Number.parseInt(entropy.slice(19, 29), 16)) }
}

/** Digits and letters without those that look like another: no 0 and O, no 1 and I. */
const alphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"

const readable = (bits: number): string => {
  let text = ""
  for (let rest = bits; text.length < 8; rest = Math.floor(rest / 32)) text += alphabet[rest % 32]
  return text
}

const timestamp = (at: Millis): string => {
  const hex = at.toString(16).padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}
