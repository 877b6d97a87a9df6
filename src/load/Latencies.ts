/**
 * Durations by size: powers of two, each in 32 steps, so that a figure is off by 3 % at most. Those of several parts can
 * be added, which percentiles cannot.
 */

const steps = 32

/** Counts by the number of their bucket. */
export type Counts = Readonly<Record<string, number>>

export class Latencies {
  private readonly counts = new Map<number, number>()
  private total = 0

  static of(counts: Counts): Latencies {
    const latencies = new Latencies()
    latencies.merge(counts)
    return latencies
  }

  /** Adds a duration in milliseconds. */
  add(milliseconds: number): void {
    this.put(bucketOf(milliseconds), 1)
  }

  merge(counts: Counts): void {
    for (const [bucket, count] of Object.entries(counts)) this.put(Number(bucket), count)
  }

  get count(): number {
    return this.total
  }

  /** Returns the duration in milliseconds that this share of all does not exceed; null without durations. */
  quantile(share: number): number | null {
    let left = Math.ceil(share * this.total)
    for (const [bucket, count] of [...this.counts].toSorted(([a], [b]) => a - b)) {
      left -= count
      if (left <= 0) return upperBound(bucket)
    }
    return null
  }

  toCounts(): Counts {
    return Object.fromEntries(this.counts)
  }

  private put(bucket: number, count: number): void {
    this.counts.set(bucket, (this.counts.get(bucket) ?? 0) + count)
    this.total += count
  }
}

/** Microseconds below 32 have a bucket each. */
function bucketOf(milliseconds: number): number {
  const micros = Math.max(0, Math.round(milliseconds * 1_000))
  if (micros < steps) return micros
  const power = Math.floor(Math.log2(micros))
  return steps * (power - 4) + Math.floor((micros / 2 ** power - 1) * steps)
}

function upperBound(bucket: number): number {
  if (bucket < steps) return bucket / 1_000
  const power = Math.floor(bucket / steps) + 4
  return (2 ** power * (1 + ((bucket % steps) + 1) / steps)) / 1_000
}
