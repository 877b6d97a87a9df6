/** Series of the process itself. The event loop and the collections are watched only while these series can be read. */
import { Effect } from "effect"
import {
  constants,
  monitorEventLoopDelay,
  performance,
  type PerformanceEntry,
  PerformanceObserver
} from "node:perf_hooks"
import { getHeapStatistics } from "node:v8"
import { counter, type Family, gauge, histogram, only } from "../../measures/Family.ts"
import { Histogram } from "../../measures/Histogram.ts"
import { apiVersion } from "../../api/OpenApi.ts"

/** Milliseconds between two looks at the event loop. */
const resolutionMillis = 10

const pauseSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]

/** A collection, with the part that Node's types do not mention. */
type Collection = PerformanceEntry & { readonly detail?: { readonly kind?: number } }

/** Starts to watch the process. Returns the function that reads the series. Delays are those since the read before. */
export const watch = Effect.gen(function* () {
  const delay = monitorEventLoopDelay({ resolution: resolutionMillis })
  const pauses = { major: new Histogram(pauseSeconds), minor: new Histogram(pauseSeconds) }
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as ReadonlyArray<Collection>) {
      const isMinor = entry.detail?.kind === constants.NODE_PERFORMANCE_GC_MINOR
      pauses[isMinor ? "minor" : "major"].add(entry.duration / 1_000)
    }
  })
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      delay.enable()
      observer.observe({ entryTypes: ["gc"] })
    }),
    () =>
      Effect.sync(() => {
        delay.disable()
        observer.disconnect()
      })
  )
  let before = performance.eventLoopUtilization()

  /** A sample is due `resolutionMillis` after the one before it. Any excess is delay. */
  const delayed = (nanos: number) => Math.max(0, nanos / 1e9 - resolutionMillis / 1_000)

  return (): ReadonlyArray<Family> => {
    const delays = [
      { labels: { statistic: "p50" }, value: delayed(delay.percentile(50)) },
      { labels: { statistic: "p99" }, value: delayed(delay.percentile(99)) },
      { labels: { statistic: "max" }, value: delayed(delay.max) }
    ]
    delay.reset()
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
    return [
      gauge("usher_event_loop_delay_seconds", "Delays of the event loop since the last scrape.", delays),
      gauge("usher_event_loop_utilization_ratio", "Share of time in which the event loop was busy.", only(utilization)),
      gauge("usher_heap_used_bytes", "Used heap memory.", only(used)),
      gauge("usher_heap_limit_bytes", "Maximum heap memory.", only(limit)),
      gauge("usher_resident_memory_bytes", "Resident memory of the process.", only(process.memoryUsage.rss())),
      counter(
        "usher_processor_seconds_total",
        "Processor time.",
        only(process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6)
      ),
      histogram("usher_collection_pause_seconds", "Pauses of the garbage collector.", [
        { labels: { collection: "minor" }, value: pauses.minor },
        { labels: { collection: "major" }, value: pauses.major }
      ]),
      gauge("usher_uptime_seconds", "Time since the start of the process.", only(process.uptime())),
      gauge("usher_build_info", "1; the labels name the running version.", [
        { labels: { version: apiVersion, node: process.version }, value: 1 }
      ])
    ]
  }
})
