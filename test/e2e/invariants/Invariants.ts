/**
 * What must hold of any mechanism's recorded events, whatever happened to the process that wrote them. Reads the events as
 * an outsider would: nothing here is shared with the code under test.
 */
import { AppointmentReader } from "./AppointmentReader.ts"
import { AuctionReader } from "./AuctionReader.ts"
import { DrawReader } from "./DrawReader.ts"
import { QueueReader } from "./QueueReader.ts"
import type { Reader, Reading, Recorded, Standing } from "./Reader.ts"
import { TimedReleaseReader } from "./TimedReleaseReader.ts"
import { WaitlistReader } from "./WaitlistReader.ts"

export type Kind = "queue" | "draw" | "auction" | "timed_release" | "appointment" | "waitlist"

const readers: { readonly [K in Kind]: new () => Reader } = {
  queue: QueueReader,
  draw: DrawReader,
  auction: AuctionReader,
  timed_release: TimedReleaseReader,
  appointment: AppointmentReader,
  waitlist: WaitlistReader
}

/** Reads the events of one mechanism in order and notes everything that must not be. */
export function read(history: ReadonlyArray<Recorded>, kind: Kind = "queue"): Reading {
  const reader = new readers[kind]()
  for (const event of history) reader.take(event)
  return reader
}

/**
 * The places that a list shows and the events do not lead to, or the other way round, in words. The list was read after
 * the first `listedAfter` events and before the last; so it may show any state in between.
 */
export function projectionErrors(
  history: ReadonlyArray<Recorded>,
  listedAfter: number,
  places: ReadonlyArray<{ readonly consumerId: string; readonly status: string; readonly enteredAt: string }>,
  kind: Kind = "queue"
): ReadonlyArray<string> {
  const reader = new readers[kind]()
  for (const event of history.slice(0, listedAfter)) reader.take(event)
  const possible = new Map<string, Array<Standing | undefined>>()
  for (const [consumerId, standing] of reader.standings) possible.set(consumerId, [standing])
  for (const event of history.slice(listedAfter)) {
    reader.take(event)
    const { consumerId } = event
    if (consumerId === undefined) continue
    const standings = possible.get(consumerId) ?? [undefined]
    possible.set(consumerId, [...standings, reader.standings.get(consumerId)])
  }

  const errors: Array<string> = []
  const listed = new Set<string>()
  for (const { consumerId, status, enteredAt } of places) {
    if (listed.has(consumerId)) errors.push(`${consumerId} is listed twice`)
    listed.add(consumerId)
    const standings = possible.get(consumerId) ?? []
    const isPossible = standings.some((one) => one?.status === status && one.enteredAt === Date.parse(enteredAt))
    if (!isPossible) errors.push(`${consumerId} is listed as ${status}, its events say ${standings.at(-1)?.status}`)
  }
  for (const [consumerId, standings] of possible) {
    if (!listed.has(consumerId) && standings[0] !== undefined) errors.push(`${consumerId} has events but is not listed`)
  }
  return errors
}
