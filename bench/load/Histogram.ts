/** Histograms of latencies with three significant digits, from a microsecond to ten minutes. */
import { build, type Histogram } from "hdr-histogram-js"
import type { Latency } from "./Job.ts"

const highestMicroseconds = 600_000_000

export function makeHistogram(): Histogram {
  return build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: highestMicroseconds,
    numberOfSignificantValueDigits: 3,
    autoResize: false,
    useWebAssembly: false
  })
}

/** Records a span given in milliseconds. */
export function record(histogram: Histogram, milliseconds: number): void {
  const microseconds = Math.round(milliseconds * 1000)
  histogram.recordValue(microseconds < 1 ? 1 : microseconds > highestMicroseconds ? highestMicroseconds : microseconds)
}

/** Returns the percentiles in microseconds, or zeros for an empty histogram. */
export function summarize(histogram: Histogram): Latency {
  if (histogram.totalCount === 0) return { mean: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0 }
  return {
    mean: Math.round(histogram.mean),
    p50: histogram.getValueAtPercentile(50),
    p90: histogram.getValueAtPercentile(90),
    p99: histogram.getValueAtPercentile(99),
    p999: histogram.getValueAtPercentile(99.9),
    max: histogram.maxValue
  }
}
