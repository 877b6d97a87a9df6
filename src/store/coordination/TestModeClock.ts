/**
 * The clock of an organization's test mode. Its time of day is that of the organization's test clock, and the server's
 * while there is none. Its sleeps, and the monotonic clock, are the server's: a pause between two attempts is a pause also
 * where the time of day stands still.
 */
import { type Clock, Effect } from "effect"
import type { Millis } from "../../domain/values/Time.ts"

export class TestModeClock implements Clock.Clock {
  readonly server: Clock.Clock
  readonly monotonicTimeNanos: Effect.Effect<bigint>
  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  private readonly frozenAt: () => Millis | undefined

  /** `frozenAt` returns the time of the test clock, if there is one. */
  constructor(server: Clock.Clock, frozenAt: () => Millis | undefined) {
    this.server = server
    this.monotonicTimeNanos = server.monotonicTimeNanos
    this.frozenAt = frozenAt
  }

  /** True if there is a test clock. */
  get standsStill(): boolean {
    return this.frozenAt() !== undefined
  }

  currentTimeMillisUnsafe(): number {
    return this.frozenAt() ?? this.server.currentTimeMillisUnsafe()
  }

  currentTimeNanosUnsafe(): bigint {
    const at = this.frozenAt()
    return at === undefined ? this.server.currentTimeNanosUnsafe() : BigInt(at) * 1_000_000n
  }

  monotonicTimeNanosUnsafe(): bigint {
    return this.server.monotonicTimeNanosUnsafe()
  }

  sleep(duration: Parameters<Clock.Clock["sleep"]>[0]): Effect.Effect<void> {
    return this.server.sleep(duration)
  }
}

/** Returns the server's clock behind a clock. */
export const serverClockOf = (clock: Clock.Clock): Clock.Clock =>
  clock instanceof TestModeClock ? clock.server : clock
