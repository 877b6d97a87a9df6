/**
 * How fast a process delivers webhooks: at `WEBHOOKS_PER_SECOND` for all of them, at a share of it while consumers need
 * its one thread, and as each webhook asks.
 */
import { Context, Effect, Layer } from "effect"
import { performance } from "node:perf_hooks"
import { Measures } from "../../measures/Measures.ts"
import { Settings } from "../../settings/Settings.ts"
import type { Endpoint } from "../../store/webhook/WebhookOutbox.ts"
import { makePace } from "../Outbox.ts"
import * as Time from "../../store/coordination/Time.ts"

/** The share of its pace at which a busy process delivers, and of the events that it reads in a round. */
const busyShare = 0.1

/** A process is busy if its event loop works this share of the time, and consumers send it this many requests a second. */
const busyUtilization = 0.5
const busyRequestsPerSecond = 500

/** How long a process counts as busy, or not, before it looks again. */
const lookMillis = 500

/** Webhooks whose pace a process remembers. */
const pacesMax = 10_000

export class Throttle extends Context.Service<
  Throttle,
  {
    /** The share of its pace at which this process delivers at present: 1, or less while it is busy. */
    readonly share: Effect.Effect<number>
  }
>()("usher/workers/webhook/Throttle") {
  /** For a process without consumers. */
  static readonly none = Throttle.of({ share: Effect.succeed(1) })

  static readonly layer = Layer.effect(Throttle)(
    Effect.gen(function* () {
      const { consumer } = (yield* Measures).http
      const look = (at: number) => ({ at, requests: consumer.answered, loop: performance.eventLoopUtilization() })
      let last = look(yield* Time.serverNow)
      let share = 1
      return {
        share: Effect.map(Time.serverNow, (now) => {
          const seconds = (now - last.at) / 1_000
          if (seconds * 1_000 < lookMillis) return share
          const { requests, loop } = last
          last = look(now)
          const { utilization } = performance.eventLoopUtilization(last.loop, loop)
          const requestsPerSecond = (last.requests - requests) / seconds
          const isBusy = utilization > busyUtilization && requestsPerSecond > busyRequestsPerSecond
          share = isBusy ? busyShare : 1
          return share
        })
      }
    })
  )
}

/** Creates the function that waits until the process may send the webhook its next request. */
export const make = Effect.gen(function* () {
  const { webhooksPerSecond } = yield* Settings
  const { share } = yield* Throttle
  const paceOfProcess = makePace()
  const paces = new Map<string, ReturnType<typeof makePace>>()

  const paceOf = (id: string) => {
    const known = paces.get(id)
    if (known !== undefined) return known
    if (paces.size >= pacesMax) paces.clear()
    const pace = makePace()
    paces.set(id, pace)
    return pace
  }

  return Effect.fnUntraced(function* ({ id, requestsPerSecond }: Endpoint) {
    if (requestsPerSecond !== undefined) yield* paceOf(id)(requestsPerSecond)
    yield* paceOfProcess(webhooksPerSecond * (yield* share))
  })
})
