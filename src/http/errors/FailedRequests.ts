/**
 * Logs answers of 5xx, so that an operator can find the request that a caller reports. In an outage every request fails,
 * so the lines of one second are bounded, and the next line says how many were left out.
 */
import { Effect } from "effect"
import { annotated } from "../../measures/StateChange.ts"
import * as Time from "../../store/coordination/Time.ts"

const linesPerSecondMax = 10

/** Makes the function that logs a failed request. */
export const make = Effect.map(Time.serverClock, (clock) => {
  let second = 0
  let lines = 0
  let leftOut = 0

  return (status: number, request: { readonly [name: string]: unknown }): Effect.Effect<void> =>
    Effect.suspend(() => {
      const now = Math.floor(clock.currentTimeMillisUnsafe() / 1_000)
      if (now !== second) {
        second = now
        lines = 0
      }
      if (lines === linesPerSecondMax) {
        leftOut++
        return Effect.void
      }
      lines++
      const more = leftOut > 0 ? { ...request, leftOut } : request
      leftOut = 0
      return annotated("request.failed", { ...more, status })(
        Effect.logWarning(`A request was answered with ${status}`)
      )
    })
})
