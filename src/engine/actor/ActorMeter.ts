/** Counts what one actor does: the rates of its live view, and its part of the process's measures. */
import type { Event, Refusal } from "../../domain/mechanism/Decider.ts"
import type { ActorKind, MechanismIdentity } from "../../domain/mechanism/Mechanism.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { KindMeasures, Sample } from "../../measures/MechanismMeasures.ts"
import type { AnyDecider, Batch } from "./Batch.ts"

export class ActorMeter {
  private readonly decider: AnyDecider
  private readonly measures: KindMeasures
  private readonly entries = new RateMeter()
  private readonly grants = new RateMeter()
  /** The instant of the timed transition that was last noticed. A long computation makes it due several times. */
  private noticed: Millis | undefined

  constructor(decider: AnyDecider, measures: KindMeasures) {
    this.decider = decider
    this.measures = measures
  }

  /** Notes that the actor takes a batch. `dueAt` is when its next timed transition was or is due. */
  took(commands: number, dueAt: Millis | undefined, now: Millis): void {
    if (commands > 0) this.measures.batchCommands.add(commands)
    if (dueAt === undefined || dueAt > now || dueAt === this.noticed) return
    this.noticed = dueAt
    this.measures.latenessSeconds.add((now - dueAt) / 1_000)
  }

  /** Counts the refusals of a batch when its callers get them. */
  answered({ outcomes }: Batch): void {
    for (const outcome of outcomes) if ("refusal" in outcome) this.refused(outcome.refusal)
  }

  /** Counts events that are on disk. */
  committed(events: ReadonlyArray<Event>): void {
    const { rated } = this.decider
    for (const event of events) {
      const { _tag, at } = event
      if (rated.entries.includes(_tag)) {
        this.entries.add(at)
        this.measures.entries++
      }
      if (rated.grants.includes(_tag)) {
        this.grants.add(at)
        this.measures.grants++
      }
      if (_tag === "Denied") this.measures.denials.add("reason" in event ? String(event.reason) : "none")
    }
  }

  /** Entries and grants of the 60 seconds before `now`. */
  rates(now: Millis): { readonly entriesPerMinute: number; readonly grantsPerMinute: number } {
    return { entriesPerMinute: this.entries.perMinute(now), grantsPerMinute: this.grants.perMinute(now) }
  }

  /** Returns the mechanism's figures for the measures. */
  sample(identity: MechanismIdentity<ActorKind>, state: unknown, waiting: number, now: Millis): Sample {
    return { identity, waiting, counts: this.decider.counts(state), ...this.rates(now) }
  }

  private refused({ _tag }: Refusal): void {
    this.measures.refusals.add(_tag)
  }
}

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
