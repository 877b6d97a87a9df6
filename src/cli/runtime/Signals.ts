/**
 * How the process is asked to end. SIGTERM or SIGINT (Ctrl-C) asks for an orderly end, a second one for an end at once.
 */
import { Console, Effect } from "effect"

/** Returns when the process is asked to end. */
export const stopRequested: Effect.Effect<void> = Effect.callback((resume) => {
  const listener = () => resume(Effect.void)
  process.on("SIGTERM", listener)
  process.on("SIGINT", listener)
  return Effect.sync(() => {
    process.off("SIGTERM", listener)
    process.off("SIGINT", listener)
  })
})

/** An effect that is interrupted, with all its finalizers, when the process is asked to end. */
export const interruptible = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.raceFirst(effect, Effect.andThen(stopRequested, Effect.interrupt))

/**
 * Ends the process without further ado when an orderly end takes longer than the time given, or when it is asked for a
 * second time. Within the first second a repetition does not count: after Ctrl-C in a terminal, npm passes the signal
 * on to its child, which has had it from the terminal already.
 */
export const forceExit = (timeoutSeconds: number) =>
  Effect.gen(function* () {
    // Node ends a process on a signal that nobody listens to.
    process.on("SIGTERM", () => {})
    process.on("SIGINT", () => {})
    yield* stopRequested
    yield* Effect.sleep("1 second")
    const askedAgain = stopRequested.pipe(Effect.as("Asked a second time: ending at once."))
    const tookTooLong = Effect.sleep(`${timeoutSeconds - 1} seconds`).pipe(
      Effect.as(`Not ended after ${timeoutSeconds} seconds (SHUTDOWN_TIMEOUT_SECONDS): ending at once.`)
    )
    yield* Console.error(yield* Effect.raceFirst(askedAgain, tookTooLong))
    process.exit(1)
  })
