/**
 * Measures the in-memory cost of counting a request, without HTTP: an entry into a queue, which has three limits of its
 * organization, and two more when limits for addresses and consumers are set. Prints JSON.
 */
import { Effect } from "effect"
import { type Caller, make } from "../../src/http/limits/RateLimits.ts"
import { Settings } from "../../src/settings/Settings.ts"
import { median } from "../report/Figures.ts"

const requests = 1_000_000
const repetitions = 5
/** Consumers that take turns; each has its own address. */
const consumers = 10_000
const unlimited = 1_000_000_000

const callers = Array.from({ length: consumers }, (_, index): Caller => ({
  organizationId: "bench",
  rateLimits: { queueEntriesPerMinute: unlimited, queueEntriesPerSecond: unlimited, consumerApiPerMinute: unlimited },
  consumerId: `consumer ${index}`,
  address: () => `address ${index}`
}))

/** Returns microseconds per request, the median of the repetitions. */
const measure = (settings: Parameters<typeof Settings.layerTest>[0]) =>
  Effect.gen(function* () {
    const limit = (yield* make()).ofOperation("consumer", "queueEntry")
    const spans = Array.from({ length: repetitions }, () => {
      const from = performance.now()
      for (let index = 0; index < requests; index++) {
        const status = limit.pass(callers[index % consumers]!)
        if (Effect.isEffect(status) || status.retryAfterSeconds !== undefined) throw new Error("A request was refused")
      }
      return ((performance.now() - from) * 1000) / requests
    })
    return median(spans)
  }).pipe(Effect.scoped, Effect.provide(Settings.layerTest(settings)), Effect.runPromise)

console.log(
  JSON.stringify({
    microsecondsPerCount: await measure({}),
    microsecondsPerCountOfFive: await measure({ limitPerAddress: 0.999, limitPerConsumer: 0.999 })
  })
)
