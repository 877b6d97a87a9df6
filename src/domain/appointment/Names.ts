/**
 * The ids of slots and bookings. Both are UUIDs whose first 48 bits are an instant in milliseconds, as in a UUIDv7, so
 * they sort by it.
 */
import type { Millis } from "../values/Time.ts"

/**
 * Returns the id of the slot that begins at an instant: a UUIDv8 of that instant and of the random part of the
 * appointment's id. A slot keeps its id while its beginning stays the same, and the id alone identifies it.
 */
export const slotId = (appointmentId: string, startTime: Millis): string =>
  `${timestamp(startTime)}-8${appointmentId.slice(15)}`

/** Returns when the slot with this id begins; undefined if the id is not one of this appointment's slots. */
export const slotStart = (appointmentId: string, id: string): Millis | undefined => {
  const startTime = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  return slotId(appointmentId, startTime) === id ? startTime : undefined
}

/** The parts of a booking's id. */
export interface BookingName {
  /** A UUIDv7. */
  readonly bookingId: string
  /**
   * 8 characters to read aloud, by which staff find a booking. In 10¹² pairs of bookings, one shares its code by
   * chance.
   */
  readonly confirmationCode: string
}

/**
 * Returns the names of a booking made at `at`. Of 16 random bytes in hex, the id uses 74 bits and the code 40 others.
 */
export const bookingName = (at: Millis, entropy: string): BookingName => {
  const variant = "89ab"[Number.parseInt(entropy[3]!, 16) % 4]
  const bookingId = `${timestamp(at)}-7${entropy.slice(0, 3)}-${variant}${entropy.slice(4, 7)}-${entropy.slice(7, 19)}`
  return { bookingId, confirmationCode: readable(Number.parseInt(entropy.slice(19, 29), 16)) }
}

/** Returns random bytes in hex that lead to these names. */
export const entropyOfBooking = (bookingId: string, confirmationCode: string): string => {
  const [, , random = "", variant = "", rest = ""] = bookingId.split("-")
  const bits = [...confirmationCode].reduceRight((sum, letter) => sum * 32 + alphabet.indexOf(letter), 0)
  const digit = "89ab".indexOf(variant.slice(0, 1))
  return `${random.slice(1)}${digit}${variant.slice(1)}${rest}${bits.toString(16).padStart(10, "0")}000`
}

/** Digits and letters, without those that look alike: no 0 and O, no 1 and I. */
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
