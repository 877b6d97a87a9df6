/**
 * Tells the workers of this process that its journal has written. A worker that follows the journal need not wait for
 * its next poll then. It still polls, because other processes write too.
 */
import { Context, Effect, Latch } from "effect"

class Signal {
  private readonly written = Latch.makeUnsafe()

  /** Reports a written statement. */
  report(): void {
    this.written.openUnsafe()
  }

  /** Forgets earlier reports. A worker calls it before it reads. */
  forget(): void {
    this.written.closeUnsafe()
  }

  /** Waits for a report since the last `forget`: at least `leastMillis`, at most `mostMillis`. */
  wait(leastMillis: number, mostMillis: number): Effect.Effect<void> {
    return Effect.andThen(
      Effect.sleep(leastMillis),
      Effect.raceFirst(this.written.await, Effect.sleep(mostMillis - leastMillis))
    )
  }
}

export const OwnCommits = Context.Reference<Signal>("usher/store/journal/OwnCommits", {
  defaultValue: () => new Signal()
})
