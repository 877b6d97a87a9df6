/**
 * Handles signals. The first SIGTERM or SIGINT (Ctrl-C) requests a graceful shutdown, a second one ends the process at
 * once.
 */
import { Console, Effect } from "effect"

/** Returns when the process is asked to stop. */
export const stopRequested: Effect.Effect<void> = Effect.callback((resume) => {
  const listener = () => resume(Effect.void)
  process.on("SIGTERM", listener)
  process.on("SIGINT", listener)
  return Effect.sync(() => {
    process.off("SIGTERM", listener)
    process.off("SIGINT", listener)
  })
})

/** Interrupts the effect, with all its finalizers, when the process is asked to stop. */
export const interruptible = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.raceFirst(effect, Effect.andThen(stopRequested, Effect.interrupt))

/**
 * Ends the process at once when a graceful shutdown exceeds the timeout, or when it is requested again. A repetition
 * within the first second is ignored: after Ctrl-C in a terminal, npm forwards the signal to its child, which has
 * already received it from the terminal.
 */
export const forceExit = (timeoutSeconds: number) =>
  Effect.gen(function* () {
    // Without a listener, Node ends the process on these signals.
    process.on("SIGTERM", () => {})
    process.on("SIGINT", () => {})
    yield* stopRequested
    yield* Effect.sleep("1 second")
    const secondRequest = stopRequested.pipe(Effect.as("Second signal: ending at once."))
    const tookTooLong = Effect.sleep(`${timeoutSeconds - 1} seconds`).pipe(
      Effect.as(`Not ended after ${timeoutSeconds} seconds (SHUTDOWN_TIMEOUT_SECONDS): ending at once.`)
    )
    yield* Console.error(yield* Effect.raceFirst(secondRequest, tookTooLong))
    process.exit(1)
  })
