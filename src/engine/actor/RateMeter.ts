/** Counts the events of the last minute in sixty one-second buckets. Memory is constant. */
import type { Millis } from "../../domain/values/Time.ts"

const bucketCount = 60

export class RateMeter {
  private readonly counts = new Uint32Array(bucketCount)
  /** The second that each bucket counts. A bucket of another second is stale. */
  private readonly seconds = new Float64Array(bucketCount)

  add(at: Millis): void {
    const second = Math.floor(at / 1000)
    const bucket = second % bucketCount
    if (this.seconds[bucket] !== second) {
      this.seconds[bucket] = second
      this.counts[bucket] = 0
    }
    this.counts[bucket]! += 1
  }

  /** Returns how many were added in the 60 seconds that end at `now`. */
  perMinute(now: Millis): number {
    const newest = Math.floor(now / 1000)
    let total = 0
    for (let bucket = 0; bucket < bucketCount; bucket++) {
      const age = newest - this.seconds[bucket]!
      if (age >= 0 && age < bucketCount) total += this.counts[bucket]!
    }
    return total
  }
}
