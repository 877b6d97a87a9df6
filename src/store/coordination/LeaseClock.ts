/**
 * Measures elapsed time for leases. Administrators can set the wall clock, and the monotonic clock may stop while the
 * machine sleeps. So there are two results, and each use takes the safe one.
 */
import type { Clock } from "effect"
import { machineOf } from "./DatabaseClock.ts"

export interface ClockReading {
  readonly wallMillis: number
  readonly monotonicMillis: number
}

export const readClocks = (clock: Clock.Clock): ClockReading => ({
  wallMillis: machineOf(clock).currentTimeMillisUnsafe(),
  monotonicMillis: monotonicMillisOf(clock)
})

/** Returns whole milliseconds of the clock that nobody can set. */
export const monotonicMillisOf = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)

/** Returns the later of two readings of this process. */
export const laterOf = (one: ClockReading | undefined, other: ClockReading): ClockReading =>
  one !== undefined && one.monotonicMillis > other.monotonicMillis ? one : other

/** Returns the longest time that may have passed. Use it to decide whether something is still valid. */
export const millisAtMost = (clock: Clock.Clock, since: ClockReading): number =>
  Math.max(...elapsedMillis(clock, since))

/** Returns the shortest time that has certainly passed. Use it to decide whether to give up waiting. */
export const millisAtLeast = (clock: Clock.Clock, since: ClockReading): number =>
  Math.min(...elapsedMillis(clock, since))

const elapsedMillis = (
  clock: Clock.Clock,
  { wallMillis, monotonicMillis }: ClockReading
): readonly [number, number] => [
  machineOf(clock).currentTimeMillisUnsafe() - wallMillis,
  monotonicMillisOf(clock) - monotonicMillis
]
