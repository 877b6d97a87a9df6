/** How fast a process delivers webhooks: at `WEBHOOKS_PER_SECOND` for all of them, and as each webhook asks. */
import { Clock, Effect } from "effect"
import { Settings } from "../../settings/Settings.ts"
import type { Endpoint } from "../../store/webhook/OutboxRows.ts"
import { Throttle } from "./Throttle.ts"

/** Webhooks whose pace a process remembers. */
const pacesMax = 10_000

/** Creates the effect that waits until the process may send the next notification. */
export const ofProcess = Effect.gen(function* () {
  const { webhooksPerSecond } = yield* Settings
  const { share } = yield* Throttle
  const pace = makePace()
  return Effect.flatMap(share, (present) => pace(webhooksPerSecond * present))
})

/** Creates the paces of the webhooks that ask for one. */
export const ofWebhooks = () => {
  const paces = new Map<string, ReturnType<typeof makePace>>()
  return ({ id, requestsPerSecond }: Endpoint): Effect.Effect<void> => {
    if (requestsPerSecond === undefined) return Effect.void
    let pace = paces.get(id)
    if (pace === undefined) {
      if (paces.size >= pacesMax) paces.clear()
      paces.set(id, (pace = makePace()))
    }
    return pace(requestsPerSecond)
  }
}

/** Returns a function that waits for the caller's turn, of which there are so many in a second. */
const makePace = () => {
  let nextAt = 0
  return (perSecond: number): Effect.Effect<void> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const at = Math.max(now, nextAt)
      nextAt = at + 1_000 / perSecond
      return at > now ? Effect.sleep(at - now) : Effect.void
    })
}
