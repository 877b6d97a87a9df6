/**
 * Checks that must hold for the recorded events of any mechanism, after any failure of the process that wrote them. The
 * checks share no code with the code under test.
 */
import { AppointmentReader } from "./AppointmentReader.ts"
import { AuctionReader } from "./AuctionReader.ts"
import { DrawReader } from "./DrawReader.ts"
import { QueueReader } from "./QueueReader.ts"
import type { Reader, Reading, Recorded, ConsumerState } from "./Reader.ts"
import { TimedReleaseReader } from "./TimedReleaseReader.ts"
import { WaitlistReader } from "./WaitlistReader.ts"

const readers = {
  queue: QueueReader,
  draw: DrawReader,
  auction: AuctionReader,
  timed_release: TimedReleaseReader,
  appointment: AppointmentReader,
  waitlist: WaitlistReader
} as const satisfies { readonly [kind: string]: new () => Reader }

export type Kind = keyof typeof readers

/** Reads the events of one mechanism in sequence and collects all violations. */
export function read(history: ReadonlyArray<Recorded>, kind: Kind = "queue"): Reading {
  const reader = new readers[kind]()
  for (const event of history) reader.take(event)
  return reader
}

/**
 * Returns the differences between a list of places and the events, in words. The list was read after the first
 * `listedAfter` events and before the last, so it may show any state in between.
 */
export function projectionErrors(
  history: ReadonlyArray<Recorded>,
  listedAfter: number,
  places: ReadonlyArray<{ readonly consumerId: string; readonly status: string; readonly enteredAt: string }>,
  kind: Kind = "queue"
): ReadonlyArray<string> {
  const reader = new readers[kind]()
  for (const event of history.slice(0, listedAfter)) reader.take(event)
  const possible = new Map<string, Array<ConsumerState | undefined>>()
  for (const [consumerId, state] of reader.states) possible.set(consumerId, [state])
  for (const event of history.slice(listedAfter)) {
    reader.take(event)
    const { consumerId } = event
    if (consumerId === undefined) continue
    const states = possible.get(consumerId) ?? [undefined]
    possible.set(consumerId, [...states, reader.states.get(consumerId)])
  }

  const errors: Array<string> = []
  const listed = new Set<string>()
  for (const { consumerId, status, enteredAt } of places) {
    if (listed.has(consumerId)) errors.push(`${consumerId} is listed twice`)
    listed.add(consumerId)
    const states = possible.get(consumerId) ?? []
    const isPossible = states.some((one) => one?.status === status && one.enteredAt === Date.parse(enteredAt))
    if (!isPossible) errors.push(`${consumerId} is listed as ${status}, its events say ${states.at(-1)?.status}`)
  }
  for (const [consumerId, states] of possible) {
    if (!listed.has(consumerId) && states[0] !== undefined) errors.push(`${consumerId} has events but is not listed`)
  }
  return errors
}
