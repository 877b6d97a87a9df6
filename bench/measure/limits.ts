/**
 * What counting a request costs in memory, without HTTP: an entry into a queue, which is under three limits of its
 * organization, and with limits for addresses and consumers set under two more. Prints JSON.
 */
import { Effect } from "effect"
import { type Caller, make } from "../../src/http/limits/RateLimits.ts"
import { Settings } from "../../src/settings/Settings.ts"
import { median } from "../report/Figures.ts"

const requests = 1_000_000
const repetitions = 5
/** Consumers that take turns; each has an address of its own. */
const consumers = 10_000
const unlimited = 1_000_000_000

const callers = Array.from({ length: consumers }, (_, index): Caller => ({
  organizationId: "bench",
  rateLimits: { queueEntriesPerMinute: unlimited, queueEntriesPerSecond: unlimited, consumerApiPerMinute: unlimited },
  consumerId: `consumer ${index}`,
  address: () => `address ${index}`
}))

/** Microseconds a request, in the median of some repetitions. */
const measure = (settings: Parameters<typeof Settings.layerTest>[0]) =>
  Effect.gen(function* () {
    const gate = (yield* make()).gate("consumer", "queueEntry")
    const spans = Array.from({ length: repetitions }, () => {
      const from = performance.now()
      for (let index = 0; index < requests; index++) {
        const standing = gate.pass(callers[index % consumers]!)
        if (Effect.isEffect(standing) || standing.retryAfterSeconds !== undefined)
          throw new Error("A request was refused")
      }
      return ((performance.now() - from) * 1000) / requests
    })
    return median(spans)
  }).pipe(Effect.scoped, Effect.provide(Settings.layerTest(settings)), Effect.runPromise)

console.log(
  JSON.stringify({
    microsecondsPerCount: await measure({}),
    microsecondsPerCountOfFive: await measure({
      queueEntriesPerAddress: unlimited,
      queueEntriesPerConsumer: unlimited
    })
  })
)
