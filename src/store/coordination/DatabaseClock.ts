/**
 * The clock of a serving process: the time of the database. Openings, drawings and the lifetimes of tokens follow it, so
 * all nodes agree, and a machine with a wrong clock opens nothing early or late.
 *
 * Each heartbeat reads the database's clock. Between two heartbeats the time passes by the monotonic clock, which nobody
 * can set. A heartbeat corrects the time only as far as it proves it wrong: the database read its clock between the
 * sending of the question and the arrival of the answer. Before the first heartbeat it is the machine's time.
 *
 * After a correction the time may be earlier than before. An actor's time never goes back (`Actor.ts`).
 */
import { Clock, Effect, Layer } from "effect"

/** One reading of the database's clock. */
export interface DatabaseTime {
  /** The database's clock, in whole milliseconds. */
  readonly databaseMillis: number
  /** When the question was sent and the answer arrived, by the monotonic clock. */
  readonly sentNanos: bigint
  readonly receivedNanos: bigint
}

export class DatabaseClock implements Clock.Clock {
  readonly machine: Clock.Clock
  readonly monotonicTimeNanos: Effect.Effect<bigint>
  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  /** A time of the database, and the reading of the monotonic clock at that instant. */
  private known: { readonly millis: number; readonly atNanos: bigint } | undefined

  constructor(machine: Clock.Clock) {
    this.machine = machine
    this.monotonicTimeNanos = machine.monotonicTimeNanos
  }

  /** Provides the clock to all layers above. */
  static readonly layer = Layer.effect(
    Clock.Clock,
    Effect.map(Clock.Clock, (machine) => new DatabaseClock(machine))
  )

  /** Corrects the time by a reading. */
  observe({ databaseMillis, sentNanos, receivedNanos }: DatabaseTime): void {
    // The database's reading lacks up to a millisecond.
    const latest = databaseMillis + 1 + Number(receivedNanos - sentNanos) / 1e6
    // At first the earliest time that is possible: nothing may open early.
    const believed = this.known === undefined ? databaseMillis : this.millisAt(this.known, receivedNanos)
    this.known = { millis: Math.min(Math.max(believed, databaseMillis), latest), atNanos: receivedNanos }
  }

  currentTimeMillisUnsafe(): number {
    if (this.known === undefined) return this.machine.currentTimeMillisUnsafe()
    return Math.floor(this.millisAt(this.known, this.machine.monotonicTimeNanosUnsafe()))
  }

  currentTimeNanosUnsafe(): bigint {
    return this.known === undefined
      ? this.machine.currentTimeNanosUnsafe()
      : BigInt(Math.floor(this.millisAt(this.known, this.machine.monotonicTimeNanosUnsafe()) * 1_000)) * 1_000n
  }

  monotonicTimeNanosUnsafe(): bigint {
    return this.machine.monotonicTimeNanosUnsafe()
  }

  sleep(duration: Parameters<Clock.Clock["sleep"]>[0]): Effect.Effect<void> {
    return this.machine.sleep(duration)
  }

  private millisAt(known: { readonly millis: number; readonly atNanos: bigint }, nanos: bigint): number {
    return known.millis + Number(nanos - known.atNanos) / 1e6
  }
}

export const machineOf = (clock: Clock.Clock): Clock.Clock => (clock instanceof DatabaseClock ? clock.machine : clock)
