/** Counts values by size. Adding one allocates nothing. */
import type { Metric } from "effect"

/** The bounds of the OpenTelemetry semantic conventions for the duration of requests, in seconds. */
export const requestSeconds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/** For statements and waits, which are shorter, in seconds. */
export const statementSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** For numbers of things that are taken together. */
export const sizes = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000]

export class Histogram {
  private readonly bounds: ReadonlyArray<number>
  /** The number of values up to each bound and above the one before it. The last element counts the rest. */
  private readonly counts: Float64Array
  private sum = 0

  /** Creates a histogram with ascending bounds. */
  constructor(bounds: ReadonlyArray<number>) {
    this.bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  add(value: number): void {
    const { bounds } = this
    let index = 0
    while (index < bounds.length && value > bounds[index]!) index++
    this.counts[index]! += 1
    this.sum += value
  }

  /** The state as a metric has it: the numbers of values up to each bound. Least and greatest value are not known. */
  get state(): Metric.HistogramState {
    let count = 0
    const buckets = this.bounds.map((bound, index): [number, number] => [bound, (count += this.counts[index]!)])
    return { buckets, count: count + this.counts[this.bounds.length]!, min: 0, max: 0, sum: this.sum }
  }
}
