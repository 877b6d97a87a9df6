import { Clock, Effect } from "effect"

/** Waits for the next minute, unless the current one has more than this many seconds left. */
export const withinMinute = (seconds: number) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const left = 60_000 - (now % 60_000)
    return left > seconds * 1_000 ? Effect.void : Effect.sleep(left + 20)
  })
