/**
 * How long ago something was. A machine has two clocks: people put the one on the wall forward and back, and the other may
 * stand still while the machine sleeps. So there are two answers, and every use has its safe side.
 */
import type { Clock } from "effect"

/** A moment by both clocks. */
export interface ClockReading {
  readonly wallMillis: number
  readonly monotonicMillis: number
}

export const readClocks = (clock: Clock.Clock): ClockReading => ({
  wallMillis: clock.currentTimeMillisUnsafe(),
  monotonicMillis: monotonicMillisOf(clock)
})

/** Whole milliseconds of the clock that nobody puts forward or back. */
export const monotonicMillisOf = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)

/** Whichever of two moments of this process came later. */
export const laterOf = (one: ClockReading | undefined, other: ClockReading): ClockReading =>
  one !== undefined && one.monotonicMillis > other.monotonicMillis ? one : other

/** No more than so many milliseconds ago: for what must not be believed for longer. */
export const millisAtMost = (clock: Clock.Clock, since: ClockReading): number => Math.max(...bothSince(clock, since))

/** No less than so many milliseconds ago: for whom nobody may give up sooner. */
export const millisAtLeast = (clock: Clock.Clock, since: ClockReading): number => Math.min(...bothSince(clock, since))

const bothSince = (clock: Clock.Clock, { wallMillis, monotonicMillis }: ClockReading): readonly [number, number] => [
  clock.currentTimeMillisUnsafe() - wallMillis,
  monotonicMillisOf(clock) - monotonicMillis
]
