/**
 * A booking as a calendar file (RFC 5545). A file of a booking that was moved or cancelled since replaces the former
 * one: it has the same `UID`, a higher `SEQUENCE` and a later `DTSTAMP`.
 */
import { type Millis, toText } from "../../../domain/values/Time.ts"

/** An event of a calendar. */
export interface CalendarEvent {
  readonly id: string
  /** The number of changes since it was made. */
  readonly revision: number
  readonly createdAt: Millis
  readonly updatedAt: Millis
  readonly startTime: Millis
  readonly endTime: Millis
  readonly isCancelled: boolean
  readonly summary: string
}

/** The most octets of a line. Longer ones are folded. */
const lineOctetsMax = 75

/** Returns the file as the address of a link. */
export const calendarAddress = (event: CalendarEvent): string =>
  `data:text/calendar;charset=utf-8,${encodeURIComponent(calendarFile(event))}`

/** Returns the file. */
export const calendarFile = (event: CalendarEvent): string =>
  [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Usher//Room//EN",
    "BEGIN:VEVENT",
    `UID:${event.id}`,
    `SEQUENCE:${event.revision}`,
    `CREATED:${instant(event.createdAt)}`,
    `DTSTAMP:${instant(event.updatedAt)}`,
    `LAST-MODIFIED:${instant(event.updatedAt)}`,
    `DTSTART:${instant(event.startTime)}`,
    `DTEND:${instant(event.endTime)}`,
    `STATUS:${event.isCancelled ? "CANCELLED" : "CONFIRMED"}`,
    `SUMMARY:${escaped(event.summary)}`,
    "END:VEVENT",
    "END:VCALENDAR"
  ]
    .map((line) => `${folded(line)}\r\n`)
    .join("")

const instant = (at: Millis): string => toText(at).replaceAll(/[-:]|\.\d{3}/g, "")

/** A line break in a text is a blank here, since a summary has one line. Other control characters are not allowed. */
const escaped = (text: string): string =>
  text.replaceAll(/\p{Cc}+/gu, " ").replaceAll(/[\\;,]/g, (character) => `\\${character}`)

/** Breaks a long line between characters. A line that goes on begins with a blank, which is not part of the text. */
const folded = (line: string): string => {
  let text = ""
  let octets = 0
  for (const character of line) {
    const size = Buffer.byteLength(character)
    if (octets + size > lineOctetsMax) {
      text += "\r\n "
      octets = 1
    }
    text += character
    octets += size
  }
  return text
}
